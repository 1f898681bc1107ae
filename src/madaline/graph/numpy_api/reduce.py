"""NumPy's reductions on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.node import BOOL, Node, as_node
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import normalize_axes, normalize_axis, size_of


def reduced(name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    """A reduction with NumPy's ``axis`` and ``keepdims``."""
    x = as_node(x)
    axes = normalize_axes(axis, x.ndim)
    if not axes:
        return PRIMITIVES[name](x.reshape((1, *x.shape)), axes=(0,)) if name == "logsumexp" else x
    if name in ("sum", "prod") and x.dtype == BOOL:
        x = x.astype(np.int64)
    result = PRIMITIVES[name](x, axes=axes)
    return result.reshape(tuple(1 if a in axes else size for a, size in enumerate(x.shape))) if keepdims else result


@implements(np.sum)
def sum(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - NumPy's name
    return reduced("sum", x if dtype is None else as_node(x).astype(dtype), axis, keepdims)


@implements(np.prod)
def prod(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return reduced("prod", x if dtype is None else as_node(x).astype(dtype), axis, keepdims)


@implements(np.max)
def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - NumPy's name
    return reduced("max", x, axis, keepdims)


@implements(np.min)
def min(x: Any, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - NumPy's name
    return reduced("min", x, axis, keepdims)


@implements(np.ptp)
def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return max(x, axis, keepdims) - min(x, axis, keepdims)


@implements(np.any)
def any_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduced("sum", as_node(x).astype(BOOL), axis, keepdims) > 0


@implements(np.all)
def all_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduced("sum", ~as_node(x).astype(BOOL), axis, keepdims) == 0


@implements(np.count_nonzero)
def count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return reduced("sum", as_node(x).astype(BOOL), axis, keepdims)


def _count(x: Node, axis: Any) -> Any:
    return size_of(tuple(x.shape[a] for a in normalize_axes(axis, x.ndim)))


@implements(np.mean)
def mean(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    x = as_node(x) if dtype is None else as_node(x).astype(dtype)
    return reduced("sum", x, axis, keepdims) / _count(x, axis)


@implements(np.average)
def average(x: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    if axis is not None and np.ndim(weights) == 1 and x.ndim > 1:
        weights = np.reshape(weights, tuple(-1 if a == normalize_axis(axis, x.ndim) else 1 for a in range(x.ndim)))
    total = np.broadcast_to(weights, x.shape).sum(axis=axis, keepdims=keepdims)
    return np.sum(x * weights, axis=axis, keepdims=keepdims) / total


@implements(np.var)
def var(x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    x = as_node(x) if dtype is None else as_node(x).astype(dtype)
    centred = x - mean(x, axis, keepdims=True)
    return reduced("sum", np.square(centred), axis, keepdims) / (_count(x, axis) - ddof)


@implements(np.std)
def std(x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Its derivative is infinite where all values are equal, as that of the root at 0."""
    return np.sqrt(var(x, axis, dtype, ddof, keepdims))


@implements(np.argmax)
def argmax(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    x = as_node(x)
    if x.dtype == BOOL:
        x = x.astype(np.int64)
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
    if axis is None:
        x, axis = x.ravel(), 0
    return PRIMITIVES["cumsum"](x, axis=normalize_axis(axis, x.ndim), reverse=False)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    r"""Stable :math:`\log \sum e^x` over any axes, on arrays and traced values.

    Examples
    --------
    >>> import madaline as md
    >>> md.logsumexp(np.array([1000.0, 1000.0])).round(4)
    np.float64(1000.6931)
    """
    if isinstance(x, Node):
        return reduced("logsumexp", x, axis, keepdims)
    x = np.asarray(x)
    with np.errstate(divide="ignore"):
        value = PRIMITIVES["logsumexp"].value(x * 1.0, axes=normalize_axes(axis, x.ndim))
    return np.expand_dims(value, normalize_axes(axis, x.ndim)) if keepdims else value
