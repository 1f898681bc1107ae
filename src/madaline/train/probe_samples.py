"""What a probed step emits, and the statistics of layers and units that are made of it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madaline.nn.context import Context
from madaline.nn.layers.activation import Activation
from madaline.nn.network import Entry, Network

UNITS, GRADIENT, UPDATE = OUTPUTS = ("probes.units", "probes.gradient", "probes.update")
"Outputs of a step with probes: means over rows for each unit, the gradient before clipping, and the change of w."
OF_UNITS = ("mean", "square", "zero")
"Means over rows that every unit has: of the output, of its square, and of whether it is 0."
WINDOW_ROWS, WINDOW_SAMPLES = 1000, 10
"A unit counts as dead if it was 0 for every row of the last samples: of this many rows, or at most this many samples."
FEWEST_ROWS, FEWEST_SAMPLES = 100, 5
"Short training has fewer samples; so many of them with so many rows are enough."
ALWAYS = 0.9
"A unit counts as saturated if it is for more than this fraction of the rows."


@dataclass(frozen=True)
class ProbeLayout:
    """Where the statistics of each layer are in what a probed step emits.

    Attributes
    ----------
    paths : tuple of str
        The probed layers.
    units : mapping of str to slice
        The units of each layer in each part of ``probes.units``; a layer whose output is not a matrix has one.
    saturating : mapping of str to slice
        The same for activations that saturate, in the last part.
    n_units : int
        Number of units of all layers.
    entries : mapping of str to tuple of Entry
        The trained parameters of each layer.
    activations : frozenset of str
        The layers that are activations, of which dead units are counted.
    """

    paths: tuple[str, ...]
    units: Mapping[str, slice] = field(default_factory=dict)
    saturating: Mapping[str, slice] = field(default_factory=dict)
    n_units: int = 0
    entries: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    activations: frozenset[str] = frozenset()


def probe_outputs(
    network: Network, context: Context, paths: Sequence[str], *, w: Any, g: Any, new_w: Any
) -> tuple[ProbeLayout, dict[str, Any]]:
    """The outputs of a step that are probed.

    All units stand side by side in one matrix, so that the graph stays small however many layers there are.
    """
    outputs: dict[str, Any] = {}
    wide, other = _by_shape(context, paths)
    units = _slices({path: context.outputs[path].shape[1] for path in wide} | dict.fromkeys(other, 1))
    n_units = max((part.stop for part in units.values()), default=0)
    found = [_means(context, wide, other, statistic) for statistic in OF_UNITS] if units else []
    saturating = [path for path in wide if _saturation(context, path) is not None]
    parts = _slices({path: context.inputs[path].shape[1] for path in saturating})
    if saturating:
        found.append(_saturated(context, saturating))
    if found:
        outputs[UNITS] = np.concatenate(found)
    entries: dict[str, tuple[Entry, ...]] = {}
    for entry in network.params.values():
        path = entry.path.rpartition(".")[0]
        if path in paths and not entry.frozen:
            entries[path] = (*entries.get(path, ()), entry)
    if entries:
        outputs[GRADIENT], outputs[UPDATE] = g, new_w - w
    activations = frozenset(path for path in wide if isinstance(context.layers[path], Activation))
    return ProbeLayout(tuple(paths), units, parts, n_units, entries, activations), outputs


class ProbeSamples:
    """Makes a row of statistics for each layer of every sample.

    Parameters
    ----------
    layout : ProbeLayout
        Of the program that is sampled.
    n_rows : int or None
        Number of training rows, if known.
    """

    def __init__(self, layout: ProbeLayout, n_rows: int | None) -> None:
        self.layout = layout
        self._place = {path: number for number, path in enumerate(layout.paths)}
        self._rows = min(WINDOW_ROWS, n_rows or WINDOW_ROWS)
        self._recent: deque[tuple[int, np.ndarray, np.ndarray]] = deque()

    def columns(self, sample: Mapping[str, np.ndarray], w: np.ndarray, *, t: int, n_rows: int) -> dict[str, np.ndarray]:
        """The statistics of step ``t``, a mini-batch of ``n_rows``, after which the parameters are ``w``."""
        layout, paths = self.layout, self.layout.paths
        columns = {"step": np.full(len(paths), t), "layer": np.array(paths)}
        if layout.n_units:
            emitted = sample[UNITS].astype(np.float64)
            of_units = emitted[: 3 * layout.n_units].reshape(3, -1)
            saturated = emitted[3 * layout.n_units :]
            mean, square, zero = self._layer_means(layout.units, of_units)
            with np.errstate(all="ignore"):
                std = np.sqrt(np.maximum(square - mean * mean, 0.0))
            columns |= {"mean": mean, "std": std, "zero": zero}
            columns["saturated"] = self._layer_means(layout.saturating, saturated)
            columns |= self._of_window(of_units[2], saturated, n_rows)
        if layout.entries:
            columns |= self._of_parameters(sample[GRADIENT], sample[UPDATE], w)
        return columns

    def _column(self, values: Mapping[str, float]) -> np.ndarray:
        return np.array([values.get(path, math.nan) for path in self.layout.paths])

    def _layer_means(self, parts: Mapping[str, slice], values: np.ndarray) -> np.ndarray:
        """Means over the units of each layer along the last axis; NaN for layers that are not among the parts."""
        found = np.full((*values.shape[:-1], len(self.layout.paths)), math.nan)
        if parts:
            starts = [part.start for part in parts.values()]
            widths = [part.stop - part.start for part in parts.values()]
            places = [self._place[path] for path in parts]
            found[..., places] = np.add.reduceat(values, starts, axis=-1) / widths
        return found

    def _of_window(self, zero: np.ndarray, saturated: np.ndarray, n_rows: int) -> dict[str, np.ndarray]:
        """Fractions of units that are dead or saturated in the last samples; NaN while there are too few."""
        recent, layout = self._recent, self.layout
        recent.append((n_rows, zero == 1.0, saturated))
        rows = sum(count for count, _, _ in recent)
        while len(recent) > 1 and (rows - recent[0][0] >= self._rows or len(recent) > WINDOW_SAMPLES):
            rows -= recent.popleft()[0]
        are_few = len(recent) < FEWEST_SAMPLES or rows < FEWEST_ROWS
        if are_few and rows < self._rows and len(recent) < WINDOW_SAMPLES:
            return {name: np.full(len(layout.paths), math.nan) for name in ("dead", "saturated_units")}
        dead = np.all([off for _, off, _ in recent], axis=0)
        often = sum(count * share for count, _, share in recent) / rows > ALWAYS
        share = self._layer_means(layout.units, dead.astype(np.float64))
        return {
            "dead": np.where([path in layout.activations for path in layout.paths], share, math.nan),
            "saturated_units": self._layer_means(layout.saturating, np.asarray(often, dtype=np.float64)),
        }

    def _of_parameters(self, g: np.ndarray, update: np.ndarray, w: np.ndarray) -> dict[str, np.ndarray]:
        norms = [_norms(self.layout.entries, vector) for vector in (g, w - update, update)]
        ratios = {path: change / (norms[1][path] + 1e-12) for path, change in norms[2].items()}
        names = ("gradient_norm", "weight_norm", "update_ratio")
        return {name: self._column(found) for name, found in zip(names, (norms[0], norms[1], ratios), strict=True)}


def _by_shape(context: Context, paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The layers whose outputs are matrices of one row for each row of the data, and those with other arrays."""
    arrays = [path for path in paths if hasattr(context.outputs[path], "shape")]
    matrices = [path for path in arrays if len(context.outputs[path].shape) == 2]
    first = context.outputs[matrices[0]] if matrices else None
    wide = [
        path
        for path in matrices
        if first is not None
        and context.outputs[path].dtype == first.dtype
        and context.outputs[path].shape[0] == first.shape[0]
    ]
    return wide, [path for path in arrays if path not in wide]


