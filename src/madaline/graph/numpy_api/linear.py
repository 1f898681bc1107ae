"""NumPy's products on traced values: all of them end in ``matmul``."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node, as_node, graph_dtype
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.numpy_api.einsum import contract
from madaline.graph.numpy_api.shape import broadcast_to
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import cast
from madaline.graph.shapes import Shape, broadcast, is_symbolic, normalize_axis, show

_RESHAPE, _MATMUL = PRIMITIVES["reshape"], PRIMITIVES["matmul"]


@implements(np.matmul, np.linalg.matmul)
def matmul(a: Any, b: Any) -> Any:
    a, b = as_node(a), as_node(b)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError("matmul needs at least one axis on both sides; multiply by a scalar with *.")
    result_dtype = a.dtype if a.dtype is b.dtype else graph_dtype(np.result_type(a.dtype, b.dtype))
    dtype = result_dtype if result_dtype.kind == "f" else np.dtype(np.int64)
    a, b = cast(a, dtype), cast(b, dtype)
    left = _reshaped(a, (1, *a.shape)) if a.ndim == 1 else a
    right = _reshaped(b, (*b.shape, 1)) if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(
            f"matmul: the last axis of {show(a.shape)} must equal "
            f"the {'only' if b.ndim == 1 else 'second-to-last'} axis of {show(b.shape)}."
        )
    result = _matmul(left, right)
    shape = result.shape
    if b.ndim == 1:
        shape = shape[:-1]
    if a.ndim == 1:
        shape = (*shape[:-2], shape[-1]) if b.ndim > 1 else shape[:-1]
    return cast(result if shape == result.shape else _reshaped(result, shape), result_dtype)


def _reshaped(x: Node, shape: Shape) -> Node:
    """A reshaped array, with the same number of elements."""
    return Node(_RESHAPE, (x,), {"shape": shape}, shape, x.dtype)


def _matmul(a: Node, b: Node) -> Any:
    if b.ndim == 2 and a.ndim > 2 and not is_symbolic(a.shape):
        # One large product instead of many small ones.
        flat = a.reshape((prod(a.shape[:-1]), a.shape[-1]))
        return _MATMUL(flat, b).reshape((*a.shape[:-1], b.shape[-1]))
    if a.ndim == b.ndim == 2:
        return _MATMUL(a, b)
    lead = broadcast(a.shape[:-2], b.shape[:-2])
    return _MATMUL(broadcast_to(a, (*lead, *a.shape[-2:])), broadcast_to(b, (*lead, *b.shape[-2:])))


@implements(np.dot)
def dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(b) <= 2:
        return matmul(a, b)
    return tensordot(a, b, axes=((np.ndim(a) - 1,), (np.ndim(b) - 2,)))


@implements(np.vdot)
def vdot(a: Array, b: Array) -> Any:
    return matmul(np.ravel(a), np.ravel(b))


@implements(np.inner)
def inner(a: Any, b: Any) -> Array:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    return tensordot(a, b, axes=((np.ndim(a) - 1,), (np.ndim(b) - 1,)))


@implements(np.outer, np.linalg.outer)
def outer(a: Operand, b: Operand) -> Node:
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))


@implements(np.vecdot, np.linalg.vecdot)
def vecdot(a: Operand, b: Operand, /, *, axis: int = -1) -> Node:
    return np.sum(np.multiply(a, b), axis=axis)


@implements(np.matvec)
def matvec(a: Any, x: Any) -> Array:
    return np.squeeze(matmul(a, np.expand_dims(x, -1)), axis=-1)


@implements(np.vecmat)
def vecmat(x: Any, a: Any) -> Array:
    return np.squeeze(matmul(np.expand_dims(x, -2), a), axis=-2)


@implements(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    a, b = as_node(a), as_node(b)
    if isinstance(axes, (int, np.integer)):
        left, right = tuple(range(a.ndim - int(axes), a.ndim)), tuple(range(int(axes)))
    else:
        pairs = [item if isinstance(item, (tuple, list)) else (item,) for item in axes]
        left = tuple(normalize_axis(axis, a.ndim) for axis in pairs[0])
        right = tuple(normalize_axis(axis, b.ndim) for axis in pairs[1])
    letters = [chr(ord("a") + i) for i in range(a.ndim + b.ndim)]
    first, second = letters[: a.ndim], letters[a.ndim :]
    for i, j in zip(left, right, strict=True):
        second[j] = first[i]
    kept = [c for i, c in enumerate(first) if i not in left] + [c for j, c in enumerate(second) if j not in right]
    return contract([("".join(first), a), ("".join(second), b)], "".join(kept))


@implements(np.kron)
def kron(a: Any, b: Any) -> Array:
    a, b = as_node(a), as_node(b)
    rank = max(a.ndim, b.ndim)
    first, second = a.reshape((1,) * (rank - a.ndim) + a.shape), b.reshape((1,) * (rank - b.ndim) + b.shape)
    spread = first.reshape(tuple(s for size in first.shape for s in (size, 1))) * second.reshape(
        tuple(s for size in second.shape for s in (1, size))
    )
    return spread.reshape(tuple(x * y for x, y in zip(first.shape, second.shape, strict=True)))


@implements(np.trace)
def trace(x: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    return np.diagonal(x, offset, axis1, axis2).sum(axis=-1)


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ShapeError("np.cross on traced values needs vectors of three components, or two vectors of two.")
    parts = [a[..., (i + 1) % 3] * b[..., (i + 2) % 3] - a[..., (i + 2) % 3] * b[..., (i + 1) % 3] for i in range(3)]
    return np.moveaxis(np.stack(parts, axis=-1), -1, axisc)


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    return cross(x1, x2, axis=axis)


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    r""":math:`y_k = \sum_i a_i v_{k-i}`: all products in a table whose rows are shifted, then summed by column."""
    a, v = np.atleast_1d(as_node(a)), np.atleast_1d(as_node(v))
    a, v = (v, a) if a.shape[0] < v.shape[0] else (a, v)
    n, m = a.shape[0], v.shape[0]
    # Rows of n + m read again as rows of n + m - 1: each starts one place further right than the one above.
    table = np.pad(outer(v, a), ((0, 0), (0, m)))
    full = table.ravel()[: m * (n + m - 1)].reshape(m, n + m - 1).sum(axis=0)
    if mode == "full":
        return full
    start, size = ((m - 1) // 2, n) if mode == "same" else (m - 1, n - m + 1)
    return full[start : start + size]


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    a, v = np.atleast_1d(as_node(a)), np.atleast_1d(as_node(v))
    if a.shape[0] < v.shape[0]:
        return np.flip(convolve(np.flip(a), v, mode))
    return convolve(a, np.flip(v), mode)
