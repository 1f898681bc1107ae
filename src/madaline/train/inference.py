"""The net's outputs for many rows, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.shapes import resolve
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, unflatten
from madaline.kernels.loop import Loop
from madaline.kernels.sources import Source
from madaline.nn.network import Network
from madaline.train.step import _Inputs

BATCH_ROWS = 1024
"Rows that are run at a time."


class Inference:
    """A net's forward pass over chosen rows of its data.

    Parameters
    ----------
    network : Network
        The net.
    train : bool
        The mode; training mode is for predictions with dropout, each row its own mask.
    """

    def __init__(self, network: Network, *, train: bool = False) -> None:
        self.network = network
        given = _Inputs()
        w = given.new("w", (network.n_params,), network.dtype)
        state = given.new("state", (network.n_state,), network.dtype) if network.n_state else None
        x = given.tree("x", network.inputs)
        key = given.new("key", (2,), np.int64)
        with open_trace(list(given.nodes.values())):
            outputs = network.run(w, state, x, key=key, train=train).outputs[""]
        self._leaves, self._structure = flatten(outputs)
        self._inputs = {name: position for position, name in enumerate(given.nodes)}
        self._loop = Loop(Graph(tuple(given.nodes.values()), tuple(self._leaves)), carried={})

    def __call__(
        self, w: np.ndarray, state: np.ndarray, x: tuple[Source, ...], rows: np.ndarray, *, threads: int, seed: int = 0
    ) -> Any:
        """The outputs for some rows of the sources, in their order."""
        n_rows = len(rows)
        starts = np.append(np.arange(0, n_rows, BATCH_ROWS), n_rows) if n_rows else np.zeros(1, dtype=np.int64)
        found = [np.empty((n_rows, *resolve(leaf.shape[1:], 0)), leaf.dtype) for leaf in self._leaves]
        keys = np.stack([np.full(len(starts) - 1, seed), np.arange(len(starts) - 1)], axis=1).astype(np.int64)
        inputs = {self._inputs["w"]: w}
        if self.network.n_state:
            inputs[self._inputs["state"]] = state
        self._loop.run(
            inputs,
            gathered={self._inputs[f"x[{i}]"]: source for i, source in enumerate(x)},
            tables={self._inputs["key"]: keys},
            emitted=dict(enumerate(found)),
            order=np.ascontiguousarray(rows, dtype=np.int64),
            starts=starts.astype(np.int64),
            threads=threads,
        )
        return unflatten(self._structure, found)
