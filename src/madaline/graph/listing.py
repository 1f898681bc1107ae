"""A graph in words and numbers: assignments in the lectures' notation, counts, flops, bytes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from madaline.graph.node import CONSTANT, INPUT, ROW_COUNT, Node
from madaline.graph.primitive import Primitive
from madaline.graph.shapes import count, resolve, show
from madaline.graph.trace import Graph

MANY = 8
"Longer lists of arguments or numbers are shown by their first items."


def assignments(graph: Graph) -> str:
    """Numbered assignments v1, v2, ... in topological order (lecture row A5); scalar constants are written in place."""
    names: dict[int, str] = {}
    lines: list[str] = []
    for node in graph.nodes:
        if is_inline(node):
            names[id(node)] = inline_text(node)
            continue
        name = names[id(node)] = f"v{len(lines) + 1}"
        lines.append(f"{name} = {_right_side(node, names)} : {node.dtype.name} {show(node.shape)}")
    lines.append("return " + ", ".join(names[id(node)] for node in graph.outputs))
    return "\n".join(lines)


def _right_side(node: Node, names: dict[int, str]) -> str:
    if node.primitive is INPUT:
        return f"input {node.params['name'] or node.params['index']}"
    if node.primitive is CONSTANT:
        return constant_text(node)
    arguments = _abbreviated([names[id(item)] for item in node.inputs])
    arguments += [f"{key}={text}" for key, text in parameter_texts(node).items()]
    return f"{node.primitive.name}({', '.join(arguments)})"


def constant_text(node: Node) -> str:
    """``constant``, with its numbers if they are few."""
    value = node.params["value"]
    if not 0 < value.size <= MANY:
        return "constant"
    numbers = np.array2string(value, separator=", ", threshold=MANY, formatter={"float_kind": lambda x: f"{x:.6g}"})
    return "constant " + " ".join(numbers.split())


def parameter_texts(node: Node) -> dict[str, str]:
    """The static parameters as text, without those that the shape and type beside it tell already."""
    return {
        key: parameter_text(value)
        for key, value in node.params.items()
        if key != "to" and not (key == "shape" and value == node.shape)
    }


def parameter_text(value: Any) -> str:
    """A parameter as text; long tuples by their first items."""
    if not isinstance(value, tuple):
        return str(value)
    items = _abbreviated([parameter_text(item) for item in value])
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _abbreviated(items: list[str]) -> list[str]:
    return items if len(items) <= MANY else [*items[: MANY - 2], f"... {len(items) - MANY + 2} more"]


def is_inline(node: Node) -> bool:
    """Whether the node is written where it is used: scalar constants and the number of rows."""
    return node.primitive is ROW_COUNT or (node.primitive is CONSTANT and node.shape == ())


def inline_text(node: Node) -> str:
    """A scalar as text."""
    if node.primitive is ROW_COUNT:
        return str(node.params["rows"])
    value = node.params["value"][()]
    return f"{value:.6g}" if node.dtype.kind == "f" else str(value)


def counts(graph: Graph) -> dict[str, int]:
    """Number of nodes of each kind, most frequent first, then by name."""
    found = Counter(node.primitive.name for node in graph.nodes if not is_inline(node))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def flops(graph: Graph, n_rows: int = 1) -> int:
    """Floating-point operations, by each primitive's own count."""
    return sum(node_flops(node, n_rows) for node in graph.nodes)


def node_flops(node: Node, n_rows: int = 1) -> int:
    """Floating-point operations of one node."""
    if type(node.primitive).flops is Primitive.flops:
        return 0  # without a look at the shapes: half of the nodes of a step only move data
    shapes = tuple([item.shape for item in node.inputs])
    fixed = resolve(shapes, n_rows)
    params = {key: resolve(value, n_rows) for key, value in node.params.items()}
    return int(node.primitive.flops(fixed, resolve(node.shape, n_rows), **params))


def total_bytes(graph: Graph, n_rows: int = 1) -> int:
    """Bytes of all values together, none of them reused."""
    return sum(count(node.shape, n_rows) * np.dtype(node.dtype).itemsize for node in graph.nodes if not is_inline(node))
