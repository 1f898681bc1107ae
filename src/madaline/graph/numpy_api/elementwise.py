"""Elementwise NumPy functions that are formulas over primitives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import BOOL, Node, as_node
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives import elementwise as primitives
from madaline.graph.primitives.elementwise import softplus


@implements(np.positive, np.conjugate)
def positive(x: Operand) -> Array:
    return primitives.identity(x)


@implements(np.copy)
def copy(a: Operand, order: str = "K", subok: bool = False) -> Array:
    return primitives.identity(a)


@implements(np.float_power)
def float_power(x: Array, p: Array) -> Array:
    return np.power(x.astype(np.float64) if isinstance(x, Node) else np.asarray(x, dtype=np.float64), p)


@implements(np.fabs)
def fabs(x: Operand) -> Array:
    return np.abs(x * 1.0)


@implements(np.hypot)
def hypot(a: Operand, b: Operand) -> Array:
    r""":math:`\sqrt{a^2+b^2}`, scaled against overflow; derivative 0 at the origin."""
    large = np.maximum(np.abs(a), np.abs(b))
    scale = primitives.stop_gradient(np.where((large > 0) & np.isfinite(large), large, 1.0))
    squared = np.square(a / scale) + np.square(b / scale)
    origin = squared == 0.0
    length = np.where(origin, 0.0, np.sqrt(np.where(origin, 1.0, squared))) * scale
    return np.where(np.isinf(a) | np.isinf(b), np.inf, length)


@implements(np.logaddexp)
def logaddexp(a: Operand, b: Operand) -> Array:
    r""":math:`\log(e^a + e^b)` as :math:`h + \log(1 + e^{l - h})` with the larger number ``h`` and the smaller ``l``.

    The larger one is chosen by ``np.where``, so derivatives of every order are right at ties. Two equal infinities give
    that infinity.
    """
    for number, other in ((a, b), (b, a)):
        if isinstance(number, (int, float)) and number == 0:
            return softplus(other)
    first = np.greater_equal(a, b)
    high, low = np.where(first, a, b), np.where(first, b, a)
    infinite = np.equal(high, low) & np.isinf(high)
    return high + softplus(np.where(infinite, 0.0, low) - np.where(infinite, 0.0, high))


@implements(np.logaddexp2)
def logaddexp2(a: Array, b: Array) -> Array:
    scale = float(np.log(2.0))
    return logaddexp(a * scale, b * scale) / scale


@implements(np.fmax)
def fmax(a: Operand, b: Operand) -> Array:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.maximum(a, b)))


@implements(np.fmin)
def fmin(a: Operand, b: Operand) -> Array:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.minimum(a, b)))


@implements(np.heaviside)
def heaviside(x: Operand, at_zero: Any) -> Array:
    return np.where(x == 0, at_zero, np.where(np.isnan(x), x, x > 0))


@implements(np.deg2rad, np.radians)
def deg2rad(x: Operand) -> Any:
    return x * float(np.pi / 180.0)


@implements(np.rad2deg, np.degrees)
def rad2deg(x: Operand) -> Any:
    return x * float(180.0 / np.pi)


@implements(np.signbit)
def signbit(x: Operand) -> Array:
    return np.copysign(1.0, x) < 0.0


def _bitwise(logical: Any, name: str) -> Any:
    def combine(*args: Any) -> Node:
        if any((arg.dtype if isinstance(arg, Node) else np.asarray(arg).dtype) != BOOL for arg in args):
            raise TraceError(
                f"{name} on traced numbers is not supported; on masks it is. Compare first, as in (x > 0) & (x < 1)."
            )
        return logical(*args)

    return combine


implements(np.bitwise_and)(_bitwise(np.logical_and, "np.bitwise_and (&)"))
implements(np.bitwise_or)(_bitwise(np.logical_or, "np.bitwise_or (|)"))
implements(np.bitwise_xor)(_bitwise(np.logical_xor, "np.bitwise_xor (^)"))
implements(np.invert)(_bitwise(np.logical_not, "np.invert (~)"))


@implements(np.where)
def where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        return np.nonzero(condition)
    return primitives.where(condition, *choices)


@implements(np.select)
def select(conditions: Any, choices: Any, default: Any = 0) -> Node:
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = np.where(condition, choice, result)
    return result


@implements(np.piecewise)
def piecewise(x: Array, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """Each function is called on all of ``x``; the derivative of a piece not chosen is not used."""
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) or np.ndim(condlist) > np.ndim(x) else [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ShapeError(f"np.piecewise got {len(conditions)} conditions and {len(funclist)} functions.")
    pieces = [item(x, *args, **kw) if callable(item) else item for item in funclist]
    result: Any = pieces[-1] if len(pieces) > len(conditions) else 0.0
    for condition, piece in zip(conditions, pieces, strict=False):
        # The last condition that holds decides, as in NumPy.
        result = np.where(condition, piece, result)
    return np.broadcast_to(result, np.shape(x)).astype(x.dtype)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2.0 * np.pi) -> Array:
    """Whole periods are added where neighbours differ by more than half of one; derivative 1."""
    p = as_node(p)
    steps = np.diff(p, axis=axis)
    wrapped = np.remainder(steps + period / 2.0, period) - period / 2.0
    wrapped = np.where((wrapped == -period / 2.0) & (steps > 0), period / 2.0, wrapped)
    limit = period / 2.0 if discont is None else max(discont, period / 2.0)
    jumps = np.where(np.abs(steps) < limit, 0.0, wrapped - steps)
    sums: Any = primitives.stop_gradient(np.cumsum(jumps, axis=axis))
    start = np.zeros_like(np.moveaxis(p, axis, -1)[..., :1])  # of the values: one alone has no steps
    return p + np.moveaxis(np.concatenate([start, np.moveaxis(sums, axis, -1)], axis=-1), -1, axis)


@implements(np.clip)
def clip(x: Operand, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:  # noqa: A002 - NumPy's names
    """Bounds by np.maximum and np.minimum: derivative 1/2 exactly at a bound."""
    low, high = (a_min if a_min is not None else min), (a_max if a_max is not None else max)
    if low is not None:
        x = np.maximum(x, low)
    if high is not None:
        x = np.minimum(x, high)
    return x


@implements(np.round, np.around)
def round_(x: Array, decimals: int = 0) -> Array:
    if decimals == 0:
        return np.rint(x) if x.dtype.kind == "f" else x
    scale = 10.0 ** abs(decimals)
    rounded = np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale
    return rounded.astype(x.dtype)


@implements(np.fix)
def fix(x: Operand) -> Array:
    return np.trunc(x)


@implements(np.modf)
def modf(x: Operand) -> Any:
    whole = np.trunc(x * 1.0)
    return x - whole, whole


@implements(np.divmod)
def divmod_(a: Operand, b: Operand) -> tuple[Array, ...]:
    return np.floor_divide(a, b), np.remainder(a, b)


@implements(np.nan_to_num)
def nan_to_num(
    x: Array, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    if x.dtype.kind != "f":
        return x
    limits = np.finfo(x.dtype)
    x = np.where(np.isnan(x), nan, x)
    x = np.where(x == np.inf, float(limits.max) if posinf is None else posinf, x)
    return np.where(x == -np.inf, float(limits.min) if neginf is None else neginf, x)


_SINC_SERIES = [(-1.0) ** k / float(math.factorial(2 * k + 1)) for k in range(12)]


@implements(np.sinc)
def sinc(x: Operand) -> Array:
    r""":math:`\sin(\pi x)/(\pi x)`; near 0 its power series, so that derivatives of every order are right there."""
    angle = float(np.pi) * x
    near = np.abs(angle) < 1.0
    square = np.square(np.where(near, angle, 0.0))
    series: Any = _SINC_SERIES[-1]
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = series * square + coefficient
    far = np.where(near, 1.0, angle)
    return np.where(near, series, np.sin(far) / far)


@implements(np.isclose)
def isclose(a: Operand, b: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    close = np.equal(a, b) | (np.isfinite(b) & (np.abs(np.subtract(a, b)) <= atol + rtol * np.abs(b)))
    return close | (np.isnan(a) & np.isnan(b)) if equal_nan else close


@implements(np.allclose)
def allclose(a: Operand, b: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    return np.all(isclose(a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def array_equal(a: Operand, b: Operand) -> Any:
    return np.all(np.equal(a, b)) if np.shape(a) == np.shape(b) else False


@implements(np.isposinf)
def isposinf(x: Operand) -> Array:
    return np.equal(x, np.inf)


@implements(np.isneginf)
def isneginf(x: Operand) -> Array:
    return np.equal(x, -np.inf)


@implements(np.isin)
def isin(x: Operand, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Node:
    found = np.any(np.expand_dims(x, -1) == np.ravel(test_elements), axis=-1)
    return ~found if invert else found


@implements(np.interp)
def interp(x: Operand, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Node:
    """Piecewise linear; at a point of ``xp`` the derivative is that of the piece to its right."""
    if period is not None:
        x, xp, fp = np.remainder(x, period), *_one_period(xp, fp, period)
    xp, fp = as_node(xp), as_node(fp)
    piece = np.clip(np.searchsorted(xp, x, "right") - 1, 0, xp.shape[0] - 2)
    x0, f0 = xp[piece], fp[piece]
    inside = f0 + (x - x0) * ((fp[piece + 1] - f0) / (xp[piece + 1] - x0))
    above = np.where(np.greater(x, xp[-1]), fp[-1] if right is None else right, inside)
    return np.where(np.less(x, xp[0]), fp[0] if left is None else left, above)


def _one_period(xp: Any, fp: Any, period: float) -> tuple[Any, Any]:
    """The points within one period in order, with one more on either side."""
    if isinstance(xp, Node):
        raise TraceError("np.interp(..., period=) on traced values needs known points xp.")
    order = np.argsort(np.remainder(xp, period))
    inside, values = np.remainder(xp, period)[order], np.take(fp, order)
    xp = np.concatenate([[inside[-1] - period], inside, [inside[0] + period]])
    return xp, np.concatenate([values[-1:], values, values[:1]])


@implements(np.i0)
def i0(x: Operand) -> Array:
    return PRIMITIVES["bessel_i"](x, order=0)


@implements(np.astype)
def astype(x: Array, dtype: Any, /, *, copy: bool = True) -> Any:
    return x.astype(dtype)
