"""Sums, products, quotients, powers and roots."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Operand, Tangent
from madaline.graph.node import BOOL, INT64, Node, is_constant
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise.base import POSITIVE, REAL, Elementwise, cast, sum_to


class Add(Elementwise):
    """:math:`y = a + b`."""

    name = "add"
    ufunc = np.add
    types = "number"
    on_masks = "logical_or"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        return 1.0, 1.0


class Subtract(Elementwise):
    """:math:`y = a - b`."""

    name = "subtract"
    ufunc = np.subtract
    types = "number"
    domains = (REAL, REAL)

    def __call__(self, *args: Any, **params: Any) -> Any:
        if all(_is_mask(arg) for arg in args):
            raise TraceError("Masks cannot be subtracted. Use a ^ b, a & ~b, or numbers: a.astype(float) - b.")
        return super().__call__(*args, **params)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        return 1.0, -1.0


def _is_mask(arg: Operand) -> bool:
    return arg.dtype == BOOL if isinstance(arg, (Node, np.ndarray, np.generic)) else isinstance(arg, bool)


class Multiply(Elementwise):
    r""":math:`y = a b`, :math:`\partial y/\partial a = b`."""

    name = "multiply"
    ufunc = np.multiply
    types = "number"
    on_masks = "logical_and"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        return b, a

    def vjp(self, *args: Array, **params: Any) -> tuple[Array | None, ...]:
        a, b, y, y_bar = args
        if a is b and isinstance(a, Node):
            # A square: one term instead of two equal ones; doubling is exact.
            return (*super().vjp(a, b, y, y_bar + y_bar)[:1], None)
        return super().vjp(*args, **params)


class Divide(Elementwise):
    r""":math:`y = a / b`, :math:`\partial y/\partial b = -y / b`."""

    name = "divide"
    ufunc = np.divide
    domains = (REAL, POSITIVE)

    def vjp(self, a: Array, b: Array, y: Array, y_bar: Array) -> tuple[Array, Array]:
        a_bar = y_bar / b
        return sum_to(a_bar, a.shape), sum_to(-a_bar * y, b.shape)

    def jvp(self, a: Array, b: Array, y: Array, a_dot: Tangent, b_dot: Tangent) -> Tangent:
        return (a_dot - b_dot * y) / b


class FloorDivide(Elementwise):
    r""":math:`y = \lfloor a / b \rfloor`; derivative 0."""

    name = "floor_divide"
    ufunc = np.floor_divide
    types = "number"
    domains = (REAL, POSITIVE)


class Remainder(Elementwise):
    r""":math:`y = a - b \lfloor a / b \rfloor`, with the sign of ``b``."""

    name = "remainder"
    ufunc = np.remainder
    types = "number"
    domains = (REAL, POSITIVE)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        return 1.0, -np.floor_divide(a, b)


class Fmod(Elementwise):
    r""":math:`y = a - b\,\mathrm{trunc}(a / b)`, with the sign of ``a``."""

    name = "fmod"
    ufunc = np.fmod
    types = "number"
    domains = (REAL, POSITIVE)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        return 1.0, -np.trunc(a / b)


class Power(Elementwise):
    r""":math:`y = x^p`.

    Derivative 0 in ``x`` where ``p = 0``, and 0 in ``p`` where ``x = 0``; NaN in ``p`` for negative ``x``.
    """

    name = "power"
    ufunc = np.power
    types = "number"
    domains = (POSITIVE, REAL)

    def __call__(self, *args: Any, **params: Any) -> Any:
        x, p = args
        if isinstance(x, Node) and isinstance(p, (int, float)) and not isinstance(p, bool):
            return _constant_power(cast(x, self.common_dtype(x, p)), p)
        if isinstance(x, Node) and x.dtype.kind == "i" and self.common_dtype(x, p).kind == "i":
            raise TraceError(
                "An integer to a traced integer power is not supported. Make one of them a float: x.astype(float) ** p."
            )
        return super().__call__(*args, **params)

    def derivative(self, x: Array, p: Array, y: Array) -> tuple[Array | float | None, ...]:
        if isinstance(p, Node) and is_constant(p) and p.shape == ():
            exponent = float(p.params["value"])
            return (exponent * x ** (exponent - 1.0) if exponent else None), _power_by_exponent(x, y)
        zero = p == 0.0
        return np.where(zero, 0.0, p * x ** np.where(zero, 1.0, p - 1.0)), _power_by_exponent(x, y)


def _power_by_exponent(x: Array, y: Array) -> Array:
    zero = x == 0.0
    return np.where(zero, 0.0, y * np.log(np.where(zero, 1.0, x)))


def _constant_power(x: Node, p: float) -> Any:
    if x.dtype == INT64:
        return _integer_power(x, int(p))
    if p == 1:
        return x
    if p == 2:
        return np.square(x)
    if p == 0.5:
        return np.sqrt(x)
    if p == -1:
        return 1.0 / x
    return Elementwise.__call__(PRIMITIVES["power"], x, float(p))  # type: ignore[arg-type]  # registered as Primitive


def _integer_power(x: Node, p: int) -> Node:
    """By squaring: integers have no power primitive, since nothing is differentiated by them."""
    if p < 0:
        raise ValueError(f"Integers to negative integer powers are not allowed. Use x.astype(float) ** {p}.")
    result: Any = 0 * x + 1
    for bit in f"{p:b}":
        result = result * result
        result = result * x if bit == "1" else result
    return result


class Negative(Elementwise):
    """:math:`y = -x`."""

    name = "negative"
    ufunc = np.negative
    types = "number"

    def derivative(self, x: Array, y: Array) -> Array | float:
        return -1.0


class Absolute(Elementwise):
    """:math:`y = |x|`; derivative 0 at ``x = 0``."""

    name = "absolute"
    ufunc = np.absolute
    types = "number"

    def derivative(self, x: Array, y: Array) -> Array:
        return np.sign(x)


class Sign(Elementwise):
    """-1, 0 or 1; derivative 0."""

    name = "sign"
    ufunc = np.sign
    types = "number"


class Square(Elementwise):
    """:math:`y = x^2`."""

    name = "square"
    ufunc = np.square
    types = "number"

    def derivative(self, x: Array, y: Array) -> Array:
        return 2.0 * x


class Reciprocal(Elementwise):
    """:math:`y = 1/x`, :math:`dy/dx = -y^2`. Of an integer it is an integer, as NumPy has it: 1, -1 or 0."""

    name = "reciprocal"
    ufunc = np.reciprocal
    domains = (POSITIVE,)

    def __call__(self, *args: Any, **params: Any) -> Any:
        (x,) = args
        if isinstance(x, Node) and x.dtype == INT64:
            return np.where(np.absolute(x) == 1, x, 0)
        return super().__call__(x, **params)

    def derivative(self, x: Array, y: Array) -> Array:
        return -y * y


class Sqrt(Elementwise):
    r""":math:`y = \sqrt{x}`, :math:`dy/dx = 1/(2y)`: infinite at 0."""

    name = "sqrt"
    ufunc = np.sqrt
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return 0.5 / y


class Cbrt(Elementwise):
    r""":math:`y = \sqrt[3]{x}`, :math:`dy/dx = 1/(3y^2)`: infinite at 0."""

    name = "cbrt"
    ufunc = np.cbrt
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / (3.0 * y * y)
