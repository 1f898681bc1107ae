"""Softmax cross-entropy and its derivative in one pass over the rows.

Traced and differentiated, the loss is nine instructions over small arrays, whose overhead exceeds their work. If the
graph contains all of

    s = z - max_j z_j,   l = log sum_j exp(s_j),   r = l - s_k,   g exp(s - l) - g e_k

for few classes, with the class ``k`` and a factor ``g`` of the row, one instruction computes ``r`` and the derivative.
Kernel: ``native/kernels/class_loss.h``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node, name_of, substitute, topological_order
from madaline.graph.primitive import PRIMITIVES, Primitive
from madaline.graph.shapes import Rows, Shape
from madaline.graph.trace import Graph
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, check_indices, show_dims
from madaline.plan.lowering import Lowering, dim_of, lowers
from madaline.plan.views import bare, is_number

MOST_CLASSES = 64
"Maximum number of classes: with more, separate instructions cost little, and sums over classes are sequential here."


class _ClassLoss(Primitive, registered=False):
    """``(n, c + 1)``: the derivatives with respect to ``c`` logits, then the loss of the row. Arguments: z, k, g."""

    name = "class_loss"

    def shape(self, *shapes: Shape, **params: Any) -> Shape:
        n, c = shapes[0]
        return (n, c + 1)

    def value(self, *args: Any, **params: Any) -> Any:
        z, k, g = args
        s = z - z.max(axis=1, keepdims=True)
        total = PRIMITIVES["logsumexp"].value(s, axes=(1,))
        slope = g[:, None] * np.exp(s - total[:, None])
        rows = np.arange(len(z))
        slope[rows, k] -= g
        return np.column_stack([slope, total - s[rows, k]])

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        n, c = shapes[0]
        return 8 * n * c

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return True


CLASS_LOSS = _ClassLoss()


@dataclass(slots=True)
class SoftmaxCrossEntropy(Instruction):
    """Softmax cross-entropy: the derivatives for ``classes`` logits, followed by the loss of each row."""

    n: Dim
    classes: int
    logits: Operand
    indices: Operand
    factor: Operand
    dst: Operand

    def reads(self) -> list[Operand]:
        return [self.logits, self.indices, self.factor]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        operands = [operand.encode() for operand in self.operands()]
        return "class_loss", (core.DTYPES[self.dtype], self.n, self.classes, *operands)

    def run(self, frame: Frame) -> None:
        z = frame.view(self.logits, (self.n, (self.classes, False)))
        k, g = frame.view(self.indices, (self.n,)), frame.view(self.factor, (self.n,))
        check_indices("class_loss", k, self.classes)
        frame.view(self.dst, (self.n, (self.classes + 1, False)))[...] = CLASS_LOSS.value(z, k, g)

    @property
    def title(self) -> str:
        return "class loss"

    def sizes(self) -> str:
        return show_dims((self.n, (self.classes, False)))


@lowers("class_loss")
def lower_class_loss(node: Node, low: Lowering) -> list[Instruction]:
    """The loss and its derivative."""
    operands = [low.operand(item) for item in (*node.inputs, node)]
    n, columns = node.shape  # the derivatives for the classes, then the loss
    assert isinstance(columns, int)
    return [SoftmaxCrossEntropy((node,), name_of(node.dtype), dim_of(n), columns - 1, *operands)]


@dataclass(frozen=True, slots=True)
class _Match:
    loss: Node
    slope: Node
    z: Node
    classes: Node
    factor: Node


def with_class_losses(graph: Graph) -> Graph:
    """The graph with each such loss as one node."""
    nodes = topological_order(graph.outputs)
    losses = dict(pair for node in nodes for pair in _loss(node))
    every = [found for node in nodes if (found := _found(node, losses)) is not None]
    made_here = {id(node) for found in every for node in (found.loss, found.slope)}
    replaced: dict[int, Node] = {}
    for found in every:
        # A factor that depends on the loss, as in a focal loss, cannot be computed before it.
        if not any(id(node) in made_here for node in topological_order([found.factor])):
            replaced |= _parts(found)
    return Graph(graph.inputs, tuple(substitute(graph.outputs, replaced))) if replaced else graph


_Key = tuple[int, int, int]
"Ids of l, s and k."


def _loss(node: Node) -> list[tuple[_Key, Node]]:
    """The node with its key, if it is ``l - s_k``."""
    if node.primitive.name != "subtract":
        return []
    total, own = node.inputs[0], bare(node.inputs[1])
    is_loss = total.primitive.name == "logsumexp" and own.primitive.name == "take_along" and node.ndim == 1
    return [((id(total), id(own.inputs[0]), id(own.inputs[1])), node)] if is_loss else []


def _found(slope: Node, losses: Mapping[_Key, Node]) -> _Match | None:
    """The loss whose derivative a node is, if it has few classes."""
    if slope.primitive.name != "add" or slope.ndim != 2 or slope.dtype.kind != "f":
        return None
    n, classes = slope.shape
    if isinstance(classes, Rows) or classes > MOST_CLASSES:
        return None
    spread, scaled = _first(slope.inputs, "scatter_along")
    power, factor = _first(scaled.inputs, "exp") if scaled.primitive.name == "multiply" else (scaled, None)
    if spread.primitive.name != "scatter_along" or power.primitive.name != "exp":
        return None
    negated, indices = bare(spread.inputs[0]), spread.inputs[1]
    difference = power.inputs[0]
    if negated.primitive.name != "negative" or difference.primitive.name != "subtract":
        return None
    row = negated.inputs[0]
    shifted, total = difference.inputs[0], bare(difference.inputs[1])
    loss = losses.get((id(total), id(shifted), id(indices)))
    z = _unshifted(shifted)
    same_factor = is_number(bare(row), 1) if factor is None else bare(factor) is bare(row)
    fits = row.shape == (n,) == bare(indices).shape and same_factor
    if loss is None or z is None or not fits or z.shape != slope.shape or total.inputs != (shifted,):
        return None
    return _Match(loss, slope, z, bare(indices), row)


def _unshifted(node: Node) -> Node | None:
    """``z``, if the node is ``z - max_j z_j``."""
    if node.primitive.name != "subtract":
        return None
    z, largest = node.inputs[0], bare(node.inputs[1])
    is_shift = largest.primitive.name == "max" and largest.inputs == (z,) and largest.params["axes"] == (1,)
    return z if is_shift else None


def _parts(found: _Match) -> dict[int, Node]:
    """The replacements of the loss and the derivative: views of the combined result."""
    n, classes = found.slope.shape
    arguments = (found.z, found.classes, found.factor)
    whole = Node(CLASS_LOSS, arguments, {}, CLASS_LOSS.shape(found.z.shape), found.slope.dtype)
    slope, last = (
        Node(PRIMITIVES["slice"], (whole,), {"starts": (0, start), "shape": shape, "steps": (1, 1)}, shape, whole.dtype)
        for start, shape in ((0, (n, classes)), (classes, (n, 1)))
    )
    return {
        id(found.slope): slope,
        id(found.loss): Node(PRIMITIVES["reshape"], (last,), {"shape": (n,)}, (n,), whole.dtype),
    }


def _first(nodes: Sequence[Node], name: str) -> Sequence[Node]:
    """Two nodes, one of this name first."""
    return nodes if nodes[0].primitive.name == name else nodes[::-1]
