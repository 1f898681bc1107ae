"""Pieces of an array that are written directly to their place, such as the parts of a flat gradient.

A ``place`` node puts pieces into one array. A piece that is contiguous there needs no separate buffer: the instruction
that computes it writes into the array, and instructions that need it read from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from madaline.graph.node import Node
from madaline.graph.shapes import is_symbolic
from madaline.plan.views import View, lies_as_stored, stored_strides, width


@dataclass(frozen=True, slots=True, eq=False)  # nodes compare elementwise
class StoragePlace:
    """The location of a stored value: in the storage of ``node``, from element ``offset`` on."""

    node: Node
    offset: int


def homes(nodes: Sequence[Node], views: Mapping[int, View], outputs: Iterable[Node]) -> dict[int, StoragePlace]:
    """The values that are stored within a joined array, by id; all others have separate storage."""
    taken = {id(node) for node in outputs}
    found: dict[int, StoragePlace] = {}
    for node in reversed(nodes):
        if node.primitive.name != "place":
            continue
        around = found.get(id(node), StoragePlace(node, 0))
        for piece, (first, _) in runs(node) or ():
            view = views[id(piece)]
            root = view.root
            if (
                root.inputs
                and id(root) not in taken
                and root.dtype == node.dtype
                and not is_symbolic(root.shape)
                and width(root.shape) == width(piece.shape)
                and lies_as_stored(piece, view)
            ):
                taken.add(id(root))
                found[id(root)] = StoragePlace(around.node, around.offset + first)
    return found


def runs(node: Node) -> list[tuple[Node, tuple[int, int]]] | None:
    """The pieces of a ``place`` with their element ranges, in order; ``None`` if they overlap or are not contiguous.

    Pieces without elements are left out.
    """
    if is_symbolic(node.shape):
        return None
    strides = stored_strides(node.shape)
    found = []
    for piece, starts, steps in zip(node.inputs, node.params["starts"], node.params["steps"], strict=True):
        inner = tuple(step * stride for step, stride in zip(steps, strides, strict=True))
        if width(piece.shape) == 0:
            continue
        if not lies_as_stored(piece, View(node, 0, inner)):
            return None
        first = sum(start * stride for start, stride in zip(starts, strides, strict=True))
        found.append((piece, (first, first + width(piece.shape))))
    found.sort(key=lambda item: item[1])
    end = 0
    for _, (first, last) in found:
        if first < end:
            return None
        end = last
    return found


def gaps(node: Node) -> list[tuple[int, int]]:
    """The ranges of elements of a ``place`` that are not in any piece."""
    found, end = [], 0
    for _, (first, last) in runs(node) or ():
        if first > end:
            found.append((end, first))
        end = last
    return found if end == width(node.shape) else [*found, (end, width(node.shape))]
