"""NumPy's reductions on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Axis, Operand
from madaline.graph.node import BOOL, Node, as_node, is_float
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import Rows, normalize_axes, normalize_axis, size_of


def reduced(name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    """A reduction with NumPy's ``axis`` and ``keepdims``."""
    x = as_node(x)
    axes = normalize_axes(_axis_of(x, axis), x.ndim)
    if not axes:
        return x
    if x.dtype == BOOL:
        whole = reduced(name, x.astype(np.int64), axis, keepdims)
        return whole.astype(BOOL) if name in ("max", "min") else whole
    result = PRIMITIVES[name](x, axes=axes)
    return result.reshape(tuple(1 if a in axes else size for a, size in enumerate(x.shape))) if keepdims else result


def _axis_of(x: Node, axis: Axis) -> Any:
    """The axis; a value without axes has all of itself along axis 0 or -1, as in NumPy."""
    return None if x.ndim == 0 and axis in (0, -1) else axis


@implements(np.sum)
def sum(  # noqa: A001 - NumPy's name
    x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    x = x if dtype is None else as_node(x).astype(dtype)
    result = reduced("sum", x if where is None else np.where(where, x, 0), axis, keepdims)
    return result if initial is None else result + initial


@implements(np.prod)
def prod(
    x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    x = x if dtype is None else as_node(x).astype(dtype)
    result = reduced("prod", x if where is None else np.where(where, x, 1), axis, keepdims)
    return result if initial is None else result * initial


@implements(np.max, np.amax)
def max(x: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:  # noqa: A001 - NumPy's name
    result = reduced("max", _with_initial("max", x, initial, where), axis, keepdims)
    return result if initial is None else np.maximum(result, initial)


@implements(np.min, np.amin)
def min(x: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:  # noqa: A001 - NumPy's name
    result = reduced("min", _with_initial("min", x, initial, where), axis, keepdims)
    return result if initial is None else np.minimum(result, initial)


def _with_initial(name: str, x: Any, initial: Any, where: Any) -> Array:
    if where is None:
        return x
    if initial is None:
        raise TraceError(f"np.{name}(..., where=) needs initial=, the value where nothing is chosen.")
    return np.where(where, x, initial)


@implements(np.ptp)
def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Array:
    return max(x, axis, keepdims=keepdims) - min(x, axis, keepdims=keepdims)


@implements(np.any)
def any_(x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
    chosen = as_node(x).astype(BOOL)
    return reduced("sum", chosen if where is True else chosen & where, axis, keepdims) > 0


@implements(np.all)
def all_(x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    chosen = ~as_node(x).astype(BOOL)
    return reduced("sum", chosen if where is True else chosen & where, axis, keepdims) == 0


@implements(np.count_nonzero)
def count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return reduced("sum", as_node(x).astype(BOOL), axis, keepdims)


def _count(x: Node, axis: Any) -> Any:
    return size_of(tuple(x.shape[a] for a in normalize_axes(_axis_of(x, axis), x.ndim)))


def _counts(x: Node, axis: Any) -> list[Any]:
    """Numbers whose product is the count: one, or several where the batch axis is reduced more than once."""
    sizes = [x.shape[a] for a in normalize_axes(_axis_of(x, axis), x.ndim)]
    rows = [size for size in sizes if isinstance(size, Rows)]
    fixed = tuple(size for size in sizes if not isinstance(size, Rows))
    return [size_of((*fixed, *rows[:1])), *rows[1:]]


@implements(np.mean)
def mean(x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None) -> Any:
    x = as_node(x) if dtype is None else as_node(x).astype(dtype)
    if where is None:
        total = reduced("sum", x, axis, keepdims)
        for count in _counts(x, axis):
            total = total / count
        return total
    chosen = reduced("sum", np.broadcast_to(as_node(where), x.shape).astype(BOOL), axis, keepdims)
    total = sum(x, axis, keepdims=keepdims, where=where)
    return total / (chosen.astype(x.dtype) if x.dtype.kind == "f" else chosen)


@implements(np.average)
def average(
    x: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Array | tuple[Array, Array]:
    x = as_node(x)
    weights = as_node(1, x.dtype) if weights is None else as_node(weights)
    if axis is not None and weights.ndim == 1 and x.ndim > 1:
        weights = weights.reshape(tuple(-1 if a == normalize_axis(axis, x.ndim) else 1 for a in range(x.ndim)))
    total = np.broadcast_to(weights, x.shape).sum(axis=axis, keepdims=keepdims)
    result = np.sum(x * weights, axis=axis, keepdims=keepdims) / total
    return (result, total.astype(result.dtype)) if returned else result


@implements(np.var)
def var(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    x = as_node(x) if dtype is None else as_node(x).astype(dtype)
    centre = reduced("sum", x, axis, True) / _count(x, axis) if mean is None else mean
    freedom = _count(x, axis) - (ddof if correction is None else correction)
    return reduced("sum", np.square(x - centre), axis, keepdims) / freedom


@implements(np.std)
def std(x: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Array:
    """Its derivative is 0 where all values are equal, as that of a norm at the origin."""
    square = var(x, axis, dtype, **options)
    equal = square == 0.0
    return np.where(equal, 0.0, np.sqrt(np.where(equal, 1.0, square)))


@implements(np.cov)
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    x = _variables(m, rowvar) if y is None else np.concatenate([_variables(m, rowvar), _variables(y, rowvar)])
    centred = x - x.mean(axis=1, keepdims=True)
    freedom = x.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    return np.squeeze(centred @ centred.T / freedom)


def _variables(m: Any, rowvar: bool) -> Node:
    rows: Any = np.atleast_2d(as_node(m))
    return rows if rowvar or np.ndim(m) == 1 else rows.T


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Array:
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.diag(c))
    return c / deviation[:, None] / deviation


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Node:
    y = as_node(y)
    y = np.moveaxis(y, axis, -1)
    if x is not None:
        x = as_node(x)
        dx = np.diff(x) if x.ndim == 1 else np.diff(np.moveaxis(x, axis, -1))
    return np.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


@implements(np.argmax)
def argmax(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    x = as_node(x)
    if x.dtype == BOOL:
        x = x.astype(np.int64)
    axis = _axis_of(x, axis)
    place = normalize_axis(axis, x.ndim) if axis is not None else 0
    result = PRIMITIVES["argmax"](x if axis is not None else x.ravel(), axis=place)
    return np.expand_dims(result, axis if axis is not None else tuple(range(x.ndim))) if keepdims else result


@implements(np.argmin)
def argmin(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return argmax(-(as_node(x).astype(np.int64) if x.dtype == BOOL else x), axis, keepdims=keepdims)


@implements(np.cumsum)
def cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    x = as_node(x) if dtype is None else as_node(x).astype(dtype)
    if x.dtype == BOOL:
        x = x.astype(np.int64)
    if _axis_of(x, axis) is None:
        x, axis = x.ravel(), 0
    return PRIMITIVES["cumsum"](x, axis=normalize_axis(axis, x.ndim), reverse=False)


@implements(np.cumprod)
def cumprod(x: Any, axis: Any = None, dtype: Any = None) -> Array:
    """By doubling: after k rounds each entry holds the product of 2^k entries. No division, so zeros are right."""
    x = as_node(x) if dtype is None else as_node(x).astype(dtype)
    if x.dtype == BOOL:
        x = x.astype(np.int64)
    if _axis_of(x, axis) is None:
        x, axis = x.ravel(), 0
    x = np.moveaxis(x, axis, -1)
    reach = 1
    while reach < x.shape[-1]:
        x = np.concatenate([x[..., :reach], x[..., reach:] * x[..., :-reach]], axis=-1)
        reach *= 2
    return np.moveaxis(x, -1, axis)


def scanned(combine: Any, x: Any, axis: Any = 0) -> Array:
    """``ufunc.accumulate`` for an operation that is associative, by doubling: log2(n) steps."""
    x = np.moveaxis(x, axis, -1)
    reach = 1
    while reach < x.shape[-1]:
        x = np.concatenate([x[..., :reach], combine(x[..., reach:], x[..., :-reach])], axis=-1)
        reach *= 2
    return np.moveaxis(x, -1, axis)


@implements(np.cumulative_sum)
def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Array:
    return _with_first(cumsum(x, axis, dtype), 0, axis, include_initial)


def _with_first(y: Any, first: int, axis: Any, included: bool) -> Array:
    """A cumulative result, with what it starts from in front if asked for."""
    if not included:
        return y
    moved = np.moveaxis(y, 0 if axis is None else axis, -1)
    start = np.full_like(moved[..., :1], first)
    return np.moveaxis(np.concatenate([start, moved], axis=-1), -1, 0 if axis is None else axis)


@implements(np.cumulative_prod)
def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Array:
    return _with_first(cumprod(x, axis, dtype), 1, axis, include_initial)


def logsumexp_of_shifted(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """:func:`logsumexp` for values whose largest has already been subtracted, as losses do: it is not done twice."""
    return reduced("logsumexp", x, axis, keepdims) if isinstance(x, Node) else logsumexp(x, axis, keepdims)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False, *, b: Operand | None = None) -> Any:
    r"""Stable :math:`\log \sum b\,e^x` over any axes, on arrays and traced values; the weights ``b`` are 1 by default.

    Examples
    --------
    >>> import madaline as md
    >>> md.functional.logsumexp(np.array([1000.0, 1000.0])).round(4)
    np.float64(1000.6931)
    """
    if b is not None:
        # Weights that are 0 leave a term out; a negative sum has no logarithm, as in SciPy.
        shift: Any = np.max(np.where(np.equal(b, 0.0), -np.inf, x), axis=axis, keepdims=True)
        shift = PRIMITIVES["stop_gradient"](np.where(np.isfinite(shift), shift, 0.0))
        found = np.log(np.sum(b * np.exp(x - shift), axis=axis, keepdims=True)) + shift
        return found if keepdims else np.squeeze(found, normalize_axes(axis, np.ndim(found)))
    if isinstance(x, Node):
        x = x if is_float(x.dtype) else x.astype(np.float64)
        if 0 in x.shape:
            return logsumexp_of_shifted(x, axis, keepdims)
        # The derivative is exp(x - y). It is accurate for a small y alone, so the largest x is subtracted first.
        largest = PRIMITIVES["stop_gradient"](max(x, axis, keepdims=True))
        shift = np.where(np.isfinite(largest), largest, 0.0)
        below = logsumexp_of_shifted(x - shift, axis, keepdims)
        return below + shift.reshape(below.shape)
    x = np.asarray(x)
    with np.errstate(divide="ignore"):
        value = PRIMITIVES["logsumexp"].value(x * 1.0, axes=normalize_axes(axis, x.ndim))
    return np.expand_dims(value, normalize_axes(axis, x.ndim)) if keepdims else value
