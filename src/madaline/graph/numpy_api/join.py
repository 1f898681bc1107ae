"""NumPy's functions that join arrays, take them apart and repeat them, on traced values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node, as_node, constant, graph_dtype, is_float, known_value
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.numpy_api.shape import broadcast_to
from madaline.graph.object_arrays import as_traced
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.shape import place
from madaline.graph.shapes import Rows, normalize_axis, show


@implements(np.concatenate)
def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    nodes = [as_node(x) for x in arrays]
    if axis is None:
        nodes, axis = [as_node(node.ravel()) for node in nodes], 0
    axis = normalize_axis(axis, nodes[0].ndim)
    wanted = graph_dtype(dtype if dtype is not None else np.result_type(*(node.dtype for node in nodes)))
    for node in nodes:
        if (
            node.ndim != nodes[0].ndim
            or node.shape[:axis] + node.shape[axis + 1 :] != nodes[0].shape[:axis] + nodes[0].shape[axis + 1 :]
        ):
            shown = ", ".join(show(item.shape) for item in nodes)
            raise ShapeError(
                f"Arrays to concatenate along axis {axis} must agree in all other axes; their shapes are {shown}."
            )
    starts, total = [], 0
    for node in nodes:
        starts.append(tuple(total if a == axis else 0 for a in range(node.ndim)))
        total = total + node.shape[axis]
    shape = (*nodes[0].shape[:axis], total, *nodes[0].shape[axis + 1 :])
    return place([node.astype(wanted) for node in nodes], shape, starts, [(1,) * len(shape)] * len(nodes))


@implements(np.stack)
def stack(arrays: Sequence[Operand], axis: int = 0, *, dtype: DTypeLike | None = None) -> Any:
    nodes = [as_node(x) for x in arrays]
    if any(node.shape != nodes[0].shape for node in nodes):
        raise ShapeError(
            f"Arrays to stack must have one shape; theirs are {', '.join(show(node.shape) for node in nodes)}."
        )
    return concatenate([np.expand_dims(node, axis) for node in nodes], normalize_axis(axis, nodes[0].ndim + 1), dtype)


@implements(np.vstack)
def vstack(arrays: Sequence[Operand], *, dtype: Any = None) -> Any:
    return concatenate([np.atleast_2d(as_node(x)) for x in arrays], 0, dtype)


@implements(np.hstack)
def hstack(arrays: Sequence[Operand], *, dtype: DTypeLike | None = None) -> Any:
    nodes: list[Any] = [np.atleast_1d(as_node(x)) for x in arrays]
    return concatenate(nodes, 0 if nodes[0].ndim == 1 else 1, dtype)


@implements(np.dstack)
def dstack(arrays: Sequence[Operand]) -> Any:
    return concatenate([np.atleast_3d(as_node(x)) for x in arrays], 2)


@implements(np.column_stack)
def column_stack(arrays: Sequence[Operand]) -> Any:
    nodes = [as_node(x) for x in arrays]
    return concatenate([node.reshape(-1, 1) if node.ndim < 2 else node for node in nodes], 1)


@implements(np.append)
def append(x: Array, values: Array, axis: int | None = None) -> Any:
    return concatenate([x, values], axis)


def _sections(parts: Any) -> Any:
    """A number of parts or positions, as plain integers."""
    parts = as_traced(parts)
    if not isinstance(parts, Node):
        return parts
    value = None if is_float(parts.dtype) else known_value(parts)
    if value is None:
        raise TraceError(
            "np.split and np.array_split take a number of parts or positions as plain integers, not as traced values. "
            "Use int(n), or a list of integers."
        )
    return value if value.ndim else int(value)


@implements(np.array_split)
def array_split(x: Any, parts: Any, axis: int = 0) -> list[Array]:
    parts = _sections(parts)
    if not isinstance(x, Node):
        return list(np.array_split(x, parts, axis))
    axis = normalize_axis(axis, x.ndim)
    size: Any = len(x) if axis == 0 else x.shape[axis]
    bounds = np.array_split(np.arange(size), parts)
    whole: tuple[slice, ...] = (slice(None),) * axis
    edges = [0, *np.cumsum([len(part) for part in bounds]).tolist()]
    return [x[(*whole, slice(start, stop))] for start, stop in pairwise(edges)]


@implements(np.split)
def split(x: Any, parts: int | Sequence[int], axis: int = 0) -> list[Array]:
    parts = _sections(parts)
    if not isinstance(x, Node):
        return list(np.split(x, parts, axis))
    size = x.shape[normalize_axis(axis, x.ndim)]
    if isinstance(parts, int) and not isinstance(size, Rows) and size % parts:
        raise ShapeError(
            f"np.split: an axis of size {size} cannot be split into {parts} equal parts. Use np.array_split."
        )
    return array_split(x, parts, axis)


@implements(np.vsplit)
def vsplit(x: Any, parts: Any) -> list[Array]:
    return split(x, parts, 0)


@implements(np.hsplit)
def hsplit(x: Any, parts: Any) -> list[Array]:
    return split(x, parts, 0 if x.ndim == 1 else 1)


@implements(np.dsplit)
def dsplit(x: Any, parts: Any) -> Any:
    return split(x, parts, 2)


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Node, ...]:
    return tuple(np.moveaxis(x, axis, 0))


@implements(np.block)
def block(arrays: Sequence[Array]) -> Any:
    """Innermost lists are joined along the last axis, the lists around them along the one before, and so on."""
    rank = max(_depth(arrays), *(np.ndim(item) for item in _leaves(arrays)))
    return _join_blocks(arrays, rank, -_depth(arrays))


def _join_blocks(item: Any, rank: int, axis: int) -> Any:
    if isinstance(item, list):
        return concatenate([_join_blocks(part, rank, axis + 1) for part in item], axis)
    node = as_node(item)
    return node.reshape((1,) * (rank - node.ndim) + node.shape)


def _depth(item: Any) -> int:
    return 1 + _depth(item[0]) if isinstance(item, list) else 0


def _leaves(item: Any) -> list[Any]:
    return [leaf for part in item for leaf in _leaves(part)] if isinstance(item, list) else [item]


@implements(np.insert)
def insert(x: Any, position: Any, values: Any, axis: int | None = None) -> Any:
    if not isinstance(position, (int, np.integer)):
        raise TraceError("np.insert on traced values takes one position. Use np.concatenate of the parts for several.")
    x = as_node(x)
    if axis is None:
        x, axis = x.ravel(), 0
    axis = normalize_axis(axis, x.ndim)
    first, second = array_split(x, [position], axis)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    new = as_node(values, x.dtype).astype(x.dtype)
    if new.ndim == x.ndim - 1:
        new = np.expand_dims(new, axis)
    return concatenate([first, np.broadcast_to(new, shape), second], axis)


@implements(np.delete)
def delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    x = as_node(x)
    if axis is None:
        x, axis = x.ravel(), 0
    return np.take(x, np.delete(np.arange(x.shape[axis]), obj), axis=axis)


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> tuple[Node, ...]:
    count = max(1, num - 1 if endpoint else num)
    part = (np.arange(num) / count).reshape(-1, *[1] * max(np.ndim(start), np.ndim(stop)))
    step = np.subtract(stop, start) / count
    points = np.moveaxis(start + part * np.subtract(stop, start), 0, axis)
    points = points if dtype is None else points.astype(dtype)
    return (points, step) if retstep else points


@implements(np.geomspace)
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None, axis: int = 0
) -> Array:
    return np.exp(linspace(np.log(start), np.log(stop), num, endpoint, dtype=dtype, axis=axis))


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Node:
    return np.power(base, linspace(start, stop, num, endpoint, dtype=dtype, axis=axis))


@implements(np.meshgrid)
def meshgrid(*vectors: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    nodes = [as_node(x).ravel() for x in vectors]
    rank = len(nodes)
    grids: list[Array] = [
        node.reshape(tuple(-1 if a == axis else 1 for a in range(rank))) for axis, node in enumerate(nodes)
    ]
    grids = grids if sparse else list(np.broadcast_arrays(*grids))
    return tuple(np.swapaxes(grid, 0, 1) for grid in grids) if indexing == "xy" and rank > 1 else tuple(grids)


@implements(np.pad)
def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    x = as_node(x)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    if mode == "constant":
        return _pad_by_constants(x, widths, constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise TraceError(
            f"np.pad(mode={mode!r}) is not supported on traced values. Use constant, edge, reflect, symmetric or wrap."
        )
    for axis, width in enumerate(widths):
        if any(width):
            sources = np.pad(np.arange(x.shape[axis]), width, mode=mode)  # type: ignore[call-overload]  # a mode it knows
            x = np.take(x, sources, axis=axis)
    return x


def _pad_by_constants(x: Node, widths: list[list[int]], values: Any) -> Any:
    if np.isscalar(values) and values == 0:
        shape = tuple(size + low + high for size, (low, high) in zip(x.shape, widths, strict=True))
        return place([x], shape, [tuple(low for low, _ in widths)], [(1,) * x.ndim])
    for axis, (width, value) in enumerate(zip(widths, np.broadcast_to(values, (x.ndim, 2)), strict=True)):
        shapes = [(*x.shape[:axis], size, *x.shape[axis + 1 :]) for size in width]
        before, after = (broadcast_to(constant(v, x.dtype), shape) for v, shape in zip(value, shapes, strict=True))
        x = concatenate([before, x, after], axis)
    return x


@implements(np.tile)
def tile(x: Any, reps: Any) -> Array:
    x = as_node(x)
    counts = tuple(reps.tolist() if isinstance(reps, np.ndarray) else reps) if np.iterable(reps) else (reps,)
    counts = (1,) * (x.ndim - len(counts)) + counts
    x = np.reshape(x, (1,) * (len(counts) - x.ndim) + x.shape)
    spread = tuple(size for pair in zip(counts, x.shape, strict=True) for size in pair)
    lifted = np.reshape(x, tuple(size for item in x.shape for size in (1, item)))
    return np.reshape(
        np.broadcast_to(lifted, spread), tuple(count * item for count, item in zip(counts, x.shape, strict=True))
    )


@implements(np.repeat)
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Array:
    if axis is None:
        x, axis = x.ravel(), 0
    axis = normalize_axis(axis, x.ndim)
    indices = np.repeat(np.arange(x.shape[axis]), np.asarray(repeats))
    return PRIMITIVES["take"](x, constant(indices), axis=axis)
