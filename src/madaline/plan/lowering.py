"""The context of lowering rules (buffers, offsets and strides of values), and the table of the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from madaline.graph.node import Node, name_of
from madaline.graph.shapes import Rows, Shape
from madaline.plan.instructions.base import Dim, Instruction, Operand
from madaline.plan.join import StoragePlace
from madaline.plan.program import Buffer
from madaline.plan.views import View, lies_as_stored, row_axis, stored_strides, width


@dataclass(frozen=True, slots=True)
class Rule:
    """The lowering rule of a primitive.

    ``lower(node, low)`` may have further arguments: nodes that are computed within the same instruction.
    """

    lower: Callable[..., list[Instruction]]
    contiguous: Sequence[int]
    "Positions of the arguments that must be contiguous; the planner copies other views."
    joins: bool
    "Whether arguments with many axes are copied, so that axes can be joined: unrolling is not possible."


RULES: dict[str, Rule] = {}
"The rules by the name of the primitive."


def lowers(
    *primitives: str, contiguous: Sequence[int] = (), joins: bool = False
) -> Callable[[Callable[..., list[Instruction]]], Callable[..., list[Instruction]]]:
    """Register a function as the lowering rule of these primitives."""

    def register(lower: Callable[..., list[Instruction]]) -> Callable[..., list[Instruction]]:
        RULES.update(dict.fromkeys(primitives, Rule(lower, contiguous, joins)))
        return lower

    return register


@dataclass(slots=True)
class Lowering:
    """The information about the whole program that lowering needs."""

    views: dict[int, View]
    space_of: Callable[[Node], str]
    tiled: set[int]
    "Ids of the nodes that are computed tile by tile."
    reducing: dict[int, tuple[int, str]]
    "The nodes that reduce over the rows tile by tile, by id: their stage, and how partial results are combined."
    homes: dict[int, StoragePlace] = field(default_factory=dict)
    "The values that are stored within a joined array."
    buffers: list[Buffer] = field(default_factory=list)
    buffer_of: dict[int, int] = field(default_factory=dict)
    lanes: dict[tuple[int, int, str], int] = field(default_factory=dict)
    "The lane buffers: one for all values of a joined array with the same stage and combination."
    over: dict[int, int] = field(default_factory=dict)
    "The buffer of the input that an output overwrites, by the id of the output."

    def buffer(self, node: Node) -> int:
        """The buffer of a stored node."""
        home = self.homes.get(id(node))
        if home is not None:
            self.buffer_of[id(node)] = self.buffer(home.node)
        elif id(node) not in self.buffer_of:
            self.buffer_of[id(node)] = len(self.buffers)
            self.buffers.append(
                Buffer(self.space_of(node), name_of(node.dtype), width(node.shape), label=node.primitive.name)
            )
        return self.buffer_of[id(node)]

    def operand(self, node: Node, strides: tuple[int, ...] | None = None, offset: int | None = None) -> Operand:
        """The elements of a node, by its view or by other strides over the same storage."""
        view = self.views[id(node)]
        number = self.buffer(view.root)
        rows = row_axis(view.root.shape)
        home = self.homes.get(id(view.root))
        moves = rows is not None and self.buffers[number].space != "tile"
        advance = stored_strides(view.root.shape)[rows] if moves and rows is not None else 0
        return Operand(
            number,
            (view.offset if offset is None else offset) + (0 if home is None else home.offset),
            advance,
            view.strides if strides is None else strides,
        )

    def result(self, node: Node, strides: tuple[int, ...]) -> Operand:
        """The destination of a node: the partial result of the lane if it reduces over the rows."""
        if id(node) not in self.reducing:
            return self.operand(node, strides)
        number, offset = self.lane(node)
        return Operand(number, offset, 0, strides)

    def lane(self, node: Node) -> tuple[int, int]:
        """The lane buffer of a reducing node, and the offset of its partial result (as in the buffer of the node)."""
        home = self.homes.get(id(node), StoragePlace(node, 0))
        key = (id(home.node), *self.reducing[id(node)])
        if key not in self.lanes:
            self.lanes[key] = len(self.buffers)
            self.buffers.append(Buffer("lane", name_of(node.dtype), width(home.node.shape), label=node.primitive.name))
        return self.lanes[key], home.offset

    def is_in_place(self, piece: Node, node: Node, first: int) -> bool:
        """Whether a piece is already in the storage of ``node``, from element ``first`` on."""
        around, view = self.homes.get(id(node), StoragePlace(node, 0)), self.views[id(piece)]
        home = self.homes.get(id(view.root))
        is_in_place = home is not None and home.node is around.node and home.offset == around.offset + first
        return is_in_place and lies_as_stored(piece, view)


def dims_of(shape: Shape, axes: Sequence[int]) -> tuple[Dim, ...]:
    """Sizes of some axes."""
    return tuple(dim_of(shape[axis]) for axis in axes)


def dim_of(size: int | Rows) -> Dim:
    """One size."""
    return (1, True) if isinstance(size, Rows) else (size, False)


def joined_size(shape: Shape, axes: Sequence[int]) -> Dim:
    """Several axes of a stored value as one."""
    rows = any(isinstance(shape[axis], Rows) for axis in axes)
    return (width(tuple(shape[axis] for axis in axes)), rows)


def around(shape: Shape, middle: int) -> tuple[list[int], list[int]]:
    """The axes before and after an axis; another batch axis counts as before."""
    rows = row_axis(shape)
    before = [axis for axis in range(middle) if axis != rows]
    after = [axis for axis in range(middle + 1, len(shape)) if axis != rows]
    if rows is not None and rows != middle:
        before.insert(0, rows)
    return before, after


def around_axis(node: Node) -> tuple[tuple[Dim, Dim, Dim], tuple[int, int, int]]:
    """A stored value seen as (outer, axis, inner), for an instruction along ``axis``; sizes and strides."""
    axis = node.params["axis"]
    before, after = around(node.shape, axis)
    if row_axis(node.shape) == axis:
        # The batch axis is outermost in memory, wherever it is in the shape.
        before, after = [], [a for a in range(node.ndim) if a != axis]
    size, inner = dim_of(node.shape[axis]), width(tuple(node.shape[a] for a in after))
    return (joined_size(node.shape, before), size, (inner, False)), (size[0] * inner, inner, 1)
