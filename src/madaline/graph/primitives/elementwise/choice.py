"""The larger, the smaller, one or the other; rounding, whose derivative is 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.graph.arrays import Array, Tangent
from madaline.graph.node import BOOL, Node, as_node, graph_dtype
from madaline.graph.primitive import PRIMITIVES, ZERO, Sample, Zero
from madaline.graph.primitives.elementwise.base import REAL, Elementwise, cast, kind_of, sum_to
from madaline.graph.shapes import broadcast


class Maximum(Elementwise):
    """The larger of two; NaN if either is. Where they are equal each has derivative 1/2."""

    name = "maximum"
    ufunc = np.maximum
    types = "number"
    on_masks = "logical_or"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        share = _share(a, b)
        return share, 1.0 - share


class Minimum(Elementwise):
    """The smaller of two; NaN if either is. Where they are equal each has derivative 1/2."""

    name = "minimum"
    ufunc = np.minimum
    types = "number"
    on_masks = "logical_and"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        share = _share(b, a)
        return share, 1.0 - share


def _share(larger: Array, smaller: Array) -> Array:
    dtype = larger.dtype
    return 0.5 * ((larger > smaller).astype(dtype) + (larger >= smaller).astype(dtype))


class Where(Elementwise):
    """``a`` where the condition holds, else ``b``; the derivative flows to the one chosen."""

    name = "where"
    types = "number"
    domains = (REAL, REAL, REAL)

    def __call__(self, *args: Any, **params: Any) -> Any:
        if not any(isinstance(arg, Node) for arg in args):
            return np.where(*args)
        condition, a, b = args
        dtype = graph_dtype(np.result_type(kind_of(a), kind_of(b)))
        inputs = (cast(as_node(condition, BOOL), BOOL), cast(as_node(a, dtype), dtype), cast(as_node(b, dtype), dtype))
        return Node(self, inputs, params, broadcast(*(node.shape for node in inputs)), dtype)

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return dtypes[1]

    def value(self, condition: Any, a: Any, b: Any) -> Any:
        return np.where(condition, a, b)

    def jvp(self, condition: Array, a: Array, b: Array, y: Array, _: Array, a_dot: Tangent, b_dot: Tangent) -> Tangent:
        if isinstance(a_dot, Zero) and isinstance(b_dot, Zero):
            return ZERO
        return np.where(condition, 0.0 if isinstance(a_dot, Zero) else a_dot, 0.0 if isinstance(b_dot, Zero) else b_dot)

    def vjp(self, condition: Array, a: Array, b: Array, y: Array, y_bar: Array) -> tuple[None, Array, Array]:
        return (
            None,
            sum_to(np.where(condition, y_bar, 0.0), a.shape),
            sum_to(np.where(condition, 0.0, y_bar), b.shape),
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for (condition, a, b), params in super().samples(rng):
            yield (condition > 0.0, a, b), params


class Copysign(Elementwise):
    """``|a|`` with the sign of ``b``."""

    name = "copysign"
    ufunc = np.copysign
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        return np.copysign(1.0, b) * np.sign(a), None


class _Rounding(Elementwise):
    def __call__(self, *args: Any, **params: Any) -> Any:
        (x,) = args
        return x if isinstance(x, Node) and x.dtype.kind != "f" else super().__call__(x, **params)


class Floor(_Rounding):
    """The largest integer not above ``x``; derivative 0."""

    name = "floor"
    ufunc = np.floor


class Ceil(_Rounding):
    """The smallest integer not below ``x``; derivative 0."""

    name = "ceil"
    ufunc = np.ceil


class Trunc(_Rounding):
    """The integer towards zero; derivative 0."""

    name = "trunc"
    ufunc = np.trunc


class Rint(Elementwise):
    """The nearest integer, halves to the even one; derivative 0."""

    name = "rint"
    ufunc = np.rint


where = PRIMITIVES["where"]
