"""NumPy's functions of order on traced values: sorting, ranks and what is counted by comparing.

Sorting moves numbers without changing them, so its derivative goes back to where each number came from; equal numbers
keep their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import BOOL, Node, as_node
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import normalize_axes, normalize_axis, size_of


@implements(np.argsort)
def argsort(x: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """Always stable: of equal numbers the first comes first, and NaN comes last."""
    x = as_node(x)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = x.ravel(), 0
    x = x.astype(np.int64) if x.dtype == BOOL else x
    return PRIMITIVES["argsort"](x, axis=normalize_axis(axis, x.ndim))


@implements(np.sort)
def sort(x: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
    x = as_node(x)
    if axis is None:
        x, axis = x.ravel(), 0
    axis = normalize_axis(axis, x.ndim)
    return np.take_along_axis(x, argsort(x, axis), axis=axis)


@implements(np.partition)
def partition(x: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Array:
    """Sorted completely, which is one of the orders that NumPy may give."""
    return sort(x, axis)


@implements(np.argpartition)
def argpartition(x: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Any:
    return argsort(x, axis)


def _sorted_last(x: Any, axis: int) -> tuple[Any, tuple[int, ...]]:
    """The axes merged into the last one and sorted along it; and the shape that keepdims would give the rest."""
    x = as_node(x)
    axes = normalize_axes(axis, x.ndim)
    kept = [a for a in range(x.ndim) if a not in axes]
    moved = np.transpose(x, [*kept, *axes]).reshape(
        (*(x.shape[a] for a in kept), size_of(tuple(x.shape[a] for a in axes)))
    )
    return sort(moved), tuple(1 if a in axes else x.shape[a] for a in range(x.ndim))


@implements(np.median)
def median(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The middle number; of an even count the mean of the middle two, which share the derivative."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


@implements(np.quantile)
def quantile(x: Any, q: Operand, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """Between the two nearest ranks, linearly; the derivative goes to these two. NaN if any is."""
    _check_level(q, "quantile")
    if method != "linear":
        raise TraceError(f"np.quantile(method={method!r}) is not supported on traced values; method='linear' is.")
    q = np.asarray(q, dtype=np.float64)
    if q.size and not (q.min() >= 0 and q.max() <= 1):
        raise ValueError(f"q={q.tolist()} must lie between 0 and 1.")
    ordered, shape = _sorted_last(x, axis)
    ordered = ordered if ordered.dtype.kind == "f" else ordered.astype(np.float64)
    position = q * (ordered.shape[-1] - 1)
    low = np.floor(position).astype(np.int64)
    below, above = ordered[..., low], ordered[..., np.minimum(low + 1, ordered.shape[-1] - 1)]
    part = (position - low).astype(ordered.dtype)
    # At a rank itself the number above, which may be infinite, has no say.
    between = np.where(part == 0, below, below * (1 - part) + above * part)
    result = np.where(np.isnan(ordered[..., -1:].reshape(ordered.shape[:-1] + (1,) * q.ndim)), np.nan, between)
    rank = result.ndim - q.ndim
    result = np.transpose(result, [*range(rank, result.ndim), *range(rank)])
    return result.reshape((*q.shape, *shape)) if keepdims else result


def _check_level(q: Any, function: str) -> None:
    if isinstance(q, Node):
        raise TraceError(
            f"np.{function}(x, q) of a traced x takes q as a plain number, and has no derivative for it. Compute q "
            "from plain numbers, outside the traced function."
        )


@implements(np.nanquantile)
def nanquantile(x: Any, q: Operand, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """Holes sort last; the ranks count the numbers of each vector."""
    if isinstance(q, Node) or method != "linear" or np.ndim(q):
        raise TraceError("np.nanquantile on traced values takes one known q and method='linear'.")
    ordered, shape = _sorted_last(x, axis)
    count = np.sum(~np.isnan(ordered), axis=-1, keepdims=True)
    position = float(q) * np.maximum(count - 1, 0)
    low = np.floor(position).astype(np.int64)
    below = np.take_along_axis(ordered, low, -1)
    above = np.take_along_axis(ordered, np.minimum(low + 1, np.maximum(count - 1, 0)), -1)
    part = (position - low).astype(ordered.dtype)
    result = np.where(part == 0, below, below * (1 - part) + above * part)[..., 0]
    return result.reshape(shape) if keepdims else result


@implements(np.nanmedian)
def nanmedian(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


@implements(np.nanpercentile)
def nanpercentile(x: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    return nanquantile(x, np.asarray(q) / 100.0, axis, method=method, keepdims=keepdims)


@implements(np.percentile)
def percentile(x: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    _check_level(q, "percentile")
    return quantile(x, np.asarray(q) / 100.0, axis, method=method, keepdims=keepdims)


@implements(np.searchsorted)
def searchsorted(a: Operand, v: Operand, side: str = "left", sorter: Any = None) -> Node:
    """Counted by comparing each value with every entry, so its cost is the product of the two sizes."""
    a = a if sorter is None else np.take(a, sorter)
    below = np.less if side == "left" else np.less_equal
    return np.sum(below(a, np.expand_dims(v, -1)), axis=-1)


@implements(np.digitize)
def digitize(x: Operand, bins: Any, right: bool = False) -> Node:
    if not isinstance(bins, Node) and np.any(np.diff(bins) < 0):
        raise TraceError("np.digitize on traced values needs bins in increasing order.")
    return searchsorted(bins, x, "left" if right else "right")
