"""Gradient descent on one row without storing the gradient.

With a batch of one row, the gradient of a matrix is an outer product ``a d^T``. If a step is

    w <- w - rate * (concatenated pieces),   each piece an outer product or a vector,

one instruction reads and writes each parameter once. Otherwise the gradient would be written and read again, and
displace the parameters from the first-level cache. Kernel: ``native/kernels/rank_one.h``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of
from madaline.graph.primitive import Primitive
from madaline.graph.shapes import Shape
from madaline.graph.trace import Graph
from madaline.plan.instructions.base import Frame, Instruction, Operand, encode_optional, plural
from madaline.plan.join import gaps, runs
from madaline.plan.lowering import Lowering, lowers
from madaline.plan.views import bare, width

Part = tuple[int, int, int]
"Start, rows and columns of a piece; a vector has 0 rows."


class _RankOneStep(Primitive, registered=False):
    """``w - rate * g`` for a flat ``g`` that consists of outer products and vectors.

    Arguments: w, rate, then for each part a (unless it is a vector) and d.
    """

    name = "rank_one_step"

    def shape(self, *shapes: Shape, **params: Any) -> Shape:
        return shapes[0]

    def value(self, *args: Any, **params: Any) -> Any:
        w, rate, *values = args
        result, given = w.copy(), iter(values)
        for start, rows, columns in params["parts"]:
            a = next(given).reshape(rows, 1) if rows else 1
            piece = (a * next(given).reshape(1, columns)).ravel()
            result[start : start + len(piece)] -= rate * piece
        return result

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 3 * width(shape)


RANK_ONE_STEP = _RankOneStep()


@dataclass(slots=True)
class RankOneStep(Instruction):
    """``dst = w - rate * g``, where ``g`` consists of outer products ``a d^T`` and vectors ``d``."""

    size: int
    w: Operand
    rate: Operand
    dst: Operand
    parts: tuple[tuple[int, int, int, Operand | None, Operand], ...]
    "The start of each part, its rows (0: a vector) and columns, ``a`` and ``d``."

    def reads(self) -> list[Operand]:
        factors = [operand for *_, a, d in self.parts for operand in (a, d) if operand is not None]
        return [self.w, self.rate, *factors]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        parts = [(*place, encode_optional(a), d.encode()) for *place, a, d in self.parts]
        operands = (self.w.encode(), self.rate.encode(), self.dst.encode())
        return "rank_one_step", (core.DTYPES[self.dtype], self.size, *operands, parts)

    def run(self, frame: Frame) -> None:
        w, dst = (frame.view(operand, ((self.size, False),)) for operand in (self.w, self.dst))
        (rate,) = frame.view(self.rate, ((1, False),))
        for start, rows, columns, a, d in self.parts:
            piece = frame.view(d, ((columns, False),))
            if a is not None:
                piece = np.outer(frame.view(a, ((rows, False),)), piece).ravel()
            place = slice(start, start + len(piece))
            dst[place] = w[place] - rate * piece

    @property
    def title(self) -> str:
        return "step"

    def sizes(self) -> str:
        return str(self.size)

    def details(self) -> str:
        outer = sum(rows > 0 for _, rows, *_ in self.parts)
        return f"{plural(outer, 'outer product')}, {plural(len(self.parts) - outer, 'vector')}"


@lowers("rank_one_step", contiguous=range(1 << 16))
def lower_rank_one_step(node: Node, low: Lowering) -> list[Instruction]:
    """A step whose gradient is never stored."""
    w, rate, *values = [low.operand(item, (1,)) for item in node.inputs]
    given = iter(values)
    parts = tuple(
        (start, rows, columns, next(given) if rows else None, next(given))
        for start, rows, columns in node.params["parts"]
    )
    return [RankOneStep((node,), name_of(node.dtype), width(node.shape), w, rate, low.operand(node), parts)]


def with_rank_one_steps(graph: Graph, donated: Mapping[int, int]) -> Graph:
    """The graph with each such step as one node: an output that overwrites the input it starts from."""
    outputs = list(graph.outputs)
    for output, given in donated.items():
        step = _step(outputs[output], graph.inputs[given])
        outputs[output] = outputs[output] if step is None else step
    return Graph(graph.inputs, tuple(outputs))


def _step(node: Node, w: Node) -> Node | None:
    if node.primitive.name != "subtract" or node.inputs[0] is not w or node.ndim != 1 or node.dtype.kind != "f":
        return None
    scaled = node.inputs[1]
    if scaled.primitive.name != "multiply" or scaled.shape != node.shape:
        return None
    rate, gradient = sorted(scaled.inputs, key=lambda item: item.ndim)
    pieces = _pieces(gradient) if gradient.shape == node.shape and rate.shape == () else None
    if pieces is None or not all(item.dtype == node.dtype for item in (rate, gradient)):
        return None
    parts: list[Part] = []
    values: list[Node] = []
    for piece, (first, last) in pieces:
        factors = _outer(piece)
        parts.append((first, width(factors[0].shape), width(factors[1].shape)) if factors else (first, 0, last - first))
        values.extend(factors or (_vector(piece),))
    if not any(rows for _, rows, _ in parts):
        return None
    return Node(RANK_ONE_STEP, (w, rate, *values), {"parts": tuple(parts)}, node.shape, node.dtype)


def _pieces(gradient: Node) -> list[tuple[Node, tuple[int, int]]] | None:
    """The pieces of a gradient with their ranges of elements, in order."""
    if gradient.primitive.name != "place":
        return [(gradient, (0, width(gradient.shape)))]
    return None if gaps(gradient) else runs(gradient)


def _outer(piece: Node) -> tuple[Node, Node] | None:
    """``a`` and ``d``, if the piece is ``a d^T``."""
    product = bare(piece)
    if product.primitive.name != "matmul" or product.ndim != 2 or product.inputs[1].shape[0] != 1:
        return None
    a, d = product.inputs
    return (a.inputs[0] if a.primitive.name == "transpose" else a), d


def _vector(piece: Node) -> Node:
    """The piece, or its only term if it is a sum of one."""
    node = bare(piece)
    is_sum_of_one = node.primitive.name == "sum" and width(node.inputs[0].shape) == width(node.shape)
    return node.inputs[0] if is_sum_of_one else piece
