"""A graph for one example, turned into one for a batch of them: the rules behind ``vmap``.

Every value is either the same for all examples, or batched: then axis 0 counts the examples. A primitive without a rule
here is applied to each example separately.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.memory import frozen
from madaline.graph.node import Node, as_node, constant, topological_order
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.primitives.library import LibraryPrimitive

Rule = Callable[[Node, list[Any], list[bool], int], Any]
"""From a node, its new inputs, which of them are batched, and the batch size, to the batched node."""

RULES: dict[str, Rule] = {}


@frozen()
def batched(outputs: Sequence[Node], given: Mapping[int, Any], size: int) -> list[tuple[Any, bool]]:
    """The outputs over a batch, and whether each depends on the example; ``given`` has the batched inputs by id."""
    new: dict[int, Any] = dict(given)
    depends = set(given)
    for node in topological_order(outputs):
        if id(node) in new:
            continue
        flags = [id(item) in depends for item in node.inputs]
        if not any(flags):
            new[id(node)] = node
            continue
        inputs = [new[id(item)] for item in node.inputs]
        new[id(node)] = _rule(node)(node, inputs, flags, size)
        depends.add(id(node))
    return [(new[id(node)], id(node) in depends) for node in outputs]


def _rule(node: Node) -> Rule:
    if isinstance(node.primitive, Elementwise):
        return _elementwise
    if isinstance(node.primitive, LibraryPrimitive):
        return _leading
    return RULES.get(node.primitive.name, _one_by_one)


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the batching rule of primitives."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def _stretched(x: Array, is_batched: bool, size: int) -> Any:
    """A value with the batch axis, repeated where it is the same for all examples."""
    return x if is_batched else np.broadcast_to(x, (size, *x.shape))


def _all(inputs: list[Any], flags: list[bool], size: int) -> list[Any]:
    return [_stretched(x, flag, size) for x, flag in zip(inputs, flags, strict=True)]


def _one_by_one(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    rows = [
        node.primitive(*[x[i] if flag else x for x, flag in zip(inputs, flags, strict=True)], **node.params)
        for i in range(size)
    ]
    return np.stack(rows)


def _elementwise(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    """Axes of size 1 behind the batch axis where an input has fewer than the result."""
    aligned = [
        x.reshape((size, *(1,) * (node.ndim - x.ndim + 1), *x.shape[1:])) if flag else x
        for x, flag in zip(inputs, flags, strict=True)
    ]
    return node.primitive(*aligned, **node.params)


def _leading(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    return node.primitive(*_all(inputs, flags, size), **node.params)


RULES.update(dict.fromkeys(("dft", "take_along", "scatter_along"), _leading))


@rule("sum", "prod", "max", "min", "logsumexp", "flip")
def _over_axes(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    return node.primitive(inputs[0], axes=tuple(axis + 1 for axis in node.params["axes"]))


@rule("argmax", "argsort", "cumsum")
def _over_axis(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    return node.primitive(inputs[0], **(node.params | {"axis": node.params["axis"] + 1}))


@rule("transpose")
def _transpose(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    return node.primitive(inputs[0], axes=(0, *(axis + 1 for axis in node.params["axes"])))


@rule("reshape")
def _reshape(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Node:
    return inputs[0].reshape((size, *node.shape))


@rule("broadcast_to")
def _broadcast_to(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    x = inputs[0].reshape((size, *(1,) * (node.ndim - inputs[0].ndim + 1), *inputs[0].shape[1:]))
    return node.primitive(x, shape=(size, *node.shape))


@rule("slice")
def _slice(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    starts, steps = node.params["starts"], node.params["steps"]
    return node.primitive(inputs[0], starts=(0, *starts), shape=(size, *node.shape), steps=(1, *steps))


@rule("place")
def _place(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    starts = tuple((0, *start) for start in node.params["starts"])
    steps = tuple((1, *step) for step in node.params["steps"])
    return node.primitive(*_all(inputs, flags, size), shape=(size, *node.shape), starts=starts, steps=steps)


@rule("matmul")
def _matmul(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Node:
    a, b = inputs
    if not flags[1] and b.ndim == 2:
        return np.matmul(a, b)
    return np.matmul(*_all(inputs, flags, size))


def _own_rows(index: Any, n: int, size: int) -> Node:
    """Indices into a table in which the tables of all examples lie one below the other."""
    first = constant(np.arange(size) * n).reshape((size, *(1,) * (index.ndim - 1)))
    return np.where(index < 0, index + n, index) + first


@rule("take")
def _take(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    (x, index), axis = inputs, node.params["axis"]
    if not flags[1]:
        return node.primitive(x, index, axis=axis + 1)
    if not flags[0]:
        taken: Any = node.primitive(x, index, axis=axis)
        return np.moveaxis(taken, axis, 0)
    x = np.moveaxis(x, axis + 1, 1)
    n, rest = x.shape[1], x.shape[2:]
    found: Any = node.primitive(x.reshape((size * n, *rest)), _own_rows(index, n, size), axis=0)
    rank = index.ndim - 1
    return np.moveaxis(found, tuple(range(1, 1 + rank)), tuple(range(1 + axis, 1 + axis + rank)))


@rule("scatter_add")
def _scatter_add(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Any:
    (v, index), axis, n = inputs, node.params["axis"], node.params["size"]
    if not flags[1]:
        return node.primitive(v, index, axis=axis + 1, size=n)
    v, rank = _stretched(v, flags[0], size), index.ndim - 1
    v = np.moveaxis(v, tuple(range(1 + axis, 1 + axis + rank)), tuple(range(1, 1 + rank)))
    whole: Any = node.primitive(v, _own_rows(index, n, size), axis=0, size=size * n)
    return np.moveaxis(whole.reshape((size, n, *whole.shape[1:])), 1, axis + 1)


@rule("custom_derivative", "barrier")
def _same_rule(node: Node, inputs: list[Any], flags: list[bool], size: int) -> Array:
    return _one_by_one(node, [as_node(x) for x in inputs], flags, size)
