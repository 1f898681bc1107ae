"""Cumulative sums along one axis. Kernel: ``native/kernels/scan.h``."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, show_dims
from madaline.plan.lowering import Lowering, around_axis, lowers


@dataclass(slots=True)
class Cumsum(Instruction):
    """``dst[o, j, i] = src[o, 0, i] + ... + src[o, j, i]``, or from the end with ``reverse``."""

    outer: Dim
    axis: Dim
    inner: Dim
    src: Operand
    dst: Operand
    reverse: bool

    def reads(self) -> list[Operand]:
        return [self.src]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        operands = (self.src.encode(), self.dst.encode())
        return "cumsum", (core.DTYPES[self.dtype], self.outer, self.axis, self.inner, *operands, self.reverse)

    def run(self, frame: Frame) -> None:
        dims = (self.outer, self.axis, self.inner)
        step = -1 if self.reverse else 1
        np.cumsum(frame.view(self.src, dims)[:, ::step], axis=1, out=frame.view(self.dst, dims)[:, ::step])

    def sizes(self) -> str:
        return show_dims((self.outer, self.axis, self.inner))

    def details(self) -> str:
        return "from the end" if self.reverse else ""


@lowers("cumsum", contiguous=(0,))
def lower_cumsum(node: Node, low: Lowering) -> list[Instruction]:
    """A cumulative sum."""
    dims, strides = around_axis(node)
    src, dst = low.operand(node.inputs[0], strides), low.operand(node, strides)
    return [Cumsum((node,), name_of(node.inputs[0].dtype), *dims, src, dst, node.params["reverse"])]
