"""Gathering by indices, and its transpose, scatter-add. Kernel: ``native/kernels/gather.h``."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.graph.shapes import Rows
from madaline.plan.instructions.base import (
    Dim,
    Frame,
    Instruction,
    Operand,
    accumulated,
    check_indices,
    show_dims,
)
from madaline.plan.lowering import Lowering, around, joined_size, lowers
from madaline.plan.rows import NeedsRowCountError
from madaline.plan.views import row_axis, width


@dataclass(slots=True)
class Gather(Instruction):
    """``dst[o, j, i] = src[o, index[o, j], i]``; with ``scatter``, ``dst[o, index[o, j], i] += src[o, j, i]``."""

    outer: Dim
    count: Dim
    inner: Dim
    axis_size: int
    src: Operand
    indices: Operand
    dst: Operand
    scatter: bool
    accumulate: bool = False

    def reads(self) -> list[Operand]:
        return [self.src, self.indices]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        sizes = (core.DTYPES[self.dtype], self.outer, self.count, self.inner, self.axis_size)
        operands = (self.src.encode(), self.indices.encode(), self.dst.encode())
        return ("scatter_add", (*sizes, *operands, self.accumulate)) if self.scatter else ("take", (*sizes, *operands))

    def run(self, frame: Frame) -> None:
        whole, pieces = (self.outer, (self.axis_size, False), self.inner), (self.outer, self.count, self.inner)
        src = frame.view(self.src, pieces if self.scatter else whole)
        dst = frame.view(self.dst, whole if self.scatter else pieces)
        indices = frame.view(self.indices, (self.outer, self.count))
        check_indices("scatter_add" if self.scatter else "take", indices, self.axis_size)
        chosen = (np.arange(len(indices))[:, None], indices)
        if not self.scatter:
            dst[...] = src[chosen]
            return
        total = np.zeros(dst.shape, dst.dtype)
        np.add.at(total, chosen, src)
        accumulated(frame, dst, total) if self.accumulate else np.copyto(dst, total)

    @property
    def title(self) -> str:
        return "scatter" if self.scatter else "take"

    def sizes(self) -> str:
        axis, count = (self.axis_size, False), self.count
        before, after = (count, axis) if self.scatter else (axis, count)
        inner = () if self.inner == (1, False) else (self.inner,)
        return f"{show_dims((self.outer, before, *inner))} -> {show_dims((self.outer, after, *inner))}"

    def details(self) -> str:
        return "over the rows" if self.accumulate else ""


@lowers("take", contiguous=(0, 1))
def lower_take(node: Node, low: Lowering) -> list[Instruction]:
    """``take`` along one axis."""
    return _gather(node, low, whole=node.inputs[0], pieces=node, scatter=False)


@lowers("scatter_add", contiguous=(0, 1))
def lower_scatter_add(node: Node, low: Lowering) -> list[Instruction]:
    """Its transpose."""
    return _gather(node, low, whole=node, pieces=node.inputs[0], scatter=True)


def _gather(node: Node, low: Lowering, *, whole: Node, pieces: Node, scatter: bool) -> list[Instruction]:
    """``whole`` has the indexed axis, ``pieces`` has the axes of the indices in its place."""
    indices = node.inputs[1]
    axis = node.params["axis"]
    before, after = around(whole.shape, axis)
    rows = row_axis(indices.shape)
    if rows is not None and (
        rows != 0 or width(tuple(whole.shape[a] for a in before)) != 1 or row_axis(whole.shape) is not None
    ):
        raise NeedsRowCountError(node)
    inner = width(tuple(whole.shape[a] for a in after))
    outer, count = joined_size(whole.shape, before), joined_size(indices.shape, range(indices.ndim))
    size = whole.shape[axis]
    if isinstance(size, Rows):
        raise NeedsRowCountError(node)
    whole_strides, pieces_strides = (size * inner, inner, 1), (count[0] * inner, inner, 1)
    read, written = (pieces, whole) if scatter else (whole, pieces)
    read_strides, written_strides = (pieces_strides, whole_strides) if scatter else (whole_strides, pieces_strides)
    return [
        Gather(
            (node,),
            name_of(node.dtype),
            outer,
            count,
            (inner, False),
            size,
            low.operand(read, read_strides),
            low.operand(indices, (0, 1)),
            low.result(written, written_strides),
            scatter,
            id(node) in low.reducing,
        )
    ]


@lowers("take_along", contiguous=(0, 1))
def lower_take_along(node: Node, low: Lowering) -> list[Instruction]:
    """``take_along`` on the last axis."""
    return _gather_along(node, low, size=node.inputs[0].shape[-1], count=node.shape[-1], scatter=False)


@lowers("scatter_along", contiguous=(0, 1))
def lower_scatter_along(node: Node, low: Lowering) -> list[Instruction]:
    """Its transpose."""
    return _gather_along(node, low, size=node.shape[-1], count=node.inputs[0].shape[-1], scatter=True)


def _gather_along(
    node: Node, low: Lowering, *, size: int | Rows, count: int | Rows, scatter: bool
) -> list[Instruction]:
    if isinstance(size, Rows) or isinstance(count, Rows):
        raise NeedsRowCountError(node)
    x, indices = node.inputs
    whole, pieces = (size, 1, 1), (count, 1, 1)
    return [
        Gather(
            (node,),
            name_of(node.dtype),
            joined_size(node.shape, range(node.ndim - 1)),
            (count, False),
            (1, False),
            size,
            low.operand(x, pieces if scatter else whole),
            low.operand(indices, (count, 1)),
            low.operand(node, whole if scatter else pieces),
            scatter,
        )
    ]