def _means(context: Context, wide: Sequence[str], other: Sequence[str], statistic: str) -> Any:
    """A mean over rows for each unit."""

    def each(y: Any) -> Any:
        return y if statistic == "mean" else y * y if statistic == "square" else (y == 0.0).astype(y.dtype)

    found = []
    if wide:
        y = np.concatenate([context.outputs[path] for path in wide], axis=1)
        found.append(np.sum(each(y), axis=0) / y.shape[0])
    for path in other:
        y = context.outputs[path]
        found.append((np.sum(each(y)) / math.prod(y.shape)).reshape(1))
    return np.concatenate(found)


def _saturation(context: Context, path: str) -> tuple[float, float] | None:
    layer, x = context.layers[path], context.inputs[path]
    is_matrix = len(getattr(x, "shape", ())) == 2
    return layer.function.saturation if isinstance(layer, Activation) and is_matrix else None


def _saturated(context: Context, paths: Sequence[str]) -> Any:
    """The fraction of the rows for which each unit is saturated."""
    x = np.concatenate([context.inputs[path] for path in paths], axis=1)
    limits = [(_saturation(context, path) or (0.0, 0.0), context.inputs[path].shape[1]) for path in paths]
    low, high = (np.concatenate([np.full(width, ends[side], x.dtype) for ends, width in limits]) for side in (0, 1))
    return np.sum(np.logical_or(x < low, x > high).astype(x.dtype), axis=0) / x.shape[0]


def _slices(widths: Mapping[str, int]) -> dict[str, slice]:
    stops = np.cumsum([0, *widths.values()]).tolist()
    return {path: slice(stops[i], stops[i + 1]) for i, path in enumerate(widths)}


def _norms(entries: Mapping[str, Sequence[Entry]], vector: np.ndarray) -> dict[str, float]:
    """The norm of each layer's part of a flat vector."""
    found = {}
    for path, arrays in entries.items():
        parts = [vector[entry.offset : entry.offset + entry.size] for entry in arrays]
        found[path] = math.sqrt(sum(float(np.dot(part, part)) for part in parts))
    return found
