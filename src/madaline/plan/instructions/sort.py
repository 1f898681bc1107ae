"""The order of values along one axis. Kernel: ``native/kernels/sort.h``."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, show_dims
from madaline.plan.lowering import Lowering, around_axis, lowers


@dataclass(slots=True)
class Argsort(Instruction):
    """The indices that sort ``src`` along the axis, equal values in their order, NaN last."""

    outer: Dim
    axis: Dim
    inner: Dim
    src: Operand
    dst: Operand

    def reads(self) -> list[Operand]:
        return [self.src]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        operands = (self.src.encode(), self.dst.encode())
        return "argsort", (core.DTYPES[self.dtype], self.outer, self.axis, self.inner, *operands)

    def run(self, frame: Frame) -> None:
        dims = (self.outer, self.axis, self.inner)
        frame.view(self.dst, dims)[...] = np.argsort(frame.view(self.src, dims), axis=1, stable=True)

    def sizes(self) -> str:
        return show_dims((self.outer, self.axis, self.inner))


@lowers("argsort", contiguous=(0,))
def lower_argsort(node: Node, low: Lowering) -> list[Instruction]:
    """An argsort."""
    dims, strides = around_axis(node)
    src, dst = low.operand(node.inputs[0], strides), low.operand(node, strides)
    return [Argsort((node,), name_of(node.inputs[0].dtype), *dims, src, dst)]
