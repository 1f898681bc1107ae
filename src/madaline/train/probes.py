"""Probes: statistics of activations, gradients and updates of each layer during training."""

from __future__ import annotations

import math
from collections.abc import Sequence

from madaline.errors import UnknownNameError
from madaline.graph.listing import node_flops
from madaline.graph.trace import Graph
from madaline.nn.layers.activation import Activation
from madaline.nn.network import Network
from madaline.train.events import Callback

OF_ACTIVATIONS = ("mean", "std", "zero", "saturated", "dead", "saturated_units")
OF_PARAMETERS = ("gradient_norm", "weight_norm", "update_ratio")
AN_EPOCH = 2
"Default number of samples per epoch."
SAMPLE_SECONDS, STEP_SECONDS, FLOPS_PER_SECOND = 2e-3, 5e-6, 6e10
"Approximate cost of a sample and of an empty step, and speed of a core; fixed, so that training can be repeated."
SHARE = 0.008
"Maximum fraction of the training time for probes."
AT_LEAST = 6
"Approximate minimum number of samples, so that short training has some too."


class Probes(Callback):
    """Requests probes through ``callbacks=md.train.Probes()``, for example in estimators; see ``history.probes``.

    Parameters
    ----------
    layers : True or sequence of str
        Paths of the layers; by default all that have parameters or are activations.
    sample_every : int, optional
        Number of steps between samples; by default two samples per epoch, fewer if they would take more than about 2 %
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
    """Number of steps between samples: two samples per epoch, or fewer to limit their share of the time.

    It depends on shapes and not on the clock, so that training can be repeated.
    """
    flops = sum(node_flops(node, batch_size) for node in graph.nodes)
    step = STEP_SECONDS + flops / FLOPS_PER_SECOND
    cheap = math.ceil((SAMPLE_SECONDS + step) / (SHARE * step))
    if total_steps is not None:
        cheap = min(cheap, total_steps // AT_LEAST)
    found = max(steps_an_epoch // AN_EPOCH, cheap, 1)
    # Rarer samples are taken in the first step of an epoch: an epoch is then run in two pieces and not in three.
    return found if found <= steps_an_epoch else math.ceil(found / steps_an_epoch) * steps_an_epoch
