"""Random well-formed graphs over all primitives, for tests that compare two ways to run the same graph.

One builder, two sources of choices: hypothesis (which can shrink a failure) and a seeded generator (for recordings).
Inputs are multiples of 1/8, so that ties and kinks do occur; what jumps at a kink (rounding, comparisons, the choice of
a maximum) is only fed with values that every executor computes to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

import madaline.graph.numpy_api.dispatch  # noqa: F401 - nodes need NumPy's functions
from madaline.errors import DtypeError, ShapeError
from madaline.graph.node import Node, as_node, constant, is_float, new_input, topological_order
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.reverse_mode import cotangents
from madaline.graph.shapes import Rows, Shape, is_symbolic, resolve
from madaline.graph.trace import Graph

Pick = Callable[[Sequence[Any]], Any]

SIZES = (1, 2, 3, 5, 2, 3, 1, 0)
EMPTY_SIZES = (1, 2, 3, 0, 0)
ROWS = Rows()

# The same bits in every executor: one correctly rounded operation, or none. Their results may steer choices.
CORRECTLY_ROUNDED = {"add", "subtract", "multiply", "divide", "square", "sqrt", "reciprocal", "negative", "absolute"}
EXACT = {"sign", "relu", "maximum", "minimum", "floor", "ceil", "trunc", "rint", "copysign"}
JUMPING = EXACT | {"absolute"}
EXACT |= {"identity", "stop_gradient"}
JUMPING_DIVISIONS = ("floor_divide", "remainder", "fmod")
TAME = {"negative", "sin", "cos", "tanh", "sigmoid", "softplus", "erf", "arctan", "arcsinh", "add", "subtract"}
TAME |= {"identity", "stop_gradient"}
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
TESTS = ("isnan", "isinf", "isfinite")
LOGIC = ("logical_and", "logical_or", "logical_xor")
ELEMENTWISE = {p.name: p for p in PRIMITIVES if isinstance(p, Elementwise) and not p.library}
SPECIAL = {*COMPARISONS, *TESTS, *LOGIC, "logical_not", "where", "cast", *JUMPING_DIVISIONS}
UNARY = tuple(sorted(n for n, p in ELEMENTWISE.items() if n not in SPECIAL and len(p.domains) == 1))
BINARY = tuple(sorted(n for n, p in ELEMENTWISE.items() if n not in SPECIAL and len(p.domains) == 2))


@dataclass
class Case:
    """A graph and how to make arguments for it."""

    graph: Graph
    seed: int | Sequence[int]

    def arguments(self, n_rows: int = 0) -> list[np.ndarray]:
        """Values for the inputs, the same at every call."""
        rng = np.random.default_rng(self.seed)
        return [grid(rng, resolve(node.shape, n_rows), node.dtype) for node in self.graph.inputs]

    @property
    def gradient(self) -> Graph | None:
        """The graph of the gradient of a weighted sum of the float outputs; None if no input is a float."""
        by = [node for node in self.graph.inputs if is_float(node.dtype)]
        outputs = [node for node in self.graph.outputs if is_float(node.dtype)]
        if not by or not outputs:
            return None
        weights = [np.cos(1.0 + index) for index in range(len(outputs))]
        seeds = [np.broadcast_to(constant(w, node.dtype), node.shape) for w, node in zip(weights, outputs, strict=True)]
        bars = cotangents(outputs, by, seeds)
        slopes = tuple(node._zeros() if bar is None else bar for node, bar in zip(by, bars, strict=True))
        return Graph(self.graph.inputs, slopes)

    def __repr__(self) -> str:
        return f"Case(seed={self.seed})\n{self.graph}"


def same(a: Any, b: Any) -> bool:
    """Whether two sizes are equal, where the number of rows equals no number."""
    return isinstance(a, Rows) == isinstance(b, Rows) and a == b


def grid(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Small multiples of 1/8, small integers, or booleans."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, size=shape).astype(np.bool_)
    if kind == "i":
        return rng.integers(0, 4, size=shape)
    return (rng.integers(-16, 17, size=shape) / 8).astype(dtype)


@dataclass
class Builder:
    """Grows a graph one random operation at a time."""

    pick: Pick
    dtype: str = "float64"
    batch: bool = False
    wide: bool = False
    "Whether every primitive is given values of every type; those that cannot take them refuse when the node is made."
    only: tuple[str, ...] | None = None
    "Names of the steps to choose from; all of them unless given."
    pool: list[Node] = field(default_factory=list)
    inputs: list[Node] = field(default_factory=list)
    steady: set[int] = field(default_factory=set)
    "Ids of the values that every executor computes to the same bits."

    def build(self, n_steps: int) -> Graph:
        for index in range(3 if self.wide else self.pick((1, 2, 3))):
            self._input(index)
        steps = self.only or STEPS
        for _ in range(n_steps):
            try:
                _STEPS[self.pick(steps)](self)
            except ShapeError:
                continue
            except DtypeError:
                if not self.wide:
                    raise
        made = self.pool[len(self.inputs) :] or self.pool
        outputs = [made[-1]] + [self.pick(self.pool) for _ in range(self.pick((0, 1, 2)))]
        return Graph(tuple(self.inputs), tuple(outputs))

    def _input(self, index: int) -> None:
        shape = self.shape()
        if self.batch and (index == 0 or self.pick((True, False))):
            shape = (ROWS, *shape[:2])
        dtype = self.pick((self.dtype,) * 6 + ("int64", "bool")) if index else self.dtype
        dtype = (self.dtype, "int64", "bool")[index] if self.wide else dtype
        self.inputs.append(self.add(new_input(index, shape, dtype), steady=True))

    def kinds(self, usual: str) -> str:
        """The usual kinds of values for a step, or one of all kinds."""
        return self.pick("fib") if self.wide else usual

    def shape(self) -> Shape:
        return tuple(self.pick(EMPTY_SIZES if self.wide else SIZES) for _ in range(self.pick((2, 1, 3, 0, 2))))

    def add(self, node: Any, *, steady: bool = False) -> Node:
        node = as_node(node)
        self.pool.append(node)
        if steady:
            self.steady.add(id(node))
        return node

    def any(self, kind: str = "f", *, steady: bool = False, rank: int = 0) -> Node:
        found = [
            n for n in self.pool if n.dtype.kind in kind and n.ndim >= rank and (not steady or id(n) in self.steady)
        ]
        if not found:
            raise ShapeError("nothing to choose from")
        return self.pick(found[-6:] + found[:2])

    def is_steady(self, *nodes: Node) -> bool:
        return all(id(node) in self.steady for node in nodes)

    def partner(self, x: Node, kind: str = "f", *, steady: bool = False) -> Any:
        """Something that broadcasts against ``x``: another value, a row, a column, or a number."""
        how = self.pick(("value", "value", "reduced", "number", "array"))
        if how == "number" or kind == "b":
            y: Any = constant(self.pick((0.5, -1.25, 2.0, 1.0, 0.0, -0.0)) if kind == "f" else 1, x.dtype)
            self.steady.add(id(y))
            self.pool.append(y)
        elif how == "array":
            shape = tuple(1 if isinstance(s, Rows) or self.pick((False, True)) else s for s in x.shape)
            y = constant(grid(np.random.default_rng(len(self.pool)), shape, x.dtype))
            self.add(y, steady=True)
        elif how == "reduced" and x.ndim:
            axis = self.pick(range(x.ndim))
            if same(x.shape[axis], 0):
                raise ShapeError("nothing to reduce")
            if self.is_steady(x):
                y = np.min(x, axis=axis, keepdims=True)
                self.steady.add(id(y))
            else:
                y = np.mean(x, axis=axis, keepdims=True)
            self.pool.append(y)
        else:
            y = self.any(kind, steady=steady)
        return y.astype(x.dtype) if kind == "f" else y

    def squash(self, x: Node, domain: tuple[float, float]) -> Node:
        low, high = domain
        return (low + high) / 2 + (high - low) / 2 * np.tanh(x)


def _unary(b: Builder) -> None:
    primitive = ELEMENTWISE[b.pick(UNARY)]
    x = b.any(steady=primitive.name in JUMPING)
    if primitive.name not in TAME | JUMPING:
        x = b.squash(x, primitive.domains[0])
    b.add(primitive(x), steady=primitive.name in EXACT | CORRECTLY_ROUNDED and b.is_steady(x))


def _binary(b: Builder) -> None:
    primitive = ELEMENTWISE[b.pick(BINARY)]
    steady = primitive.name in JUMPING
    x = b.any(steady=steady)
    y = b.partner(x, steady=steady)
    if steady and not b.is_steady(x, y):
        raise ShapeError("a cast changed the bits")
    tame = steady or (primitive.name in TAME | {"multiply"} and b.is_steady(x, y))
    if not tame:
        x, y = (b.squash(value, domain) for value, domain in zip((x, y), primitive.domains, strict=True))
    if b.pick((True, True, False)) and primitive.domains[0] == primitive.domains[1]:
        x, y = y, x
    b.add(primitive(x, y), steady=primitive.name in EXACT | CORRECTLY_ROUNDED and b.is_steady(x, y))


def _division(b: Builder) -> None:
    x = b.any(steady=True)
    divisor = constant(b.pick((0.75, 1.5, -0.5, 2.0)), x.dtype)
    b.add(ELEMENTWISE[b.pick(JUMPING_DIVISIONS)](x, divisor))


def _integers(b: Builder) -> None:
    x = b.any("i")
    name = b.pick(("add", "subtract", "multiply", "maximum", "minimum", "negative", "floor_divide", "remainder"))
    if name == "negative":
        y = -x
    elif name in JUMPING_DIVISIONS:
        y = ELEMENTWISE[name](x, b.pick((3, -2, 1)))
    else:
        y = ELEMENTWISE[name](x, b.partner(x, "i"))
    # Kept small, since a chain may hold integers as exact doubles only.
    b.add(ELEMENTWISE["remainder"](y, 7), steady=True)


def _compare(b: Builder) -> None:
    x = b.any("fi", steady=True)
    kind = x.dtype.kind
    y = b.any(kind, steady=True)
    if x.dtype != y.dtype:
        raise ShapeError("a cast may change the bits")
    b.add(ELEMENTWISE[b.pick(COMPARISONS)](x, y), steady=True)


def _test(b: Builder) -> None:
    b.add(ELEMENTWISE[b.pick(TESTS)](b.any()), steady=True)


def _logic(b: Builder) -> None:
    x = b.any("b")
    name = b.pick((*LOGIC, "logical_not"))
    b.add(~x if name == "logical_not" else ELEMENTWISE[name](x, b.any("b")), steady=True)


def _where(b: Builder) -> None:
    condition, x = b.any("b"), b.any(b.pick("fffib"))
    y = b.partner(x, x.dtype.kind)
    b.add(ELEMENTWISE["where"](condition, x, y), steady=b.is_steady(condition, x, y))


def _cast(b: Builder) -> None:
    x = b.any("fib", steady=True)
    to = b.pick((b.dtype, "float64", "float32", "int64", "bool"))
    if x.dtype.kind == "f" and to == "int64":
        x = np.clip(x, -64.0, 64.0)
    narrows = x.dtype == np.float64 and to == "float32"
    b.add(x.astype(to), steady=not narrows or b.is_steady(x))


def _reduce(b: Builder) -> None:
    name = b.pick(("sum", "sum", "max", "min", "logsumexp", "prod"))
    kinds = "f" if name in ("logsumexp", "prod") else b.pick("ffi")
    x = b.any(b.kinds(kinds), steady=name in ("max", "min"))
    axes = tuple(axis for axis in range(x.ndim) if b.pick((True, False)))
    if name == "prod":
        if any(isinstance(x.shape[axis], Rows) for axis in axes):
            raise ShapeError("a product over the batch has no derivative while the number of rows is open")
        x = b.squash(x, (0.5, 1.5)) if x.dtype.kind == "f" else x
    if not axes:
        return
    result = PRIMITIVES[name](x, axes=axes)
    if result.dtype.kind == "i":
        result = ELEMENTWISE["remainder"](result, 7)
    b.add(result, steady=name in ("max", "min") or result.dtype.kind != "f")


def _mean(b: Builder) -> None:
    """Divides by the size of an axis, which may be the number of rows."""
    x = b.any(rank=1)
    b.add(x.sum(axis=0) / (x.shape[0] + 1))


def _argmax(b: Builder) -> None:
    x = b.any(b.kinds("fi"), steady=True, rank=1)
    b.add(PRIMITIVES["argmax"](x, axis=b.pick(range(x.ndim))), steady=True)


def _argsort(b: Builder) -> None:
    x = b.any(b.kinds("fi"), steady=True, rank=1)
    b.add(PRIMITIVES["argsort"](x, axis=b.pick(range(x.ndim))), steady=True)


def _cumsum(b: Builder) -> None:
    x = b.any(b.kinds(b.pick("ffi")), rank=1)
    axis = b.pick(range(x.ndim))
    if isinstance(x.shape[axis], Rows):
        x = b.squash(x.astype(b.dtype), (-0.1, 0.1))
    y = PRIMITIVES["cumsum"](x, axis=axis, reverse=b.pick((True, False)))
    b.add(ELEMENTWISE["remainder"](y, 7) if y.dtype.kind == "i" else y, steady=y.dtype.kind == "i")


def _matmul(b: Builder) -> None:
    x = b.any(rank=2)
    x = b.squash(x, (-1.0, 1.0))
    how = b.pick(("weights", "weights", "transposed weights", "self", "other", "bias and relu"))
    n_in, n_out = x.shape[-1], b.pick(SIZES)
    if how == "self":
        y = x @ x.mT if b.pick((True, False)) else x.mT @ x
    elif how == "other":
        other = b.squash(b.any(rank=2).astype(x.dtype), (-1.0, 1.0))
        y = x @ other if b.pick((True, False)) else x.mT @ other
    else:
        if isinstance(n_in, Rows):
            raise ShapeError("weights have no batch axis")
        rng = np.random.default_rng(len(b.pool))
        lead = () if any(isinstance(size, Rows) for size in x.shape[:-2]) else x.shape[:-2]
        shape = (n_in, n_out) if how != "transposed weights" else (n_out, n_in)
        W = constant(grid(rng, (*lead, *shape), x.dtype) / 2)
        y = x @ (W.mT if how == "transposed weights" else W)
        if how == "bias and relu":
            y = y + constant(grid(rng, (n_out,), x.dtype))
    b.add(y)


def _reshape(b: Builder) -> None:
    x = b.any("fib")
    known = 1
    for size in x.shape:
        known *= 1 if isinstance(size, Rows) else size
    factors: list[Any] = [1]
    for prime in (2, 3, 5):
        while known and known % prime == 0:
            known //= prime
            if b.pick((True, False)):
                factors.append(prime)
            else:
                factors[-1] *= prime
    if known == 0:
        factors = [b.pick((0, 2)), 0]
    rows = [axis for axis, size in enumerate(x.shape) if isinstance(size, Rows)]
    if rows:
        factors.insert(b.pick((0, *range(len(factors) + 1))), ROWS)
    b.add(x.reshape(tuple(factors)), steady=b.is_steady(x))


def _transpose(b: Builder) -> None:
    x = b.any("fib", rank=1)
    axes = list(range(x.ndim))
    order = [axes.pop(b.pick(range(len(axes)))) for _ in range(x.ndim)]
    b.add(PRIMITIVES["transpose"](x, axes=tuple(order)), steady=b.is_steady(x))


def _broadcast(b: Builder) -> None:
    x = b.any("fib")
    if x.ndim >= 4:
        return
    rows = any(isinstance(size, Rows) for size in x.shape)
    grown = []
    for size in x.shape:
        bigger = b.pick((1, 2, 3)) if same(size, 1) else size
        if same(size, 1) and b.batch and not rows and b.pick((True, False)):
            bigger, rows = ROWS, True
        grown.append(bigger)
    lead = tuple(b.pick((1, 2)) for _ in range(b.pick((0, 0, 1))))
    b.add(np.broadcast_to(x, (*lead, *grown)), steady=b.is_steady(x))


def _slice(b: Builder) -> None:
    x = b.any("fib", rank=1)
    index: list[Any] = []
    for size in x.shape:
        if isinstance(size, Rows) or size == 0 or b.pick((True, False)):
            index.append(slice(None))
        else:
            step = b.pick((1, 2, -1, -2))
            low, high = b.pick(range(size)), b.pick(range(size + 1))
            index.append(slice(low, high, step) if step > 0 else slice(high, low, step))
    b.add(x[tuple(index)], steady=b.is_steady(x))


def _item(b: Builder) -> None:
    x = b.any("fib", rank=1)
    axis = b.pick(range(x.ndim))
    if isinstance(x.shape[axis], Rows) or x.shape[axis] == 0:
        return
    b.add(x[(slice(None),) * axis + (b.pick(range(x.shape[axis])),)], steady=b.is_steady(x))


def _flip(b: Builder) -> None:
    x = b.any("fib", rank=1)
    b.add(np.flip(x, b.pick(range(x.ndim))), steady=b.is_steady(x))


def _pad(b: Builder) -> None:
    """One piece among zeros, with gaps, or two that overlap."""
    x = b.any(b.kinds("fi"), rank=1)
    n_pieces = b.pick((1, 1, 2))
    step = tuple(1 if isinstance(size, Rows) else b.pick((1, 2)) for size in x.shape)
    starts = [tuple(0 if isinstance(s, Rows) else b.pick((0, 1)) for s in x.shape) for _ in range(n_pieces)]
    shape = tuple(s if isinstance(s, Rows) else s * k + b.pick((1, 2)) for s, k in zip(x.shape, step, strict=True))
    result = PRIMITIVES["place"](*(x,) * n_pieces, shape=shape, starts=tuple(starts), steps=(step,) * n_pieces)
    b.add(result, steady=b.is_steady(x))


def _join(b: Builder) -> None:
    x = b.any("fib", rank=1)
    axis = b.pick([axis for axis, size in enumerate(x.shape) if not isinstance(size, Rows)] or [None])
    if axis is None:
        return
    others = [n for n in b.pool if n.dtype == x.dtype and n.ndim == x.ndim and not isinstance(n.shape[axis], Rows)]
    others = [n for n in others if all(same(n.shape[a], x.shape[a]) for a in range(x.ndim) if a != axis)]
    pieces = [x, *(b.pick(others) for _ in range(b.pick((1, 2))))]
    b.add(np.concatenate(pieces, axis=axis), steady=b.is_steady(*pieces))


def _indices(b: Builder, size: int) -> Any:
    """Known numbers, or a traced value that is in range for its construction."""
    found = [n for n in b.pool if n.dtype.kind == "i"]
    if found and b.pick((True, False)):
        return ELEMENTWISE["remainder"](b.pick(found), size)
    rng = np.random.default_rng(len(b.pool))
    return constant(rng.integers(-size, size, size=tuple(b.pick((2, 3, 1, 0)) for _ in range(b.pick((1, 2))))))


def _take(b: Builder) -> None:
    x = b.any("fib", rank=1)
    axis = b.pick(range(x.ndim))
    if isinstance(x.shape[axis], Rows) or x.shape[axis] == 0:
        return
    b.add(PRIMITIVES["take"](x, _indices(b, x.shape[axis]), axis=axis), steady=b.is_steady(x))


def _scatter(b: Builder) -> None:
    indices = _indices(b, 3)
    x = b.any(b.kinds(b.pick("ffi")), rank=indices.ndim)
    axis = b.pick(range(x.ndim - indices.ndim + 1))
    middle = slice(axis, axis + indices.ndim)
    if not all(same(have, wanted) for have, wanted in zip(x.shape[middle], indices.shape, strict=True)):
        if is_symbolic(x.shape[middle]) or 0 in x.shape[middle]:
            return
        first = x[(slice(None),) * axis + (slice(0, 1),) * indices.ndim]
        x = np.broadcast_to(first, (*x.shape[:axis], *indices.shape, *x.shape[middle.stop :]))
    y = PRIMITIVES["scatter_add"](x, indices, axis=axis, size=3)
    b.add(ELEMENTWISE["remainder"](y, 7) if y.dtype.kind == "i" else y, steady=y.dtype.kind == "i")


def _along(b: Builder) -> None:
    x = b.any(b.kinds("f"), rank=1)
    if isinstance(x.shape[-1], Rows) or x.shape[-1] == 0:
        return
    order = constant(np.random.default_rng(len(b.pool)).integers(-x.shape[-1], x.shape[-1], size=b.pick((1, 2, 4))))
    indices = np.broadcast_to(order, (*x.shape[:-1], *order.shape))
    if b.pick((True, False)):
        b.add(PRIMITIVES["take_along"](x, indices), steady=b.is_steady(x))
    else:
        v = PRIMITIVES["take_along"](x, indices)
        b.add(PRIMITIVES["scatter_along"](v, indices, size=x.shape[-1] + 1))


def _random(b: Builder) -> None:
    rows = b.pick((True, False))
    shape = (ROWS if b.batch else 4, *b.shape()[:2]) if rows else b.shape()
    key = constant(np.array([b.pick((1, 2**40)), b.pick((0, 5))]))
    params = {"shape": shape, "stream": b.pick((0, 3)), "to": b.dtype, "rows": rows}
    b.add(PRIMITIVES["random_uniform"](key, **params), steady=True)


_STEPS: dict[str, Callable[[Builder], None]] = {
    name[1:]: rule
    for name, rule in list(globals().items())
    if callable(rule) and getattr(rule, "__annotations__", {}).get("b") == "Builder" and name != "_indices"
}
STEPS = (*_STEPS, *("unary",) * 6, *("binary",) * 6, *("matmul", "reduce") * 2)
"""What to choose from: mostly arithmetic, and everything else now and then."""


@st.composite
def cases(
    draw: Any,
    *,
    dtype: str = "float64",
    batch: bool = False,
    wide: bool = False,
    only: tuple[str, ...] | None = None,
) -> Case:
    """Random cases, by hypothesis."""
    builder = Builder(lambda options: draw(st.sampled_from(list(options))), dtype, batch, wide, only)
    graph = builder.build(draw(st.integers(1, 14)))
    return Case(graph, draw(st.integers(0, 1000)))


def seeded_case(
    seed: int | Sequence[int],
    *,
    dtype: str = "float64",
    batch: bool = False,
    wide: bool = False,
    only: tuple[str, ...] | None = None,
) -> Case:
    """The random case of this number, the same forever."""
    rng = np.random.default_rng(seed)

    def pick(options: Sequence[Any]) -> Any:
        return options[int(rng.integers(len(options)))]

    return Case(Builder(pick, dtype, batch, wide, only).build(int(rng.integers(3, 15))), seed)


def _sort(b: Builder) -> None:
    """Values in the order of their own, or of the places of others."""
    x = b.any(b.kinds("fib"), steady=True, rank=1)
    order = PRIMITIVES["argsort"](x, axis=x.ndim - 1)
    order = PRIMITIVES["argsort"](order, axis=x.ndim - 1) if b.pick((True, False)) else order
    b.add(PRIMITIVES["take_along"](x, order), steady=True)


_STEPS["sort"] = _sort
INDEXING = ("sort", "sort", "argsort", "argmax", "take", "along", "scatter", "cumsum", "reduce", "slice", "join", "pad")
"Steps of chains of index operations; sort is not among those of all graphs, whose recordings would change."


def symbolic(graph: Graph) -> bool:
    """Whether the graph has a batch axis."""
    return any(is_symbolic(node.shape) for node in topological_order(graph.outputs))
