"""NumPy's functions that write into an array, on traced arrays; and which functions give views of their argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.memory import assign
from madaline.graph.node import Node
from madaline.graph.numpy_api.dispatch import implements, is_view

is_view(
    np.reshape,
    np.ravel,
    np.transpose,
    np.permute_dims,
    np.matrix_transpose,
    np.linalg.matrix_transpose,
    np.swapaxes,
    np.moveaxis,
    np.rollaxis,
    np.expand_dims,
    np.squeeze,
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
    np.flip,
    np.flipud,
    np.fliplr,
    np.rot90,
    np.split,
    np.array_split,
    np.hsplit,
    np.vsplit,
    np.dsplit,
    np.unstack,
    np.real,
)
is_view(np.diagonal, np.linalg.diagonal, np.broadcast_to, np.broadcast_arrays, read_only=True)
is_view(np.lib.stride_tricks.sliding_window_view, read_only=True)


def _traced(name: str, array: Any) -> Node:
    if not isinstance(array, Node):
        raise TraceError(
            f"np.{name} writes a traced value into a plain array, where it would lose its derivative. Make the array "
            "with md.zeros or np.zeros_like(x), or copy it with md.array(a)."
        )
    return array


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    mask = np.zeros(_traced("fill_diagonal", a).shape, dtype=bool)
    np.fill_diagonal(mask, True, wrap)
    count = int(mask.sum())
    if np.ndim(val) and np.size(val) != count:
        val = np.resize(val, count)
    assign(a, mask, val)


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Operand = True) -> None:
    assign(_traced("copyto", dst), Ellipsis, src if where is True else np.where(where, src, dst))


@implements(np.putmask)
def putmask(a: Array, mask: Any, values: Array) -> None:
    values = values if np.ndim(values) == 0 else np.resize(values, np.shape(a))
    assign(_traced("putmask", a), Ellipsis, np.where(mask, values, a))


@implements(np.put)
def put(a: Any, ind: Any, v: Operand, mode: str = "raise") -> None:
    _traced("put", a)
    index = np.asarray(ind).ravel()
    values = v if np.ndim(v) == 0 else np.resize(v, index.shape)
    assign(
        a,
        np.unravel_index(index % a.size if mode == "wrap" else np.where(index < 0, index + a.size, index), a.shape),
        values,
    )


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Operand, values: Any, axis: int | None) -> None:
    _traced("put_along_axis", arr)
    chosen = np.asarray(indices)
    if axis is None:
        return put(arr, chosen, values)
    grid = list(np.ogrid[tuple(slice(size) for size in arr.shape)])
    grid[axis] = chosen
    return assign(arr, tuple(grid), values)


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Array:
    """The elements in row-major order, repeated as often as needed."""
    shape = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    index = np.resize(np.arange(a.size), tuple(shape))
    return np.take(np.ravel(a), index)
