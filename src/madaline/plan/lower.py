"""Lowering of groups of nodes to instructions over buffers; reshapes, flips and joins are copies.

The rules of all other primitives are in ``instructions/``, in the file of the instruction.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules

from madaline.graph.node import Node, name_of
from madaline.graph.shapes import Rows
from madaline.plan import instructions
from madaline.plan.fuse import NodeGroup
from madaline.plan.instructions.base import Instruction
from madaline.plan.instructions.elementwise import Chain, copy_chain, fill_chain, lower_chain
from madaline.plan.join import gaps, runs
from madaline.plan.lowering import RULES, Lowering, lowers
from madaline.plan.peephole import Op
from madaline.plan.rows import NeedsRowCountError
from madaline.plan.views import row_axis, stored_strides, width

for _module in iter_modules(instructions.__path__):
    import_module(f"{instructions.__name__}.{_module.name}")


def lower(group: NodeGroup, low: Lowering) -> list[Instruction]:
    """The instructions of a group."""
    if group.chain:
        made: list[Instruction] = [lower_chain(group, low)]
    else:
        *before, node = group.nodes
        made = RULES[node.primitive.name].lower(node, low, *before)
    return [piece for instruction in made for piece in instruction.within_limits()]


@lowers("reshape")
def lower_reshape(node: Node, low: Lowering) -> list[Instruction]:
    """A reshape that cannot be expressed by strides: copy the elements, in the order of the old shape."""
    (x,) = node.inputs
    batched = row_axis(x.shape) is not None or row_axis(node.shape) is not None
    if batched and not node.primitive.keeps_rows((x.shape,), node.shape, **node.params):
        raise NeedsRowCountError(node)
    strides = stored_strides(x.shape)
    return [copy_chain((node,), x.shape, low.operand(x), low.operand(node, strides), name_of(node.dtype))]


@lowers("barrier")
def lower_barrier(node: Node, low: Lowering) -> list[Instruction]:
    """A copy."""
    x = node.inputs[0]
    return [copy_chain((node,), x.shape, low.operand(x), low.operand(node), name_of(node.dtype))]


@lowers("flip")
def lower_flip(node: Node, low: Lowering) -> list[Instruction]:
    """A flip of the rows, which cannot be expressed by strides; all other flips are views."""
    raise NeedsRowCountError(node)


@lowers("place")
def lower_place(node: Node, low: Lowering) -> list[Instruction]:
    """Pieces of an array: copies of those that are not already there, zeros in the gaps."""
    found = runs(node)
    if found is not None:
        return [
            *(_run(node, low, *gap) for gap in gaps(node)),
            *(_run(node, low, *run, piece) for piece, run in found if not low.is_in_place(piece, node, run[0])),
        ]
    starts, steps = node.params["starts"], node.params["steps"]
    boxes = [
        [(start, step, size) for start, step, size in zip(starts[i], steps[i], piece.shape, strict=True)]
        for i, piece in enumerate(node.inputs)
    ]
    disjoint = _are_disjoint(boxes)
    covered = disjoint and sum(width(piece.shape) for piece in node.inputs) == width(node.shape)
    instructions: list[Instruction] = [] if covered else [fill_chain(node, low, 0.0)]
    base = stored_strides(node.shape)
    for piece, box in zip(node.inputs, boxes, strict=True):
        if width(piece.shape) == 0:
            continue
        offset = sum(start * stride for (start, _, _), stride in zip(box, base, strict=True))
        strides = tuple(step * stride for (_, step, _), stride in zip(box, base, strict=True))
        dst = low.operand(node, strides, offset)
        instructions.append(
            copy_chain((node,), piece.shape, low.operand(piece), dst, name_of(node.dtype), add=not disjoint)
        )
    return instructions


def _run(node: Node, low: Lowering, first: int, last: int, piece: Node | None = None) -> Chain:
    """Fill a range of elements with a piece, or with zeros."""
    if piece is not None:
        dst = low.operand(node, stored_strides(piece.shape), first)
        return copy_chain((node,), piece.shape, low.operand(piece), dst, name_of(node.dtype))
    dst = low.operand(node, (1,), first)
    return Chain((node,), name_of(node.dtype), ((last - first, False),), (dst,), (0.0,), 0, (Op("copy", 0, (1,)),))


def _are_disjoint(boxes: list[list[tuple[int, int, int | Rows]]]) -> bool:
    """Whether no two pieces share an element: along some axis their ranges do not overlap."""
    if len(boxes) < 2:
        return True
    for axis in range(len(boxes[0])):
        spans = []
        for box in boxes:
            start, step, size = box[axis]
            if isinstance(size, Rows):
                break
            spans.append((start, start + max(size - 1, 0) * step))
        else:
            spans.sort()
            if all(before[1] < after[0] for before, after in pairwise(spans)):
                return True
    return False
