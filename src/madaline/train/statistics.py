"""The running statistics of a net, computed again for its current parameters."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from madaline.graph.node import as_node, constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, open_trace
from madaline.kernels.loop import Loop
from madaline.train.data import TrainingData
from madaline.train.sampling import Batches
from madaline.train.step import StepInputs

if TYPE_CHECKING:
    from madaline.train.session import Session


def recompute_statistics(session: Session, *, max_seconds: float = math.inf) -> None:
    r"""Set the state to the mean over batches of what training mode sees, as averaged parameters need it.

    A step of training gives :math:`s \leftarrow k s + (1-k) b` with the batch's statistics :math:`b`; the derivative by
    :math:`s` is :math:`k`, so :math:`b` is known whatever the layer. PyTorch's ``update_bn``; Izmailov et al. (2018),
    Algorithm 1. State that does not follow the batches (:math:`k = 1`) stays. With a time limit fewer batches may be
    used.
    """
    network = session.model.network
    given = StepInputs()
    mean = given.new("mean", (network.n_state,), network.dtype)
    w = given.new("w", (network.n_params,), network.dtype)
    state = given.new("state", (network.n_state,), network.dtype)
    x = given.tree("x", network.inputs)
    key = given.new("key", (2,), np.int64)
    n = given.new("n", (), network.dtype)
    with open_trace(list(given.nodes.values())):
        context = network.run(w, state, x, key=key, train=True)
        after = network.state_after(context, state)
        (kept,) = cotangents([np.sum(after)], [state], [constant(1.0, network.dtype)])
        kept = state * 0.0 if kept is None else kept
        changes = [np.full(entry.size, path in context.new_state) for path, entry in network.state.items()]
        follows = np.logical_and(np.concatenate(changes), kept < 1.0)
        seen = (after - kept * state) / np.where(follows, 1.0 - kept, 1.0)
        output = np.where(follows, mean + (seen - mean) / n, state).astype(network.dtype)
    at = {name: position for position, name in enumerate(given.nodes)}
    loop = Loop(Graph(tuple(given.nodes.values()), (as_node(output),)), carried={0: at["mean"]})
    found, state_before, done = np.zeros(network.n_state, network.dtype), session.model.state.flat.copy(), 0
    for data, batches in _parts(session, max_seconds):
        counts = done + np.arange(len(batches))
        keys = np.stack([np.full(len(batches), session.seed), counts], axis=1).astype(np.int64)
        loop.run(
            {at["mean"]: found, at["w"]: session.model.params.flat, at["state"]: state_before},
            gathered={at[f"x[{i}]"]: source for i, source in enumerate(data.x)},
            tables={at["key"]: keys, at["n"]: (counts + 1).astype(network.dtype)},
            order=batches.order,
            starts=batches.starts,
            threads=session.threads,
        )
        done += len(batches)
    session.model.state.flat[...] = found


def _parts(session: Session, max_seconds: float) -> Iterator[tuple[TrainingData, Batches]]:
    """The batches of an epoch and their rows; one by one until the time is over, if it is limited."""
    started = time.monotonic()
    for block in session.source.blocks_again(session.progress.epoch):
        batches = block.batches
        size = len(batches) if max_seconds == math.inf else 1
        for first in range(0, len(batches), max(size, 1)):
            yield block.data, batches.part(first, min(first + size, len(batches)))
            if time.monotonic() - started > max_seconds:
                return
