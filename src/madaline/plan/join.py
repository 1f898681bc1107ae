"""Pieces of one array written where they belong: a gradient's parts straight into the flat gradient.

A ``place`` puts pieces side by side into one array. A piece that lies there in one run of memory needs no buffer of its
own: whoever computes it writes into the array, whoever reads it reads there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from madaline.graph.node import Node
from madaline.graph.shapes import is_symbolic
from madaline.plan.views import View, lies_as_stored, stored_strides, width


@dataclass(frozen=True, slots=True, eq=False)  # nodes compare elementwise
class StoragePlace:
    """Where a stored value lies: in the storage of ``node``, from element ``offset`` on."""

    node: Node
    offset: int


def homes(nodes: Sequence[Node], views: Mapping[int, View], outputs: Iterable[Node]) -> dict[int, StoragePlace]:
    """The values that lie within a joined array, by id; all others have storage of their own."""
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
    """The pieces of a ``place`` with the runs of elements they take, in order; ``None`` if they overlap or are no runs.

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
    """The runs of elements of a ``place`` that no piece takes."""
    found, end = [], 0
    for _, (first, last) in runs(node) or ():
        if first > end:
            found.append((end, first))
        end = last
    return found if end == width(node.shape) else [*found, (end, width(node.shape))]
