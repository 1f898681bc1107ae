"""Cumulative sums along one axis. Kernel: ``native/kernels/scan.h``."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.plan.instructions.base import AxisInstruction, Frame, Instruction
from madaline.plan.lowering import Lowering, around_axis, lowers


@dataclass(slots=True)
class Cumsum(AxisInstruction):
    """``dst[o, j, i] = src[o, 0, i] + ... + src[o, j, i]``, or from the end with ``reverse``."""

    reverse: bool

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        return "cumsum", (*self.encode_axis(core), self.reverse)

    def run(self, frame: Frame) -> None:
        step = -1 if self.reverse else 1
        src, dst = frame.view(self.src, self.dims), frame.view(self.dst, self.dims)
        np.cumsum(src[:, ::step], axis=1, out=dst[:, ::step])

    def details(self) -> str:
        return "from the end" if self.reverse else ""


@lowers("cumsum", contiguous=(0,))
def lower_cumsum(node: Node, low: Lowering) -> list[Instruction]:
    """A cumulative sum."""
    dims, strides = around_axis(node)
    src, dst = low.operand(node.inputs[0], strides), low.operand(node, strides)
    return [Cumsum((node,), name_of(node.inputs[0].dtype), *dims, src, dst, node.params["reverse"])]
