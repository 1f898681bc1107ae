"""Matrix products. Kernel: ``native/kernels/product.h``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.graph.primitive import PRIMITIVES
from madaline.plan.collapse import MAX_DIMS, join, with_strides
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, accumulated, encode_optional, show_dims
from madaline.plan.instructions.elementwise import Chain
from madaline.plan.lowering import Lowering, dim_of, dims_of, lowers
from madaline.plan.views import broadcast_strides, physical_order


@dataclass(slots=True)
class MatrixProduct(Instruction):
    """``C = A B``, followed by operations on its rows while they are in cache: bias, relu, gate, a chain."""

    batch: tuple[Dim, ...]
    m: Dim
    n: Dim
    k: Dim
    A: Operand
    B: Operand
    C: Operand
    accumulate: bool
    bias: Operand | None = None
    relu: bool = False
    gate: Operand | None = None
    "Elements where it is not above 0 become 0."
    epilogue: Chain | None = None

    def reads(self) -> list[Operand]:
        chain = [] if self.epilogue is None else self.epilogue.reads()
        return [*(o for o in (self.A, self.B, self.bias, self.gate) if o is not None), *chain]

    def writes(self) -> list[Operand]:
        return [self.C] if self.epilogue is None else [self.C, *self.epilogue.writes()]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        sizes = (core.DTYPES[self.dtype], list(self.batch), self.m, self.n, self.k)
        operands = (self.A.encode(), self.B.encode(), self.C.encode())
        epilogue = None if self.epilogue is None else self.epilogue.encode(core)[1]
        rest = (self.accumulate, encode_optional(self.bias), self.relu, encode_optional(self.gate), epilogue)
        return "matmul", (*sizes, *operands, *rest)

    def run(self, frame: Frame) -> None:
        value = frame.view(self.A, (*self.batch, self.m, self.k)) @ frame.view(self.B, (*self.batch, self.k, self.n))
        C = frame.view(self.C, (*self.batch, self.m, self.n))
        if self.accumulate:
            accumulated(frame, C, value)
            return
        if self.bias is not None:
            value = value + frame.view(self.bias, (self.n,))
        if self.relu:
            value = PRIMITIVES["relu"].value(value)
        if self.gate is not None:
            value = np.where(frame.view(self.gate, (self.m, self.n)) > 0, value, 0)
        C[...] = value
        if self.epilogue is not None:
            self.epilogue.run(frame)

    def within_limits(self) -> list[MatrixProduct]:
        if len(self.batch) + 2 <= MAX_DIMS:
            return [self]
        operands = (self.A, self.B, self.C)
        batch, strides = join(self.batch, [operand.strides[:-2] for operand in operands])
        A, B, C = (with_strides(o, (*new, *o.strides[-2:])) for o, new in zip(operands, strides, strict=True))
        return [replace(self, batch=batch, A=A, B=B, C=C)]

    @property
    def title(self) -> str:
        return "product"

    def sizes(self) -> str:
        box = show_dims((self.m, self.n, self.k))
        return f"{show_dims(self.batch)} of {box}" if self.batch else box

    def details(self) -> str:
        notes = {"+ bias": self.bias, "relu": self.relu, "gate": self.gate, "over the rows": self.accumulate}
        steps = [text for text, there in notes.items() if there]
        if self.epilogue is not None:
            steps.append(f"then {self.epilogue.show_ops()}")
        return ", ".join(steps)


@lowers("matmul", joins=True)
def lower_matmul(node: Node, low: Lowering) -> list[Instruction]:
    """A product alone."""
    return [lower_product(node, node, low)]


def lower_product(
    node: Node,
    stored: Node,
    low: Lowering,
    *,
    bias: Node | None = None,
    relu: bool = False,
    gate: Node | None = None,
    epilogue: Chain | None = None,
) -> MatrixProduct:
    """A matrix product whose result, after bias, relu and gate, is the node ``stored``."""
    x, W = node.inputs
    strides = low.views[id(stored)].strides
    lead = physical_order(node.shape[:-2])

    def arranged(view_strides: tuple[int, ...]) -> tuple[int, ...]:
        return (*(view_strides[axis] for axis in lead), *view_strides[-2:])

    def transposed(view_strides: tuple[int, ...]) -> tuple[int, ...]:
        *first, rows, columns = arranged(view_strides)
        return (*first, columns, rows)

    if strides[-1] != 1 and node.shape[-1] != 1 and bias is None:
        # The batch axis is the last one, so the transpose is stored by rows: C' = W' x'.
        return MatrixProduct(
            (node,),
            name_of(node.dtype),
            dims_of(node.shape, lead),
            m=dim_of(node.shape[-1]),
            n=dim_of(node.shape[-2]),
            k=dim_of(x.shape[-1]),
            A=low.operand(W, transposed(low.views[id(W)].strides)),
            B=low.operand(x, transposed(low.views[id(x)].strides)),
            C=low.result(stored, (*transposed(strides)[:-1], 1)),
            accumulate=id(node) in low.reducing,
        )
    bias_operand = None
    if bias is not None:
        bias_strides = broadcast_strides(low.views[id(bias)].strides, bias.shape, node.shape)
        bias_operand = low.operand(bias, (bias_strides[-1],))
    # An axis with one column may have any stride; the core requires unit stride.
    out = arranged(strides)
    out = (*out[:-1], 1)
    return MatrixProduct(
        (node,) if stored is node else (node, stored),
        name_of(node.dtype),
        dims_of(node.shape, lead),
        dim_of(node.shape[-2]),
        dim_of(node.shape[-1]),
        dim_of(x.shape[-1]),
        low.operand(x, arranged(low.views[id(x)].strides)),
        low.operand(W, arranged(low.views[id(W)].strides)),
        low.result(stored, out),
        id(node) in low.reducing,
        bias_operand,
        relu,
        None if gate is None else low.operand(gate),
        epilogue,
    )
