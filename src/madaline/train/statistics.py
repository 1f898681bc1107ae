"""The running statistics of a net, taken anew for the parameters it has now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madaline.graph.node import as_node, constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, open_trace
from madaline.kernels.loop import Loop
from madaline.train.step import _Inputs

if TYPE_CHECKING:
    from madaline.train.run import Run


def retake(run: Run) -> None:
    r"""Set the state to the mean over batches of what training mode sees, as averaged parameters need it.

    A step of training gives :math:`s \leftarrow k s + (1-k) b` with the batch's statistics :math:`b`; the derivative by
    :math:`s` is :math:`k`, so :math:`b` is known whatever the layer. PyTorch's ``update_bn``; Izmailov et al. (2018),
    Algorithm 1. What does not follow the batches (:math:`k = 1`) stays.
    """
    network = run.model.network
    given = _Inputs()
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
    nodes = tuple(given.nodes.values())
    at = {name: position for position, name in enumerate(given.nodes)}
    batches = run.batches(run.progress.epoch)
    found = np.zeros(network.n_state, network.dtype)
    counts = np.arange(len(batches))
    keys = np.stack([np.full(len(batches), run.settings.seed), counts], axis=1).astype(np.int64)
    Loop(Graph(nodes, (as_node(output),)), carried={0: at["mean"]}).run(
        {at["mean"]: found, at["w"]: run.model.params.flat, at["state"]: run.model.state.flat.copy()},
        gathered={at[f"x[{i}]"]: source for i, source in enumerate(run.data.x)},
        tables={at["key"]: keys, at["n"]: (counts + 1).astype(network.dtype)},
        order=batches.order,
        starts=batches.starts,
        threads=run.settings.threads,
    )
    run.model.state.flat[...] = found
