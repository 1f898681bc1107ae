"""Exact simplification of graphs: constant folding, common subexpressions, dead nodes, exact algebra.

Exact means bit-identical results, including the sign of zero, NaN and infinity: ``x * 1`` is simplified, ``x + 0`` is
not.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from madaline.graph.node import CONSTANT, INPUT, Node, is_constant, topological_order
from madaline.graph.primitives.elementwise import Elementwise, fold
from madaline.graph.shapes import broadcast
from madaline.graph.trace import Graph
from madaline.plan.views import is_number

Rule = Callable[[Node], Node | None]


def simplify(graph: Graph) -> Graph:
    """An equivalent graph without repeated, constant or unnecessary nodes."""
    new = simplified(graph)
    return Graph(graph.inputs, tuple(new[id(node)] for node in graph.outputs))


def simplified(graph: Graph) -> dict[int, Node]:
    """The node that replaces each node of the graph, by id."""
    new: dict[int, Node] = {}
    seen: dict[Any, Node] = {}
    for node in topological_order(graph.outputs):
        current = _with_inputs(node, new)
        key = _key(current)
        if key not in seen:
            while (better := _improved(current)) is not None:
                current = better
            seen[key] = seen.setdefault(_key(current), current)
        new[id(node)] = seen[key]
    return new


def _with_inputs(node: Node, new: dict[int, Node]) -> Node:
    inputs = tuple([new[id(item)] for item in node.inputs])
    if all(map(is_, inputs, node.inputs)):
        return node
    return Node(node.primitive, inputs, node.params, node.shape, node.dtype)


def _key(node: Node) -> Any:
    if node.primitive is INPUT:
        return id(node)
    if node.primitive is CONSTANT:
        value = node.params["value"]
        return ("constant", node.dtype, value.tobytes()) if value.ndim == 0 else ("constant", id(value))
    return (
        node.primitive.name,
        node.dtype,
        node.shape,
        tuple([id(item) for item in node.inputs]),
        tuple(node.params.items()),
    )


def _improved(node: Node) -> Node | None:
    rule = _RULES.get(node.primitive.name)
    if rule is not None and (better := rule(node)) is not None:
        return better
    if isinstance(node.primitive, Elementwise):
        if node.shape == () and all(is_constant(item) for item in node.inputs):
            return fold(node)
        return _without_broadcasts(node)
    return None


def _without_broadcasts(node: Node) -> Node | None:
    """Remove broadcasts before elementwise operations, which broadcast themselves, and axes of single numbers."""
    inputs = list(node.inputs)
    changed = False
    for position, item in enumerate(inputs):
        name = item.primitive.name
        if name != "broadcast_to" and not (name == "reshape" and item.inputs[0].shape == ()):
            continue
        trial = [*inputs[:position], item.inputs[0], *inputs[position + 1 :]]
        if broadcast(*(other.shape for other in trial)) == node.shape:
            inputs, changed = trial, True
    return Node(node.primitive, tuple(inputs), node.params, node.shape, node.dtype) if changed else None


def _pass_on(node: Node) -> Node:
    return node.inputs[0]


def _add(node: Node) -> Node | None:
    """``x + x`` of a broadcast ``x`` is doubled before the broadcast."""
    a, b = node.inputs
    return _doubled(node, a) if a is b and a.primitive.name in ("broadcast_to", "reshape") else None


def _doubled(add: Node, x: Node) -> Node:
    if x.primitive.name not in ("broadcast_to", "reshape"):
        return Node(add.primitive, (x, x), add.params, x.shape, x.dtype)
    return Node(x.primitive, (_doubled(add, x.inputs[0]),), x.params, x.shape, x.dtype)


def _multiply(node: Node) -> Node | None:
    for position, item in enumerate(node.inputs):
        other = node.inputs[1 - position]
        if is_number(item, 1) and other.shape == node.shape:
            return other
    return None


def _divide(node: Node) -> Node | None:
    a, b = node.inputs
    return a if is_number(b, 1) and a.shape == node.shape else None


def _subtract(node: Node) -> Node | None:
    a, b = node.inputs
    # Not -0: it would turn a negative zero into a positive one.
    return a if is_number(b, 0) and not np.signbit(b.params["value"]) and a.shape == node.shape else None


def _negative(node: Node) -> Node | None:
    return node.inputs[0].inputs[0] if node.inputs[0].primitive.name == "negative" else None


def _where(node: Node) -> Node | None:
    condition, a, b = node.inputs
    if not (is_constant(condition) and condition.shape == ()):
        return None
    chosen = a if condition.params["value"] else b
    return chosen if chosen.shape == node.shape else None


def _reshape(node: Node) -> Node | None:
    (x,) = node.inputs
    if x.shape == node.shape:
        return x
    if x.primitive.name == "reshape":
        return Node(node.primitive, x.inputs, node.params, node.shape, node.dtype)
    return None


def _transpose(node: Node) -> Node | None:
    (x,) = node.inputs
    axes = node.params["axes"]
    if axes == tuple(range(len(axes))):
        return x
    if x.primitive.name == "transpose":
        inner = x.params["axes"]
        return Node(node.primitive, x.inputs, {"axes": tuple(inner[axis] for axis in axes)}, node.shape, node.dtype)
    return None


def _broadcast_to(node: Node) -> Node | None:
    (x,) = node.inputs
    if x.shape == node.shape:
        return x
    if x.primitive.name == "broadcast_to":
        return Node(node.primitive, x.inputs, node.params, node.shape, node.dtype)
    return None


def _cast(node: Node) -> Node | None:
    return node.inputs[0] if node.inputs[0].dtype == node.dtype else None


_RULES: dict[str, Rule] = {
    "identity": _pass_on,
    "stop_gradient": _pass_on,
    "custom_derivative": _pass_on,
    "add": _add,
    "multiply": _multiply,
    "divide": _divide,
    "subtract": _subtract,
    "negative": _negative,
    "where": _where,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_to": _broadcast_to,
    "cast": _cast,
}
