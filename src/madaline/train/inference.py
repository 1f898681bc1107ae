"""The net's outputs for many rows, in bounded memory: for predictions, evaluation and validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.cached import cached_property
from madaline.functional.forward import Forward
from madaline.graph.node import Node
from madaline.graph.shapes import resolve
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, unflatten
from madaline.kernels.loop import Loop
from madaline.kernels.sources import DenseRows, Source
from madaline.nn.network import Network
from madaline.train.step import StepInputs

BATCH_ROWS = 1024
"Rows that are run at a time."


class BatchedForward:
    """A net's forward pass over chosen rows of its data.

    Parameters
    ----------
    network : Network
        The net.
    train : bool
        Training mode, for predictions with dropout: each row has its own mask.
    """

    def __init__(self, network: Network, *, train: bool = False) -> None:
        self.network, self.train = network, train
        self._forward: Forward | None = None
        self._forward_arrays: tuple[np.ndarray, ...] = ()

    def twin(self, network: Network) -> BatchedForward:
        """The same for an equal net; both can run at the same time."""
        found = BatchedForward(network, train=self.train)
        if "_planned" in self.__dict__:
            loop, *rest = self._planned
            found.__dict__["_planned"] = (loop.twin(), *rest)
        return found

    def prepare(self) -> None:
        """Plan the program for chosen rows now."""
        _ = self._planned

    def __call__(
        self,
        w: np.ndarray,
        state: np.ndarray,
        x: tuple[Source, ...],
        rows: np.ndarray | None = None,
        *,
        threads: int,
        seed: int = 0,
    ) -> Any:
        """The outputs for some rows of the sources, in this order; by default for all rows."""
        if rows is None:
            found = None if self.train else self._in_place(w, state, x, threads)
            if found is not None:
                return found
            rows = np.arange(x[0].n_rows)
        return self._gathered(w, state, x, rows, threads=threads, seed=seed)

    def _in_place(self, w: np.ndarray, state: np.ndarray, x: tuple[Source, ...], threads: int) -> Any:
        """The outputs for all rows of one array that need not be gathered, else None."""
        if len(x) > 1 or not isinstance(x[0], DenseRows) or x[0].file is not None:
            return None
        if self._forward is None or self._forward_arrays[0] is not w or self._forward_arrays[1] is not state:
            self._forward, self._forward_arrays = Forward(self.network, w, state), (w, state)
        return self._forward(x[0].array, threads)

    @cached_property
    def _planned(self) -> tuple[Loop, dict[str, int], list[Node], Any]:
        """The program, the positions of its inputs, its outputs and their nesting."""
        network, given = self.network, StepInputs()
        w = given.new("w", (network.n_params,), network.dtype)
        state = given.new("state", (network.n_state,), network.dtype) if network.n_state else None
        x = given.tree("x", network.inputs)
        key = given.new("key", (2,), np.int64)
        with open_trace(list(given.nodes.values())):
            outputs = network.run(w, state, x, key=key, train=self.train).outputs[""]
        leaves, structure = flatten(outputs)
        places = {name: position for position, name in enumerate(given.nodes)}
        return Loop(Graph(tuple(given.nodes.values()), tuple(leaves)), carried={}), places, leaves, structure

    def _gathered(
        self, w: np.ndarray, state: np.ndarray, x: tuple[Source, ...], rows: np.ndarray, *, threads: int, seed: int
    ) -> Any:
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
