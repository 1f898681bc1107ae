"""Probes: statistics of activations, gradients and updates of each layer during training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from madaline.errors import UnknownNameError
from madaline.graph.listing import node_flops
from madaline.graph.trace import Graph
from madaline.nn.context import Context
from madaline.nn.layers.activation import Activation
from madaline.nn.network import Entry, Network
from madaline.train.events import Callback

Name = tuple[str, str]
"The path of a layer, and a statistic."
OF_ACTIVATIONS = ("mean", "std", "zero", "saturated")
OF_PARAMETERS = ("gradient_norm", "weight_norm", "update_ratio")
AN_EPOCH = 2
"Default number of samples an epoch."
SAMPLE_SECONDS, STEP_SECONDS, FLOPS_PER_SECOND = 6e-4, 5e-6, 6e10
"Approximate cost of a sample and of an empty step, and speed of a core; fixed, so that training can be repeated."
SHARE = 0.015
"Maximum fraction of the training time for probes."
AT_LEAST = 20
"Minimum number of samples, so that short training has some too."


class Probes(Callback):
    """Requests probes through ``callbacks=md.train.Probes()``, for example in estimators; see ``history.probes``.

    Parameters
    ----------
    layers : True or sequence of str
        Paths of the layers; by default all that have parameters or are activations.
    sample_every : int, optional
        Number of steps between samples; by default two samples an epoch, fewer if they would take more than about 2 %
        of the time.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.linspace(-1, 1, 64).reshape(-1, 1)
    >>> reg = md.MLPRegressor("mse", 8, schedule="cosine", max_iter=3, callbacks=md.train.Probes()).fit(X, X[:, 0] ** 2)
    >>> sorted(set(reg.history_.probes["layer"].tolist()))
    ['0', '1', '2']
    """

    watches_epochs = False

    def __init__(self, layers: bool | Sequence[str] = True, *, sample_every: int | None = None) -> None:
        self.layers, self.sample_every = layers, sample_every


def probed_layers(network: Network, probes: bool | Sequence[str]) -> tuple[str, ...]:
    """The paths of the probed layers: those named, or all that have parameters or are activations."""
    owners = {path.rpartition(".")[0] for path in network.params}
    known = {row.path: row for row in network.rows}
    if probes is True:
        return tuple(path for path, row in known.items() if path in owners or isinstance(row.layer, Activation))
    chosen = tuple(probes or ())
    for path in chosen:
        if path not in known:
            raise UnknownNameError(f"probes={path!r} is not the path of a layer. Paths: {', '.join(map(repr, known))}")
    return chosen


def interval(graph: Graph, batch_size: int, steps_an_epoch: int, total_steps: int | None) -> int:
    """Number of steps between samples: two samples an epoch, or fewer to limit their share of the time.

    It depends on shapes and not on the clock, so that training can be repeated.
    """
    flops = sum(node_flops(node, batch_size) for node in graph.nodes)
    step = STEP_SECONDS + flops / FLOPS_PER_SECOND
    cheap = math.ceil((SAMPLE_SECONDS + step) / (SHARE * step))
    if total_steps is not None:
        cheap = min(cheap, total_steps // AT_LEAST)
    return max(steps_an_epoch // AN_EPOCH, cheap, 1)


def probe_values(
    network: Network, context: Context, paths: Sequence[str], *, w: Any, g: Any, new_w: Any
) -> tuple[list[Name], Any]:
    """Names and values of all statistics, as one traced vector; layers are combined to keep the graph small."""
    names: list[Name] = []
    values: list[Any] = []
    of_outputs: dict[Any, list[str]] = {}
    for path in paths:
        y = context.outputs[path]
        if hasattr(y, "shape"):
            of_outputs.setdefault((y.shape, y.dtype), []).append(path)
    entries: dict[str, list[Entry]] = {}
    for entry in network.params.values():
        path = entry.path.rpartition(".")[0]
        if path in paths and not entry.frozen:
            entries.setdefault(path, []).append(entry)
    found = [item for alike in of_outputs.values() for item in _of_outputs(context, alike)]
    if entries:
        found += _of_parameters(entries, w=w, g=g, new_w=new_w)
    for statistic, layers, vector in found:
        names += [(path, statistic) for path in layers]
        values.append(vector)
    return names, np.concatenate(values) if values else None


def probe_columns(paths: Sequence[str], names: Sequence[Name], values: np.ndarray, t: int) -> dict[str, np.ndarray]:
    """The probes of step ``t`` as columns with a row for each layer."""
    row = {path: number for number, path in enumerate(paths)}
    columns = {"step": np.full(len(paths), t), "layer": np.array(paths)}
    for (path, statistic), value in zip(names, values.tolist(), strict=True):
        if statistic not in columns:
            columns[statistic] = np.full(len(paths), np.nan)
        columns[statistic][row[path]] = value
    return columns


_Found = tuple[str, Sequence[str], Any]
"A statistic, its layers, and its traced values."


def _of_outputs(context: Context, paths: Sequence[str]) -> list[_Found]:
    """Statistics of layers whose outputs have the same shape."""
    outputs = [context.outputs[path] for path in paths]
    dtype, count = outputs[0].dtype, math.prod(outputs[0].shape)
    mean = np.stack([np.sum(y) for y in outputs]) / count
    mean_square = np.stack([np.sum(y * y) for y in outputs]) / count
    found: list[_Found] = [
        ("mean", paths, mean),
        ("std", paths, np.sqrt(np.maximum(mean_square - mean * mean, 0.0))),
        ("zero", paths, np.stack([np.sum((y == 0.0).astype(dtype)) for y in outputs]) / count),
    ]
    saturated: dict[str, Any] = {}
    for path in paths:
        layer, x = context.layers[path], context.inputs[path]
        if isinstance(layer, Activation) and layer.function.saturation is not None:
            low, high = layer.function.saturation
            saturated[path] = np.sum(np.logical_or(x < low, x > high).astype(dtype))
    if saturated:
        found.append(("saturated", list(saturated), np.stack(list(saturated.values())) / count))
    return found


def _of_parameters(entries: Mapping[str, Sequence[Entry]], *, w: Any, g: Any, new_w: Any) -> list[_Found]:
    """Statistics of all parameters of each layer."""

    def norms(vector: Any) -> Any:
        squares = vector * vector
        totals = []
        for arrays in entries.values():
            parts = [np.sum(squares[entry.offset : entry.offset + entry.size]) for entry in arrays]
            totals.append(sum(parts[1:], parts[0]))
        return np.sqrt(np.stack(totals))

    paths, weight = list(entries), norms(w)
    return [
        ("gradient_norm", paths, norms(g)),
        ("weight_norm", paths, weight),
        ("update_ratio", paths, norms(new_w - w) / (weight + 1e-12)),
    ]
