"""Reductions of some axes. Kernel: ``native/kernels/reduce.h``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import BOOL, Node, name_of
from madaline.graph.primitive import PRIMITIVES
from madaline.plan.collapse import MAX_DIMS, join, smallest, with_strides, without
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, accumulated, encode_optional, show_dims
from madaline.plan.lowering import Lowering, dims_of, lowers
from madaline.plan.views import row_axis, stored_strides

FOLDS: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
"How partial results of a reduction over the rows are combined."


def identity(op: str, dtype: np.dtype[Any]) -> Any:
    """The result of an empty reduction."""
    if op in ("sum", "prod"):
        return dtype.type(op == "prod")
    if dtype.kind == "f":
        return dtype.type(np.inf if op == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return limits.max if op == "min" else limits.min


@dataclass(slots=True)
class Reduction(Instruction):
    """A reduction of the dims ``reduce`` of a view; ``times`` multiplies each element before it is summed."""

    op: str
    keep: tuple[Dim, ...]
    reduce: tuple[Dim, ...]
    src: Operand
    dst: Operand
    accumulate: bool
    times: Operand | None = None

    def reads(self) -> list[Operand]:
        return [self.src] if self.times is None else [self.src, self.times]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        codes = (core.REDUCTIONS[self.op], core.DTYPES[self.dtype])
        operands = (self.src.encode(), self.dst.encode())
        dims = (list(self.keep), list(self.reduce))
        return "reduce", (*codes, *dims, *operands, self.accumulate, encode_optional(self.times))

    def run(self, frame: Frame) -> None:
        dims, dst = (*self.keep, *self.reduce), frame.view(self.dst, self.keep)
        x = frame.view(self.src, dims)
        if self.times is not None:
            x = x * frame.view(self.times, dims)
        x = x.reshape((*dst.shape, -1) if x.size else (*dst.shape, 0))
        if self.op == "argmax":
            value = np.argmax(x, axis=-1) if x.size else 0
        elif x.shape[-1] == 0:
            value = identity(self.op, dst.dtype)
        else:
            value = PRIMITIVES[self.op].value(x, axes=(x.ndim - 1,))
        accumulated(frame, dst, value, FOLDS[self.op]) if self.accumulate else np.copyto(dst, value)

    def within_limits(self) -> list[Reduction]:
        if len(self.keep) + len(self.reduce) <= MAX_DIMS:
            return [self]
        count = len(self.keep)
        keep, (src_keep, dst) = join(self.keep, [self.src.strides[:count], self.dst.strides])
        reduced, (src_reduced,) = join(self.reduce, [self.src.strides[count:]])
        src = with_strides(self.src, (*src_keep, *src_reduced))
        return replace(self, keep=keep, reduce=reduced, src=src, dst=with_strides(self.dst, dst)).unrolled()

    def unrolled(self) -> list[Reduction]:
        if len(self.keep) + len(self.reduce) <= MAX_DIMS or all(by_rows for _, by_rows in self.keep):
            return [self]
        axis = smallest(self.keep)
        keep = self.keep[:axis] + self.keep[axis + 1 :]
        found = []
        for index in range(self.keep[axis][0]):
            src, dst = (
                with_strides(o, without(o.strides, axis), index * o.strides[axis]) for o in (self.src, self.dst)
            )
            found += replace(self, keep=keep, src=src, dst=dst).unrolled()
        return found

    @property
    def title(self) -> str:
        return self.op

    def sizes(self) -> str:
        return f"{show_dims((*self.keep, *self.reduce))} -> {show_dims(self.keep)}"

    def details(self) -> str:
        notes = {"of products": self.times is not None, "over the rows": self.accumulate}
        return ", ".join(text for text, holds in notes.items() if holds)


@lowers("sum", "prod", "max", "min", "logsumexp", "argmax", joins=True)
def lower_reduction(node: Node, low: Lowering, product: Node | None = None) -> list[Instruction]:
    """A reduction; for a sum, ``product`` may be the summed product, which is then not computed separately."""
    axes = node.params["axes"] if "axes" in node.params else (node.params["axis"],)
    x, *others = node.inputs if product is None else product.inputs
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = row_axis(x.shape)
    keep_order = sorted(kept, key=lambda axis: axis != rows)
    reduce_order = sorted(axes, key=lambda axis: axis != rows)
    out = stored_strides(node.shape)

    def arranged(item: Node) -> Operand:
        strides = low.views[id(item)].strides
        return low.operand(item, tuple(strides[axis] for axis in (*keep_order, *reduce_order)))

    return [
        Reduction(
            (node,),
            name_of(x.dtype) if x.dtype != BOOL else "int64",
            node.primitive.name,
            dims_of(x.shape, keep_order),
            dims_of(x.shape, reduce_order),
            arranged(x),
            low.result(node, tuple(out[kept.index(axis)] for axis in keep_order)),
            id(node) in low.reducing,
            arranged(others[0]) if others else None,
        )
    ]
