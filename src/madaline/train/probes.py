"""What can be watched while a net trains: statistics of activations, gradients and updates, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from madaline.errors import UnknownNameError
from madaline.graph.listing import node_flops
from madaline.graph.trace import Graph
from madaline.nn.context import Context
from madaline.nn.layers.activation import Activation
from madaline.nn.network import Network
from madaline.train.events import Callback

OF_ACTIVATIONS = ("mean", "std", "zero", "saturated")
OF_PARAMETERS = ("gradient_norm", "weight_norm", "update_ratio")
AN_EPOCH = 2
"How often an epoch is sampled unless told."
SAMPLE_SECONDS, STEP_SECONDS, FLOPS_PER_SECOND = 6e-4, 5e-6, 6e10
"About what a sample and an empty step cost, and how fast a core is. They set how often one looks, so not to measure."
SHARE = 0.015
"Of the time of training, for probes."
AT_LEAST = 20
"Samples of a run: some milliseconds, so that also a short run can be looked at."


class Probes(Callback):
    """Asks for probes where nobody else does, as in estimators: ``callbacks=md.Probes()``; see ``history.probes``.

    Parameters
    ----------
    layers : True or sequence of str
        The paths of the layers to watch; all that have parameters or are activations unless told.
    sample_every : int, optional
        Steps between samples; unless told, twice an epoch, and more rarely where that would take more than some 2 % of
        the time.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.linspace(-1, 1, 64).reshape(-1, 1)
    >>> reg = md.MLPRegressor("mse", 8, schedule="cosine", max_iter=3, callbacks=md.Probes()).fit(X, X[:, 0] ** 2)
    >>> sorted(set(reg.history_.probes["layer"].tolist()))
    ['0', '1', '2']
    """

    watches_epochs = False

    def __init__(self, layers: bool | Sequence[str] = True, *, sample_every: int | None = None) -> None:
        self.layers, self.sample_every = layers, sample_every


def watched(network: Network, probes: bool | Sequence[str]) -> tuple[str, ...]:
    """The paths of the layers to watch: those named, or all that have parameters or are activations."""
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
    """Steps between samples: twice an epoch, but seldom enough to cost a small share of the time.

    It follows from shapes, not from the clock, so that a run can be repeated.
    """
    flops = sum(node_flops(node, batch_size) for node in graph.nodes)
    step = STEP_SECONDS + flops / FLOPS_PER_SECOND
    cheap = math.ceil((SAMPLE_SECONDS + step) / (SHARE * step))
    if total_steps is not None:
        cheap = min(cheap, total_steps // AT_LEAST)
    return max(steps_an_epoch // AN_EPOCH, cheap, 1)


def probe_values(
    network: Network, context: Context, paths: Sequence[str], *, w: Any, g: Any, new_w: Any
) -> dict[str, Any]:
    """The probes as traced numbers by name, ``probe.<path>.<statistic>``."""
    values: dict[str, Any] = {}
    for path in paths:
        name = f"probe.{path}"
        output = context.outputs[path]
        if hasattr(output, "shape"):
            values |= {f"{name}.{key}": value for key, value in _of_output(output, context, path).items()}
        entries = [
            entry for entry in network.params.values() if entry.path.rpartition(".")[0] == path and not entry.frozen
        ]
        if entries:
            norms = [sum_of_squares(entries, vector) for vector in (g, w, new_w - w)]
            gradient, weight, update = (np.sqrt(value) for value in norms)
            values[f"{name}.gradient_norm"] = gradient
            values[f"{name}.weight_norm"] = weight
            values[f"{name}.update_ratio"] = update / (weight + 1e-12)
    return values


def probe_rows(paths: Sequence[str], values: Mapping[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """What the last step put out, as a row for each layer."""
    rows: dict[str, dict[str, Any]] = {path: {"layer": path} for path in paths}
    for name, value in values.items():
        if name.startswith("probe."):
            path, _, statistic = name.removeprefix("probe.").rpartition(".")
            rows[path][statistic] = float(value[-1])
    yield from rows.values()


def sum_of_squares(entries: Sequence[Any], vector: Any) -> Any:
    """Of all arrays of a layer together."""
    parts = [np.sum(entry.of(vector) ** 2) for entry in entries]
    return sum(parts[1:], parts[0])


def _of_output(y: Any, context: Context, path: str) -> dict[str, Any]:
    mean = np.mean(y)
    found = {
        "mean": mean,
        "std": np.sqrt(np.maximum(np.mean(y * y) - mean * mean, 0.0)),
        "zero": np.mean((y == 0.0).astype(y.dtype)),
    }
    layer = context.layers[path]
    if isinstance(layer, Activation) and layer.function.saturation is not None:
        low, high = layer.function.saturation
        x = context.inputs[path]
        outside = np.logical_or(x < low, x > high)
        found["saturated"] = np.mean(outside.astype(y.dtype))
    return found
