"""The order of values along one axis. Kernel: ``native/kernels/sort.h``."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.plan.instructions.base import AxisInstruction, Frame, Instruction
from madaline.plan.lowering import Lowering, around_axis, lowers


@dataclass(slots=True)
class Argsort(AxisInstruction):
    """The indices that sort ``src`` along the axis, equal values in their order, NaN last."""

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        return "argsort", self.encode_axis(core)

    def run(self, frame: Frame) -> None:
        frame.view(self.dst, self.dims)[...] = np.argsort(frame.view(self.src, self.dims), axis=1, stable=True)


@lowers("argsort", contiguous=(0,))
def lower_argsort(node: Node, low: Lowering) -> list[Instruction]:
    """An argsort."""
    dims, strides = around_axis(node)
    src, dst = low.operand(node.inputs[0], strides), low.operand(node, strides)
    return [Argsort((node,), name_of(node.inputs[0].dtype), *dims, src, dst)]
