"""The values of a graph, node by node by NumPy: what programs are compared with, since nothing is planned here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.graph.node import CONSTANT, ROW_COUNT, Node, topological_order
from madaline.graph.shapes import resolve
from madaline.graph.trace import Graph


def evaluate(node: Node, inputs: Sequence[Any], n_rows: int) -> Any:
    """The value of one node."""
    if node.primitive is CONSTANT:
        return node.params["value"]
    if node.primitive is ROW_COUNT:
        return node.dtype.type(node.params["rows"].at(n_rows))
    params = {key: resolve(value, n_rows) for key, value in node.params.items()}
    return node.primitive.value(*inputs, **params)


def all_values(graph: Graph, arguments: Sequence[np.ndarray], n_rows: int = 0) -> dict[int, Any]:
    """The value of every node, by id."""
    values: dict[int, Any] = dict(zip(map(id, graph.inputs), arguments, strict=True))
    with np.errstate(all="ignore"):
        for node in topological_order(graph.outputs):
            if id(node) not in values:
                values[id(node)] = evaluate(node, [values[id(item)] for item in node.inputs], n_rows)
    return values


def output_values(graph: Graph, arguments: Sequence[np.ndarray], n_rows: int = 0) -> list[np.ndarray]:
    """The outputs."""
    values = all_values(graph, arguments, n_rows)
    return [np.array(values[id(node)], dtype=node.dtype) for node in graph.outputs]


def largest_value(graph: Graph, arguments: Sequence[np.ndarray], n_rows: int = 0) -> float:
    """The largest finite number that occurs anywhere in the graph: the scale of its rounding errors."""
    largest = 1.0
    for value in map(np.asarray, all_values(graph, arguments, n_rows).values()):
        if value.dtype.kind == "f" and value.size:
            finite = np.abs(value[np.isfinite(value)])
            largest = max(largest, float(finite.max()) if finite.size else 1.0)
    return largest
