"""Runs a network with given parameters: as a native program on arrays, as part of a graph on traced values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.functional.compile import CompiledFunction
from madaline.graph.node import Node, as_node
from madaline.graph.random import key
from madaline.graph.tree import flatten, tree_map
from madaline.nn.inputs import as_batch
from madaline.nn.network import Entry, Network


class NetworkRuns:
    """The outputs of a network for any parameters, state and inputs.

    Parameters
    ----------
    network : Network
        The net, laid out for its inputs.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._run = CompiledFunction(self._output, [2])
        self._run_inside = CompiledFunction(self._all_outputs, [2])

    def output(self, w: Any, state: Any, X: Any, *, train: bool, seed: int, step: int) -> Any:
        """The output of the whole net; see :meth:`madaline.Model.__call__`."""
        return self._called(self._run, w, state, X, train, key(seed, step))

    def outputs(self, w: Any, state: Any, X: Any, *, train: bool, seed: int, step: int) -> dict[str, Any]:
        """The output of every layer by its path."""
        result: dict[str, Any] = self._called(self._run_inside, w, state, X, train, key(seed, step))
        return result

    def _called(self, function: CompiledFunction, w: Any, state: Any, X: Any, train: bool, key: Any) -> Any:
        batch, is_row = as_batch(X, self.network.inputs)
        if train:
            need_rows(self.network, flatten(batch)[0][0].shape[0])
        if any(isinstance(leaf, Node) for leaf in flatten([w, batch])[0]):
            # Arrays beside traced values are constants of the graph: those of the model one by one, as they are named.
            w, state = _by_path(w, self.network.params), _by_path(state, self.network.state)
            batch, w, state = (tree_map(as_node, each) for each in (batch, w, state))
        result = function(w, state, batch, key, train)
        return tree_map(lambda array: array[0], result) if is_row else result

    def _output(self, w: Any, state: Any, x: Any, key: Any, train: bool) -> Any:
        return self.network.run(w, state, x, key=key, train=train).outputs[""]

    def _all_outputs(self, w: Any, state: Any, x: Any, key: Any, train: bool) -> Any:
        return self.network.run(w, state, x, key=key, train=train).outputs


def _by_path(arrays: Any, entries: Mapping[str, Entry]) -> Any:
    if not isinstance(arrays, np.ndarray):
        return arrays
    return {path: entry.of(arrays) for path, entry in entries.items()}


def need_rows(network: Network, n_rows: Any) -> None:
    """Raise an error if a training batch has too few rows; a batch of any size has enough."""
    if not isinstance(n_rows, (int, np.integer)):
        return
    if not n_rows:
        raise ShapeError("There are no rows to train on.")
    if n_rows < network.min_rows:
        rows = (row for row in network.rows if not row.frozen)
        culprit = next(row for row in rows if row.layer.min_rows(row.in_shape) > n_rows)
        raise ShapeError(
            f"{culprit.title} needs at least {culprit.layer.min_rows(culprit.in_shape)} rows to train on, and the "
            f"batch has {n_rows}: one row has no variance. Use a larger batch_size, or LayerNorm(), which works on "
            "single rows."
        )
