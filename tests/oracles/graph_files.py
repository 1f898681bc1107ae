"""Graphs as plain data, so that a recorded expression stays the same when the generator that made it changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.node import CONSTANT, INPUT, Node, new_input, topological_order
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.trace import Graph


def to_data(graph: Graph) -> dict[str, Any]:
    """Nested lists, numbers and strings."""
    nodes = list(graph.inputs) + [n for n in topological_order(graph.outputs) if n.primitive is not INPUT]
    number = {id(node): index for index, node in enumerate(nodes)}
    return {
        "n_inputs": len(graph.inputs),
        "nodes": [
            {
                "primitive": node.primitive.name,
                "inputs": [number[id(item)] for item in node.inputs],
                "params": _params(node),
                "shape": list(node.shape),
                "dtype": node.dtype.name,
            }
            for node in nodes
        ],
        "outputs": [number[id(node)] for node in graph.outputs],
    }


def _params(node: Node) -> dict[str, Any]:
    if node.primitive is CONSTANT:
        return {"value": node.params["value"].tolist()}
    return {} if node.primitive is INPUT else dict(node.params)


def from_data(data: dict[str, Any]) -> Graph:
    """The graph again."""
    nodes: list[Node] = []
    for index, item in enumerate(data["nodes"]):
        shape, dtype = tuple(item["shape"]), np.dtype(item["dtype"])
        primitive = PRIMITIVES[item["primitive"]]
        if primitive is INPUT:
            nodes.append(new_input(index, shape, dtype))
            continue
        params = {key: _tupled(value) for key, value in item["params"].items()}
        if primitive is CONSTANT:
            params = {"value": np.array(item["params"]["value"], dtype=dtype).reshape(shape)}
        nodes.append(Node(primitive, tuple(nodes[i] for i in item["inputs"]), params, shape, dtype))
    return Graph(tuple(nodes[: data["n_inputs"]]), tuple(nodes[i] for i in data["outputs"]))


def _tupled(value: Any) -> Any:
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value
