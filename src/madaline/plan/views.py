"""Views: reshapes, transposes, broadcasts, slices and flips refer to stored values and need no computation.

Stored values are contiguous, with the batch axis outermost wherever it is in the shape, so that all strides are plain
numbers and a tile of rows is contiguous.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from madaline.graph.node import Node, is_constant
from madaline.graph.shapes import Rows, Shape

SHAPES = 1024
"Number of shapes whose strides are cached: a graph has few different shapes, and many nodes of each."


@dataclass(frozen=True, slots=True, eq=False)  # nodes compare elementwise
class View:
    """The location of the elements of a node: in the storage of ``root``, from ``offset``, with ``strides``."""

    root: Node
    offset: int
    strides: tuple[int, ...]


def row_axis(shape: Shape) -> int | None:
    """Position of the batch axis, if there is one."""
    for axis, size in enumerate(shape):
        if isinstance(size, Rows):
            return axis
    return None


@functools.lru_cache(SHAPES)
def physical_order(shape: Shape) -> tuple[int, ...]:
    """The axes in memory order, outermost first: the batch axis, then the others in order."""
    rows = row_axis(shape)
    others = tuple(axis for axis in range(len(shape)) if axis != rows)
    return others if rows is None else (rows, *others)


@functools.lru_cache(SHAPES)
def stored_strides(shape: Shape) -> tuple[int, ...]:
    """Strides of a stored value."""
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(physical_order(shape)):
        strides[axis] = step
        size = shape[axis]
        step *= 1 if isinstance(size, Rows) else size
    return tuple(strides)


def width(shape: Shape) -> int:
    """Number of elements; for a batch, of one row."""
    product = 1
    for size in shape:
        product *= 1 if isinstance(size, Rows) else size
    return product


def is_scalar_constant(node: Node) -> bool:
    """Whether the node is one known number, which can be a constant of a chain."""
    return is_constant(node) and node.shape == ()


def is_number(node: Node, value: float) -> bool:
    """Whether the node is this known number."""
    return is_scalar_constant(node) and bool(node.params["value"] == value)


def bare(node: Node) -> Node:
    """The node before reshapes and broadcasts."""
    while node.primitive.name == "reshape":
        (node,) = node.inputs
    return node


def lies_as_stored(node: Node, view: View) -> bool:
    """Whether the elements of the node are laid out as if it were stored, from the start of its root."""
    stored = stored_strides(node.shape)
    return view.offset == 0 and all(
        size == 1 or a == b for size, a, b in zip(node.shape, view.strides, stored, strict=True)
    )


def is_view(node: Node) -> bool:
    """Whether the elements of the node are in the storage of another node."""
    path = [node]
    while path[-1].primitive.name in _RULES:
        path.append(path[-1].inputs[0])
    return views_of(reversed(path))[id(node)].root is not node


def views_of(nodes: Iterable[Node], known: dict[int, View] | None = None) -> dict[int, View]:
    """The view of every node, by id; a stored node is its own root. ``known`` has the views of earlier nodes."""
    views: dict[int, View] = known if known is not None else {}
    for node in nodes:
        rule = _RULES.get(node.primitive.name)
        view = rule(node, views[id(node.inputs[0])]) if rule is not None else None
        views[id(node)] = view if view is not None else View(node, 0, stored_strides(node.shape))
    return views


def _transpose(node: Node, x: View) -> View:
    return View(x.root, x.offset, tuple(x.strides[axis] for axis in node.params["axes"]))


def broadcast_strides(strides: tuple[int, ...], shape: Shape, target: Shape) -> tuple[int, ...]:
    """Strides of the same elements, broadcast to a larger shape."""
    lead = len(target) - len(shape)
    return (0,) * lead + tuple(
        0 if size == 1 and wanted != 1 else stride
        for size, wanted, stride in zip(shape, target[lead:], strides, strict=True)
    )


def _broadcast_to(node: Node, x: View) -> View:
    return View(x.root, x.offset, broadcast_strides(x.strides, node.inputs[0].shape, node.shape))


def _slice(node: Node, x: View) -> View | None:
    starts, steps = node.params["starts"], node.params["steps"]
    offset = x.offset + sum(start * stride for start, stride in zip(starts, x.strides, strict=True))
    return View(x.root, offset, tuple(step * stride for step, stride in zip(steps, x.strides, strict=True)))


def _flip(node: Node, x: View) -> View | None:
    offset, strides = x.offset, list(x.strides)
    for axis in node.params["axes"]:
        size = node.shape[axis]
        if isinstance(size, Rows):
            return None
        offset += max(size - 1, 0) * strides[axis]
        strides[axis] = -strides[axis]
    return View(x.root, offset, tuple(strides))


def _reshape(node: Node, x: View) -> View | None:
    before, after = node.inputs[0].shape, node.shape
    old, new = row_axis(before), row_axis(after)
    if old is None or new is None:
        strides = _regrouped(before, x.strides, after)
        return None if strides is None else View(x.root, x.offset, strides)
    # The batch axis does not change; the axes before and after it are regrouped separately.
    left = _regrouped(before[:old], x.strides[:old], after[:new])
    right = _regrouped(before[old + 1 :], x.strides[old + 1 :], after[new + 1 :])
    if left is None or right is None:
        return None
    return View(x.root, x.offset, (*left, x.strides[old], *right))


def _regrouped(before: Shape, strides: tuple[int, ...], after: Shape) -> tuple[int, ...] | None:
    """Strides for another shape over the same elements in the same order, or None if there are none."""
    old = [(int(size), stride) for size, stride in zip(before, strides, strict=True) if size != 1]
    if width(before) != width(after):
        return None
    if width(before) == 0:
        return (0,) * len(after)
    result: list[int] = []
    position = 0
    pending: tuple[int, int] = (1, 1)
    for size in after:
        wanted = int(size)
        if wanted == 1:
            result.append(0)
            continue
        if pending[0] == 1:
            pending = old[position]
            position += 1
        # Merge old axes, outermost first, until they hold what the new axis needs.
        while pending[0] % wanted:
            if position == len(old) or pending[1] != old[position][0] * old[position][1]:
                return None
            pending = (pending[0] * old[position][0], old[position][1])
            position += 1
        rest = pending[0] // wanted
        result.append(pending[1] * rest)
        pending = (rest, pending[1])
    return tuple(result)


_RULES = {
    "transpose": _transpose,
    "broadcast_to": _broadcast_to,
    "slice": _slice,
    "flip": _flip,
    "reshape": _reshape,
}
