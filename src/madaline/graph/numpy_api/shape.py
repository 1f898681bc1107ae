"""NumPy's shape functions on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.node import Node, as_node, constant, graph_dtype
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.shape import place
from madaline.graph.shapes import Rows, Shape, broadcast, normalize_axes, normalize_axis, show, size_of


@implements(np.reshape)
def reshape(x: Any, shape: Any = None, order: str = "C", *, newshape: Any = None) -> Any:
    if order != "C":
        raise TraceError(
            f"order={order!r} is not supported on traced values. Transpose first, then reshape in C order."
        )
    x = as_node(x)
    shape = newshape if shape is None else shape
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    sizes = tuple(size if isinstance(size, Rows) else int(size) for size in sizes)
    if sizes.count(-1) > 1:
        raise ShapeError(f"shape={show(sizes)} leaves more than one size open; only one may be -1.")
    if -1 in sizes:
        sizes = tuple(_missing(x.shape, sizes) if size == -1 else size for size in sizes)
    return x if sizes == x.shape else PRIMITIVES["reshape"](x, shape=sizes)


def _missing(have: Shape, sizes: Shape) -> Any:
    total, known = size_of(have), size_of(tuple(size for size in sizes if size != -1))
    if isinstance(total, Rows):
        if isinstance(known, Rows):
            if (
                known.coefficient
                and total.coefficient % known.coefficient == 0
                and total == known * (total.coefficient // known.coefficient)
            ):
                return total.coefficient // known.coefficient
        elif known and total.coefficient % known == 0 and total.offset % known == 0:
            return Rows(total.coefficient // known, total.offset // known)
    elif not isinstance(known, Rows) and known and total % known == 0:
        return total // known
    raise ShapeError(f"{show(have)} cannot be reshaped to {show(sizes)}: the sizes do not divide.")


@implements(np.ravel)
def ravel(x: Any, order: str = "C") -> Any:
    return reshape(x, -1, order)


@implements(np.transpose, np.permute_dims)
def transpose(x: Any, axes: Any = None) -> Any:
    x = as_node(x)
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(normalize_axis(axis, x.ndim) for axis in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(f"axes={axes} must name each of the {x.ndim} axes once.")
    return x if order == tuple(range(x.ndim)) else PRIMITIVES["transpose"](x, axes=order)


@implements(np.swapaxes)
def swapaxes(x: Any, first: int, second: int) -> Any:
    order = list(range(x.ndim))
    first, second = normalize_axis(first, x.ndim), normalize_axis(second, x.ndim)
    order[first], order[second] = second, first
    return transpose(x, order)


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any) -> Any:
    return swapaxes(x, -1, -2)


@implements(np.moveaxis)
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    sources = [normalize_axis(axis, x.ndim) for axis in (source if isinstance(source, (tuple, list)) else [source])]
    targets = [
        normalize_axis(axis, x.ndim)
        for axis in (destination if isinstance(destination, (tuple, list)) else [destination])
    ]
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return transpose(x, order)


@implements(np.rollaxis)
def rollaxis(x: Any, axis: int, start: int = 0) -> Any:
    axis = normalize_axis(axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - 1 if axis < start else start)


@implements(np.expand_dims)
def expand_dims(x: Any, axis: Any) -> Any:
    x = as_node(x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = x.ndim + len(axes)
    new = {normalize_axis(item, rank) for item in axes}
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if position in new else next(sizes) for position in range(rank)))


@implements(np.squeeze)
def squeeze(x: Any, axis: Any = None) -> Any:
    axes = tuple(a for a, size in enumerate(x.shape) if size == 1) if axis is None else normalize_axes(axis, x.ndim)
    for item in axes:
        if x.shape[item] != 1:
            raise ShapeError(f"axis={item} has size {x.shape[item]}; only axes of size 1 can be squeezed away.")
    return reshape(x, tuple(size for a, size in enumerate(x.shape) if a not in axes))


@implements(np.atleast_1d)
def atleast_1d(*arrays: Any) -> Any:
    results = [reshape(x, (1,)) if np.ndim(x) == 0 else x for x in arrays]
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.atleast_2d)
def atleast_2d(*arrays: Any) -> Any:
    results = [x if np.ndim(x) >= 2 else reshape(x, (1, -1)) for x in arrays]
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.broadcast_to)
def broadcast_to(x: Any, shape: Any) -> Any:
    x = as_node(x)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return x if x.shape == sizes else PRIMITIVES["broadcast_to"](x, shape=sizes)


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any) -> Any:
    nodes = [as_node(x) for x in arrays]
    shape = broadcast(*(node.shape for node in nodes))
    return tuple(broadcast_to(node, shape) for node in nodes)


@implements(np.shape)
def shape_of(x: Any) -> Any:
    return x.shape


@implements(np.ndim)
def ndim(x: Any) -> Any:
    return x.ndim


@implements(np.size)
def size(x: Any, axis: int | None = None) -> Any:
    return x.size if axis is None else x.shape[axis]


@implements(np.zeros_like)
def zeros_like(x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(x, 0, dtype, order, subok, shape)


@implements(np.ones_like)
def ones_like(x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(x, 1, dtype, order, subok, shape)


@implements(np.empty_like)
def empty_like(x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    raise TraceError(
        "np.empty_like makes an array to be filled in place, which a traced value cannot be. Build the parts and use np.stack or np.concatenate."
    )


@implements(np.full_like)
def full_like(x: Any, value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    wanted = graph_dtype(x.dtype if dtype is None else dtype)
    sizes = tuple(x.shape) if shape is None else tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    filled = value.astype(wanted) if isinstance(value, Node) else constant(value, wanted)
    return broadcast_to(filled, sizes)


@implements(np.concatenate)
def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    nodes = [as_node(x) for x in arrays]
    if axis is None:
        nodes, axis = [node.ravel() for node in nodes], 0
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
def stack(arrays: Any, axis: int = 0, *, dtype: Any = None) -> Any:
    nodes = [as_node(x) for x in arrays]
    if any(node.shape != nodes[0].shape for node in nodes):
        raise ShapeError(
            f"Arrays to stack must have one shape; theirs are {', '.join(show(node.shape) for node in nodes)}."
        )
    return concatenate([expand_dims(node, axis) for node in nodes], normalize_axis(axis, nodes[0].ndim + 1), dtype)


@implements(np.vstack)
def vstack(arrays: Any, *, dtype: Any = None) -> Any:
    return concatenate([atleast_2d(as_node(x)) for x in arrays], 0, dtype)


@implements(np.hstack)
def hstack(arrays: Any, *, dtype: Any = None) -> Any:
    nodes = [atleast_1d(as_node(x)) for x in arrays]
    return concatenate(nodes, 0 if nodes[0].ndim == 1 else 1, dtype)


@implements(np.column_stack)
def column_stack(arrays: Any) -> Any:
    nodes = [as_node(x) for x in arrays]
    return concatenate([node.reshape(-1, 1) if node.ndim < 2 else node for node in nodes], 1)


@implements(np.append)
def append(x: Any, values: Any, axis: int | None = None) -> Any:
    return concatenate([x, values], axis)


@implements(np.split, np.array_split)
def split(x: Any, parts: Any, axis: int = 0) -> Any:
    axis = normalize_axis(axis, x.ndim)
    bounds = np.array_split(np.arange(len(x) if axis == 0 else x.shape[axis]), parts)
    whole: tuple[slice, ...] = (slice(None),) * axis
    edges = [0, *np.cumsum([len(part) for part in bounds]).tolist()]
    return [x[(*whole, slice(start, stop))] for start, stop in zip(edges[:-1], edges[1:], strict=True)]


@implements(np.pad)
def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    if mode != "constant" or not np.isscalar(constant_values):
        raise TraceError(
            f"np.pad with mode={mode!r} is not supported on traced values; mode='constant' with one number is."
        )
    x = as_node(x)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    shape = tuple(size + low + high for size, (low, high) in zip(x.shape, widths, strict=True))
    start = tuple(low for low, _ in widths)
    value = constant(constant_values, x.dtype)
    shifted = x if constant_values == 0 else x - value
    padded = place([shifted], shape, [start], [(1,) * x.ndim])
    return padded if constant_values == 0 else padded + value


@implements(np.flip)
def flip(x: Any, axis: Any = None) -> Any:
    axes = normalize_axes(tuple(axis) if isinstance(axis, list) else axis, x.ndim)
    return PRIMITIVES["flip"](x, axes=axes) if axes else x


@implements(np.flipud)
def flipud(x: Any) -> Any:
    return flip(x, 0)


@implements(np.fliplr)
def fliplr(x: Any) -> Any:
    return flip(x, 1)


@implements(np.roll)
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    if axis is None:
        return reshape(roll(x.ravel(), shift, 0), x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for item, amount in zip(axes, shifts, strict=True):
        item = normalize_axis(item, x.ndim)  # noqa: PLW2901 - the same axis, counted from the front
        if x.shape[item] == 0:
            continue
        cut = x.shape[item] - int(amount) % x.shape[item]
        whole: tuple[slice, ...] = (slice(None),) * item
        x = concatenate([x[(*whole, slice(cut, None))], x[(*whole, slice(None, cut))]], item)
    return x


@implements(np.rot90)
def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    for _ in range(k % 4):
        x = flip(swapaxes(x, *axes), axes[0])
    return x


@implements(np.tile)
def tile(x: Any, reps: Any) -> Any:
    x = as_node(x)
    counts = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    counts = (1,) * (x.ndim - len(counts)) + counts
    x = reshape(x, (1,) * (len(counts) - x.ndim) + x.shape)
    spread = tuple(size for pair in zip(counts, x.shape, strict=True) for size in pair)
    lifted = reshape(x, tuple(size for item in x.shape for size in (1, item)))
    return reshape(
        broadcast_to(lifted, spread), tuple(count * item for count, item in zip(counts, x.shape, strict=True))
    )


@implements(np.repeat)
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = x.ravel(), 0
    axis = normalize_axis(axis, x.ndim)
    indices = np.repeat(np.arange(x.shape[axis]), np.asarray(repeats))
    return PRIMITIVES["take"](x, constant(indices), axis=axis)


@implements(np.take)
def take(x: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    if mode != "raise":
        raise TraceError(f"np.take(mode={mode!r}) is not supported on traced values. Clip or wrap the indices first.")
    x = as_node(x)
    if axis is None:
        x, axis = x.ravel(), 0
    chosen = as_node(indices)
    if chosen.dtype.kind != "i":
        raise TraceError(f"indices of type {chosen.dtype} cannot index. Use integers: indices.astype(int).")
    return PRIMITIVES["take"](x, chosen, axis=normalize_axis(axis, x.ndim))


@implements(np.take_along_axis)
def take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Any:
    x, indices = as_node(x), as_node(indices)
    if axis is None:
        x, indices, axis = x.ravel(), indices.ravel(), 0
    axis = normalize_axis(axis, x.ndim)
    x, indices = moveaxis(x, axis, -1), moveaxis(indices, axis, -1)
    lead = broadcast(x.shape[:-1], indices.shape[:-1])
    x, indices = broadcast_to(x, (*lead, x.shape[-1])), broadcast_to(indices, (*lead, indices.shape[-1]))
    return moveaxis(PRIMITIVES["take_along"](x, indices), -1, axis)


@implements(np.diff)
def diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    axis = normalize_axis(axis, x.ndim)
    whole: tuple[slice, ...] = (slice(None),) * axis
    for _ in range(n):
        x = x[(*whole, slice(1, None))] - x[(*whole, slice(None, -1))]
    return x


@implements(np.tril)
def tril(x: Any, k: int = 0) -> Any:
    return np.where(np.tri(x.shape[-2], x.shape[-1], k, dtype=bool), x, 0)


@implements(np.triu)
def triu(x: Any, k: int = 0) -> Any:
    return np.where(np.tri(x.shape[-2], x.shape[-1], k - 1, dtype=bool), 0, x)


@implements(np.diagonal)
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    moved = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = moved.shape[-2:]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    flat = np.arange(count) * (columns + 1) + (offset if offset >= 0 else -offset * columns)
    return PRIMITIVES["take"](reshape(moved, (*moved.shape[:-2], -1)), constant(flat), axis=moved.ndim - 2)


@implements(np.diag)
def diag(x: Any, k: int = 0) -> Any:
    if x.ndim == 2:
        return diagonal(x, k)
    size = x.shape[0] + abs(k)
    flat = np.arange(x.shape[0]) * (size + 1) + (k if k >= 0 else -k * size)
    return reshape(PRIMITIVES["scatter_add"](x, constant(flat), axis=0, size=size * size), (size, size))
