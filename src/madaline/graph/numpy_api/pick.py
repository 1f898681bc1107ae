"""NumPy's functions that pick entries on traced values: by index, diagonal and triangle; differences of neighbours."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array
from madaline.graph.node import BOOL, as_node, constant
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.numpy_api.indexing import checked
from madaline.graph.numpy_api.shape import broadcast_to
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import broadcast, normalize_axes, normalize_axis, show


@implements(np.take)
def take(x: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Array:
    x = as_node(x)
    if axis is None:
        x, axis = x.ravel(), 0
    chosen: Any = as_node(indices)
    if chosen.dtype.kind != "i":
        raise TraceError(f"indices of type {chosen.dtype} cannot index. Use integers: indices.astype(int).")
    axis = normalize_axis(axis, x.ndim)
    if mode != "raise":
        size = x.shape[axis]
        chosen = np.remainder(chosen, size) if mode == "wrap" else np.clip(chosen, 0, size - 1)
    return PRIMITIVES["take"](x, checked(chosen, x.shape[axis]), axis=axis)


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, **options: Any) -> Any:
    """All windows of an array: a gather along each axis, the axes of the windows last."""
    x = as_node(x)
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if np.iterable(axis) else (axis,)
    if len(sizes) != len(axes) or options.get("subok") or options.get("writeable"):
        raise TraceError(
            f"sliding_window_view of traced values takes one size for each axis, and no other options; got "
            f"window_shape={window_shape!r}, axis={axis!r}."
        )
    for size, place in zip(sizes, (normalize_axis(place, x.ndim) for place in axes), strict=True):
        count = x.shape[place] - size + 1
        if not isinstance(count, int) or count < 1 or size < 0:
            raise ShapeError(f"A window of size {size} does not fit into axis {place} of shape {show(x.shape)}.")
        starts = np.arange(count)[:, None]
        windows: Any = take(x, starts + np.arange(size), axis=place)
        x = np.moveaxis(windows, place + 1, -1)
    return x


@implements(np.take_along_axis)
def take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Any:
    x, indices = as_node(x), as_node(indices)
    if indices.dtype.kind != "i":
        raise TraceError(f"indices of type {indices.dtype} cannot index. Use integers: indices.astype(int).")
    if axis is None:
        x, indices, axis = x.ravel(), indices.ravel(), 0
    axis = normalize_axis(axis, x.ndim)
    checked(indices, x.shape[axis])
    x, indices = np.moveaxis(x, axis, -1), np.moveaxis(indices, axis, -1)
    lead = broadcast(x.shape[:-1], indices.shape[:-1])
    x, indices = broadcast_to(x, (*lead, x.shape[-1])), broadcast_to(indices, (*lead, indices.shape[-1]))
    found: Any = PRIMITIVES["take_along"](x, indices)
    return np.moveaxis(found, -1, axis)


@implements(np.diff)
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    x = as_node(x)
    axis = normalize_axis(axis, x.ndim)
    whole: tuple[slice, ...] = (slice(None),) * axis
    if prepend is not None or append is not None:
        ends = [item if item is None else as_node(item, x.dtype) for item in (prepend, append)]
        one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        before, after = (item if item is None or item.ndim else broadcast_to(item, one) for item in ends)
        x = np.concatenate([item for item in (before, x, after) if item is not None], axis)
    for _ in range(n):
        later, earlier = x[(*whole, slice(1, None))], x[(*whole, slice(None, -1))]
        x = later != earlier if x.dtype == BOOL else later - earlier
    return x


@implements(np.ediff1d)
def ediff1d(x: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    parts = [
        None if to_begin is None else np.ravel(to_begin),
        diff(x.ravel()),
        None if to_end is None else np.ravel(to_end),
    ]
    return np.concatenate([part for part in parts if part is not None])


@implements(np.gradient)
def gradient(x: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Differences of second order inside, of order ``edge_order`` at the ends; spacings are numbers or coordinates."""
    axes = normalize_axes(tuple(axis) if isinstance(axis, list) else axis, x.ndim)
    given = spacing if len(spacing) == len(axes) else spacing * len(axes) if spacing else (1.0,) * len(axes)
    if len(given) != len(axes):
        raise ShapeError(
            f"np.gradient got {len(spacing)} spacings for {len(axes)} axes; give one, or one for each axis."
        )
    results = []
    for a, step in zip(axes, given, strict=True):
        y = np.moveaxis(x, a, -1)
        steps = np.broadcast_to(as_node(step, y.dtype), (y.shape[-1] - 1,)) if np.ndim(step) == 0 else diff(step)
        results.append(np.moveaxis(_slopes(y, steps, edge_order), -1, a))
    return results[0] if len(results) == 1 else tuple(results)


def _slopes(y: Any, h: Any, edge_order: int) -> Any:
    """Differences along the last axis over steps ``h``: the slope of the parabola through three neighbours."""
    slopes = (y[..., 1:] - y[..., :-1]) / h
    before, after = h[:-1], h[1:]
    inner = (slopes[..., :-1] * after + slopes[..., 1:] * before) / (before + after)
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        first = first - (slopes[..., 1:2] - first) * (h[:1] / (h[:1] + h[1:2]))
        last = last + (last - slopes[..., -2:-1]) * (h[-1:] / (h[-1:] + h[-2:-1]))
    return np.concatenate([first, inner, last], axis=-1)


@implements(np.tril)
def tril(x: Any, k: int = 0) -> Array:
    return np.where(_triangle(x, k), x, 0)


@implements(np.triu)
def triu(x: Any, k: int = 0) -> Array:
    return np.where(_triangle(x, index(k) - 1), 0, x)


def _triangle(x: Any, k: int) -> np.ndarray:
    """The mask of the lower triangle; a vector is repeated in all rows, as in NumPy."""
    if x.ndim == 0:
        raise ShapeError("np.tril and np.triu need an array with at least one axis; this is a number.")
    *rows, columns = x.shape[-2:]
    return np.tri(rows[0] if rows else columns, columns, index(k), dtype=bool)


@implements(np.diagonal)
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    moved, offset = np.moveaxis(x, (axis1, axis2), (-2, -1)), index(offset)
    rows, columns = moved.shape[-2:]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    flat = np.arange(count) * (columns + 1) + (offset if offset >= 0 else -offset * columns)
    return PRIMITIVES["take"](
        np.reshape(moved, (*moved.shape[:-2], rows * columns)), constant(flat), axis=moved.ndim - 2
    )


@implements(np.linalg.diagonal)
def matrix_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return diagonal(x, offset, -2, -1)


@implements(np.diag)
def diag(x: Any, k: int = 0) -> Any:
    if x.ndim == 2:
        return diagonal(x, k)
    k = index(k)
    size = x.shape[0] + abs(k)
    flat = np.arange(x.shape[0]) * (size + 1) + (k if k >= 0 else -k * size)
    return np.reshape(PRIMITIVES["scatter_add"](x, constant(flat), axis=0, size=size * size), (size, size))


@implements(np.diagflat)
def diagflat(x: Any, k: int = 0) -> Any:
    return diag(as_node(x).ravel(), k)


@implements(np.vander)
def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    """Powers by repeated multiplication, so that the derivative is right at 0."""
    powers = [np.ones_like(x)]
    for _ in range(1, x.shape[0] if N is None else N):
        powers.append(powers[-1] * x)
    return np.stack(powers if increasing else powers[::-1], axis=-1)
