"""How to write each primitive with ONNX operators.

Where onnxruntime has an operator for float32 only, float64 values are converted to it and back (``_single``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.graph.node import BOOL, Node
from madaline.graph.shapes import Rows, size_of
from madaline.ship.script import concatenated

if TYPE_CHECKING:
    from madaline.ship.onnx_graph import Builder

TARGET = "ONNX"

Rule = Callable[["Builder", Node, list[str]], str]
"A function from a node and the names of its arguments to the name of its result."


def _op(kind: str) -> Rule:
    return lambda b, node, x: b.op(kind, *x)


def _single(kind: str) -> Rule:
    def rule(b: Builder, node: Node, x: list[str]) -> str:
        if node.inputs[0].dtype != np.float64:
            return b.op(kind, *x)
        return b.cast(b.op(kind, *(b.cast(each, np.float32) for each in x)), node.dtype)

    return rule


def _compare(kind: str) -> Rule:
    def rule(b: Builder, node: Node, x: list[str]) -> str:
        masks = node.inputs[0].dtype == BOOL and kind != "Equal"
        return b.op(kind, *(b.cast(each, np.int64) for each in x) if masks else x)

    return rule


def _not_equal(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("Not", b.op("Equal", *x))


def _floor_divide(b: Builder, node: Node, x: list[str]) -> str:
    if node.dtype.kind == "f":
        return b.op("Floor", b.op("Div", *x))
    return b.op("Div", b.op("Sub", x[0], b.op("Mod", *x)), x[1])


def _remainder(b: Builder, node: Node, x: list[str]) -> str:
    if node.dtype.kind != "f":
        return b.op("Mod", *x)
    return b.op("Sub", x[0], b.op("Mul", x[1], b.op("Floor", b.op("Div", *x))))


def _cbrt(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("Mul", b.op("Sign", *x), b.op("Pow", b.op("Abs", *x), b.like(1 / 3, node)))


def _copysign(b: Builder, node: Node, x: list[str]) -> str:
    size = b.op("Abs", x[0])
    return b.op("Where", b.op("Less", x[1], b.like(0, node)), b.op("Neg", size), size)


def _trunc(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("Mul", b.op("Sign", *x), b.op("Floor", b.op("Abs", *x)))


def _expm1(b: Builder, node: Node, x: list[str]) -> str:
    # tanh(x/2) (e^x + 1), which is accurate near 0.
    half = b.op("Tanh", b.op("Mul", x[0], b.like(0.5, node)))
    return b.op("Mul", half, b.op("Add", b.op("Exp", x[0]), b.like(1, node)))


def _log1p(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("Log", b.op("Add", x[0], b.like(1, node)))


def _logarithm(base: float) -> Rule:
    return lambda b, node, x: b.op("Mul", b.op("Log", *x), b.like(1 / math.log(base), node))


def _isfinite(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("Not", b.op("Or", b.op("IsNaN", *x), b.op("IsInf", *x)))


def _relu(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("Relu", *x) if node.dtype.kind == "f" else b.op("Max", *x, b.like(0, node))


def _softplus(b: Builder, node: Node, x: list[str]) -> str:
    # max(x, 0) + log(1 + e^-|x|)
    small = b.op("Exp", b.op("Neg", b.op("Abs", *x)))
    return b.op("Add", b.op("Relu", *x), b.op("Log", b.op("Add", small, b.like(1, node))))


def _arctan2(b: Builder, node: Node, args: list[str]) -> str:
    # The arctangent of the quotient, plus or minus pi where x < 0; 0 for 0/0.
    s, x = args
    zero, pi = b.like(0, node), b.like(math.pi, node)
    angle = _single("Atan")(b, node, [b.op("Div", s, x)])
    turned = b.op("Where", b.op("Less", s, zero), b.op("Sub", angle, pi), b.op("Add", angle, pi))
    angle = b.op("Where", b.op("Less", x, zero), turned, angle)
    both = b.op("And", b.op("Equal", s, zero), b.op("Equal", x, zero))
    return b.op("Where", both, zero, angle)


def _cast(b: Builder, node: Node, x: list[str]) -> str:
    return b.cast(x[0], node.dtype)


def _reduction(kind: str) -> Rule:
    def rule(b: Builder, node: Node, x: list[str]) -> str:
        given = b.cast(x[0], node.dtype) if node.inputs[0].dtype != node.dtype else x[0]
        if not node.params["axes"]:
            return given
        return b.op(kind, given, b.constant(node.params["axes"], np.int64), keepdims=0)

    return rule


def _argsort(b: Builder, node: Node, x: list[str]) -> str:
    size: Any = node.shape[node.params["axis"]]
    count = b.rows(size) if isinstance(size, Rows) else b.constant([size], np.int64)
    name = b.op("TopK", x[0], count, axis=node.params["axis"], largest=0, sorted=1)
    b.operators[-1].output[:] = [b.new(f"{name}_values"), name]
    return name


def _cumsum(b: Builder, node: Node, x: list[str]) -> str:
    given = b.cast(x[0], node.dtype) if node.inputs[0].dtype != node.dtype else x[0]
    return b.op("CumSum", given, b.constant(node.params["axis"], np.int64), reverse=int(node.params["reverse"]))


def _slice(b: Builder, node: Node, x: list[str]) -> str:
    starts, steps, whole = node.params["starts"], node.params["steps"], node.inputs[0].shape
    ends = tuple(
        start + (count + -1) * step + 1 if count != 0 else start
        for start, count, step in zip(starts, node.shape, steps, strict=True)
    )
    axes = [
        axis
        for axis, window in enumerate(zip(starts, node.shape, steps, whole, strict=True))
        if window[0] != 0 or window[1] != window[3] or window[2] != 1
    ]
    chosen = [tuple(each[axis] for axis in axes) for each in (starts, ends, steps)]
    return b.op("Slice", x[0], b.shape(chosen[0]), b.shape(chosen[1]), b.constant(axes, np.int64), b.shape(chosen[2]))


def _place(b: Builder, node: Node, x: list[str]) -> str:
    axis = concatenated(node)
    if axis is not None:
        return b.op("Concat", *x, axis=axis)
    total = ""
    for piece, name, starts, steps in zip(node.inputs, x, node.params["starts"], node.params["steps"], strict=True):
        spread = _spread(b, node, piece, name, starts, steps)
        total = b.op("Add", total, spread) if total else spread
    return b.cast(total, node.dtype) if node.dtype == BOOL else total


def _spread(b: Builder, node: Node, piece: Node, name: str, starts: Any, steps: Any) -> str:
    """A piece among zeros: a zero is appended to it, and every position takes one of its elements or that zero."""
    name = b.cast(name, np.int64) if node.dtype == BOOL else name
    for axis, (whole, size) in enumerate(zip(node.shape, piece.shape, strict=True)):
        if whole == size:
            continue
        if isinstance(whole, Rows) or isinstance(size, Rows):
            raise b.inference.error(node, TARGET, "places rows at positions that depend on the number of rows")
        taken = np.full(whole, size)
        taken[starts[axis] + steps[axis] * np.arange(size)] = np.arange(size)
        pads = np.zeros((2, len(node.shape)), np.int64)
        pads[1, axis] = 1
        padded = b.op("Pad", name, b.constant(pads.ravel()))
        name = b.op("Gather", padded, b.constant(taken, np.int64), axis=axis)
    return name


def _flip(b: Builder, node: Node, x: list[str]) -> str:
    axes = node.params["axes"]
    bounds = [[-1] * len(axes), [np.iinfo(np.int64).min] * len(axes), axes, [-1] * len(axes)]
    return b.op("Slice", x[0], *(b.constant(bound, np.int64) for bound in bounds))


def _zeros(b: Builder, node: Node, shape: Any) -> str:
    return b.op("Expand", b.like(0, node), b.shape(shape))


def _scatter_add(b: Builder, node: Node, x: list[str]) -> str:
    # As an array (before, k, after), scattered along its middle axis by indices repeated along the others.
    v, indices = node.inputs
    axis, size = node.params["axis"], node.params["size"]
    before, after = size_of(v.shape[:axis]), size_of(v.shape[axis + indices.ndim :])
    table = b.shape((before, size_of(indices.shape), after))
    repeated = b.op("Expand", b.op("Reshape", x[1], b.shape((1, size_of(indices.shape), 1))), table)
    zeros = _zeros(b, node, (before, size, after))
    values = b.op("Reshape", x[0], table)
    return b.op(
        "Reshape", b.op("ScatterElements", zeros, repeated, values, axis=1, reduction="add"), b.shape(node.shape)
    )


def _scatter_along(b: Builder, node: Node, x: list[str]) -> str:
    return b.op("ScatterElements", _zeros(b, node, node.shape), x[1], x[0], axis=len(node.shape) - 1, reduction="add")


def _row_count(b: Builder, node: Node, x: list[str]) -> str:
    size = b.op("Reshape", b.rows(node.params["rows"]), b.constant(np.zeros(0, np.int64)))
    return b.cast(size, node.dtype)


RULES: dict[str, Rule] = {
    "add": _op("Add"),
    "subtract": _op("Sub"),
    "multiply": _op("Mul"),
    "divide": _op("Div"),
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "fmod": lambda b, node, x: b.op("Mod", *x, fmod=1),
    "power": _op("Pow"),
    "negative": _op("Neg"),
    "absolute": _op("Abs"),
    "sign": _op("Sign"),
    "square": lambda b, node, x: b.op("Mul", x[0], x[0]),
    "reciprocal": _op("Reciprocal"),
    "sqrt": _op("Sqrt"),
    "cbrt": _cbrt,
    "cast": _cast,
    "maximum": _op("Max"),
    "minimum": _op("Min"),
    "where": _op("Where"),
    "copysign": _copysign,
    "floor": _op("Floor"),
    "ceil": _op("Ceil"),
    "trunc": _trunc,
    "rint": _op("Round"),
    "exp": _op("Exp"),
    "exp2": lambda b, node, x: b.op("Pow", b.like(2, node), x[0]),
    "expm1": _expm1,
    "log": _op("Log"),
    "log2": _logarithm(2),
    "log10": _logarithm(10),
    "log1p": _log1p,
    "equal": _compare("Equal"),
    "not_equal": _not_equal,
    "less": _compare("Less"),
    "less_equal": _compare("LessOrEqual"),
    "greater": _compare("Greater"),
    "greater_equal": _compare("GreaterOrEqual"),
    "isnan": _op("IsNaN"),
    "isinf": _op("IsInf"),
    "isfinite": _isfinite,
    "logical_and": _op("And"),
    "logical_or": _op("Or"),
    "logical_xor": _op("Xor"),
    "logical_not": _op("Not"),
    "sigmoid": _op("Sigmoid"),
    "softplus": _softplus,
    "relu": _relu,
    "erf": _single("Erf"),
    "sin": _op("Sin"),
    "cos": _op("Cos"),
    "tan": _single("Tan"),
    "arcsin": _single("Asin"),
    "arccos": _single("Acos"),
    "arctan": _single("Atan"),
    "arctan2": _arctan2,
    "sinh": _single("Sinh"),
    "cosh": _single("Cosh"),
    "tanh": _op("Tanh"),
    "arcsinh": _single("Asinh"),
    "arccosh": _single("Acosh"),
    "arctanh": _single("Atanh"),
    "matmul": _op("MatMul"),
    "transpose": lambda b, node, x: b.op("Transpose", x[0], perm=list(node.params["axes"])),
    "sum": _reduction("ReduceSum"),
    "prod": _reduction("ReduceProd"),
    "max": _reduction("ReduceMax"),
    "min": _reduction("ReduceMin"),
    "logsumexp": _reduction("ReduceLogSumExp"),
    "argmax": lambda b, node, x: b.op("ArgMax", x[0], axis=node.params["axis"], keepdims=0),
    "argsort": _argsort,
    "cumsum": _cumsum,
    "reshape": lambda b, node, x: b.op("Reshape", x[0], b.shape(node.shape)),
    "broadcast_to": lambda b, node, x: b.op("Expand", x[0], b.shape(node.shape)),
    "slice": _slice,
    "place": _place,
    "flip": _flip,
    "take": lambda b, node, x: b.op("Gather", *x, axis=node.params["axis"]),
    "scatter_add": _scatter_add,
    "take_along": lambda b, node, x: b.op("GatherElements", *x, axis=len(node.shape) - 1),
    "scatter_along": _scatter_along,
    "row_count": _row_count,
    "identity": _op("Identity"),
    "stop_gradient": _op("Identity"),
}
"How to write each primitive with ONNX."
