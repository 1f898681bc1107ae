"""Uniform random numbers from a counter. Kernel: ``native/kernels/random.h``."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.graph.primitives.random import uniform_rows
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, show_dims
from madaline.plan.lowering import Lowering, dim_of, lowers
from madaline.plan.rows import NeedsRowCountError
from madaline.plan.views import row_axis, width


@dataclass(slots=True)
class Random(Instruction):
    """Counter-based uniform numbers; with ``rows``, the first dim counts rows."""

    dims: tuple[Dim, ...]
    dst: Operand
    key: Operand
    stream: int
    rows: bool

    def reads(self) -> list[Operand]:
        return [self.key]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        dst, key = self.dst.encode(), self.key.encode()
        return "random", (core.DTYPES[self.dtype], list(self.dims), dst, key, self.stream, self.rows)

    def run(self, frame: Frame) -> None:
        dst, key = frame.view(self.dst, self.dims), frame.view(self.key, ((2, False),))
        by_rows, shape = self.rows and self.dims[0][1], dst.shape
        n_rows, n_units = (shape[0], dst.size // max(shape[0], 1)) if self.rows else (1, dst.size)
        rows = np.arange(n_rows) + (frame.first_row if by_rows else 0)
        dst[...] = uniform_rows(key, rows, n_units, stream=self.stream, to=self.dtype).reshape(shape)

    def sizes(self) -> str:
        return show_dims(self.dims)

    def details(self) -> str:
        return f"stream {self.stream}"


@lowers("random_uniform", contiguous=(0,))
def lower_random(node: Node, low: Lowering) -> list[Instruction]:
    """Uniform numbers; the size must be known if the batch is not the first axis or its rows share a counter."""
    if row_axis(node.shape) is not None and not node.primitive.keeps_rows((), node.shape, **node.params):
        raise NeedsRowCountError(node)
    units = width(node.shape)
    dims: tuple[Dim, ...] = ((units, False),)
    strides: tuple[int, ...] = (1,)
    if node.params["rows"]:
        first = dim_of(node.shape[0])
        units = units if first[1] else units // max(first[0], 1)
        dims, strides = (first, (units, False)), (units, 1)
    dst, key = low.operand(node, strides), low.operand(node.inputs[0])
    return [Random((node,), name_of(node.dtype), dims, dst, key, node.params["stream"], node.params["rows"])]
