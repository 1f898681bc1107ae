"""NumPy's functions of shape on traced values: other axes, other sizes, another order of the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array
from madaline.graph.node import Node, as_node, constant, graph_dtype
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import Rows, Shape, broadcast, normalize_axes, normalize_axis, show, size_of


@implements(np.reshape)
def reshape(x: Any, shape: Any = None, order: str = "C", *, newshape: Any = None) -> Any:
    x = as_node(x)
    shape = newshape if shape is None else shape
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    sizes = tuple(size if isinstance(size, Rows) else int(size) for size in sizes)
    if order not in ("C", "F"):
        raise TraceError(
            f"order={order!r} asks for the order in memory, which a traced value does not have. Use 'C' or 'F'."
        )
    if order == "F":
        return transpose(reshape(transpose(x), sizes[::-1]))
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
def squeeze(x: Any, axis: int | None = None) -> Any:
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


@implements(np.atleast_3d)
def atleast_3d(*arrays: Any) -> Any:
    wide = [atleast_2d(x) for x in arrays]
    results = [x if x.ndim > 2 else reshape(x, (*x.shape, 1)) for x in wide]
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.broadcast_to)
def broadcast_to(x: Any, shape: Any) -> Any:
    x = as_node(x)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return x if x.shape == sizes else PRIMITIVES["broadcast_to"](x, shape=sizes)


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    nodes = [as_node(x) for x in arrays]
    shape = broadcast(*(node.shape for node in nodes))
    return tuple(broadcast_to(node, shape) for node in nodes)


@implements(np.shape)
def shape_of(x: Array) -> Any:
    return x.shape


@implements(np.ndim)
def ndim(x: Array) -> Any:
    return x.ndim


@implements(np.size)
def size(x: Array, axis: int | None = None) -> Any:
    return x.size if axis is None else x.shape[axis]


@implements(np.diag_indices_from)
def diag_indices_from(arr: Array) -> Any:
    return np.diag_indices_from(np.empty(arr.shape))


@implements(np.tril_indices_from)
def tril_indices_from(arr: Array, k: int = 0) -> Any:
    return np.tril_indices_from(np.empty(arr.shape), k)


@implements(np.triu_indices_from)
def triu_indices_from(arr: Array, k: int = 0) -> Any:
    return np.triu_indices_from(np.empty(arr.shape), k)


@implements(np.result_type)
def result_type(*items: Any) -> Any:
    return np.result_type(*(item.dtype if isinstance(item, Node) else item for item in items))


@implements(np.zeros_like, np.empty_like)
def zeros_like(x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(x, 0, dtype, order, subok, shape)


@implements(np.ones_like)
def ones_like(x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(x, 1, dtype, order, subok, shape)


@implements(np.full_like)
def full_like(x: Any, value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    wanted = graph_dtype(x.dtype if dtype is None else dtype)
    sizes = tuple(x.shape) if shape is None else tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    filled = value.astype(wanted) if isinstance(value, Node) else constant(value, wanted)
    return broadcast_to(filled, sizes)


@implements(np.flip)
def flip(x: Any, axis: Any = None) -> Array:
    axes = normalize_axes(tuple(axis) if isinstance(axis, list) else axis, x.ndim)
    return PRIMITIVES["flip"](x, axes=axes) if axes else x


@implements(np.flipud)
def flipud(x: Any) -> Array:
    return flip(x, 0)


@implements(np.fliplr)
def fliplr(x: Any) -> Array:
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
        x = np.concatenate([x[(*whole, slice(cut, None))], x[(*whole, slice(None, cut))]], item)
    return x


@implements(np.rot90)
def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    for _ in range(k % 4):
        x = flip(swapaxes(x, *axes), axes[0])
    return x
