"""The net's outputs for many rows, in bounded memory."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from madaline.graph.node import Node
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
        self.network, self.train = network, train

    @functools.cached_property
    def _planned(self) -> tuple[Loop, dict[str, int], list[Node], Any]:
        """Its program, the places of its inputs, its outputs and their nesting: made by the first who asks."""
        network, given = self.network, _Inputs()
        w = given.new("w", (network.n_params,), network.dtype)
        state = given.new("state", (network.n_state,), network.dtype) if network.n_state else None
        x = given.tree("x", network.inputs)
        key = given.new("key", (2,), np.int64)
        with open_trace(list(given.nodes.values())):
            outputs = network.run(w, state, x, key=key, train=self.train).outputs[""]
        leaves, structure = flatten(outputs)
        places = {name: position for position, name in enumerate(given.nodes)}
        return Loop(Graph(tuple(given.nodes.values()), tuple(leaves)), carried={}), places, leaves, structure

    def __call__(
        self, w: np.ndarray, state: np.ndarray, x: tuple[Source, ...], rows: np.ndarray, *, threads: int, seed: int = 0
    ) -> Any:
        """The outputs for some rows of the sources, in their order."""
        loop, places, leaves, structure = self._planned
        n_rows = len(rows)
        starts = np.append(np.arange(0, n_rows, BATCH_ROWS), n_rows) if n_rows else np.zeros(1, dtype=np.int64)
        found = [np.empty((n_rows, *resolve(leaf.shape[1:], 0)), leaf.dtype) for leaf in leaves]
        keys = np.stack([np.full(len(starts) - 1, seed), np.arange(len(starts) - 1)], axis=1).astype(np.int64)
        inputs = {places["w"]: w}
        if self.network.n_state:
            inputs[places["state"]] = state
        loop.run(
            inputs,
            gathered={places[f"x[{i}]"]: source for i, source in enumerate(x)},
            tables={places["key"]: keys},
            emitted=dict(enumerate(found)),
            order=np.ascontiguousarray(rows, dtype=np.int64),
            starts=starts.astype(np.int64),
            threads=threads,
        )
        return unflatten(structure, found)
