"""Norms and condition numbers of ``np.linalg`` on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array, Axis
from madaline.graph.node import Node, as_node, known_value
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.shapes import normalize_axis, show


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:  # noqa: A002 - NumPy's name
    """Norms of vectors and, over two axes, of matrices; the derivative of a 2-norm at the origin is 0."""
    x = as_node(x)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) not in (1, 2):
        raise ShapeError(f"np.linalg.norm(ord={ord!r}) needs one axis or two; shape {show(x.shape)} gives {len(axes)}.")
    if len(axes) == 1 or ord is None:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    return _matrix_norm(x, ord, (normalize_axis(axes[0], x.ndim), normalize_axis(axes[1], x.ndim)), keepdims)


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Array:  # noqa: A002 - NumPy's name
    r""":math:`(\sum |x|^p)^{1/p}`; the derivative at the origin is 0."""
    x = as_node(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    value = known_value(ord) if isinstance(ord, Node) and not ord.shape else None
    if value is not None and (np.isinf(value) or value == 0):
        # Where the general formula is not defined, and has no derivative by the order.
        return vector_norm(x, axis=axis, keepdims=keepdims, ord=float(value))
    if isinstance(ord, Node):
        return _norm_of_traced_order(x, ord, axis, keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(x.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise TraceError(f"np.linalg.norm(ord={ord!r}) is a norm of matrices; give two axes, or a number as ord.")
    total = np.sum(np.square(x) if ord == 2 else np.abs(x) ** ord, axis=axis, keepdims=keepdims)
    origin = total == 0.0
    return np.where(origin, 0.0, np.where(origin, 1.0, total) ** (1.0 / ord))


def _norm_of_traced_order(x: Any, p: Any, axis: Axis, keepdims: bool) -> Array:
    """By the general formula for every order, since it is differentiated by the order, too."""
    if p.shape:
        raise ShapeError(f"np.linalg.norm(ord=) must be one number; the traced ord has shape {show(p.shape)}.")
    total = np.sum(np.abs(x) ** p, axis=axis, keepdims=keepdims)
    origin = total == 0.0
    return np.where(origin, 0.0, np.where(origin, 1.0, total) ** (1.0 / p))


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Array:  # noqa: A002 - NumPy's name
    if ord == "fro":
        return vector_norm(x, axis=axes, keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        singular = np.linalg.svdvals(np.moveaxis(x, axes, (-2, -1)))
        found = np.sum(singular, axis=-1) if ord == "nuc" else singular[..., 0 if ord == 2 else -1]
        return found.reshape(tuple(1 if a in axes else s for a, s in enumerate(x.shape))) if keepdims else found
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"np.linalg.norm(ord={ord!r}) is not a norm of matrices. Use 1, 2, inf, -1, -2, 'fro', 'nuc'.")
    # 1 is the largest sum of a column, inf of a row.
    along, over = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(x), axis=along, keepdims=True)
    found = (np.max if ord > 0 else np.min)(sums, axis=over, keepdims=True)
    return found if keepdims else np.squeeze(found, axis=axes)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:  # noqa: A002 - NumPy's name
    return norm(x, ord, (-2, -1), keepdims)


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Array:
    """The largest singular value over the smallest; for other norms the norms of the matrix and its inverse."""
    if p in (None, 2, -2):
        singular = np.linalg.svdvals(x)
        largest, smallest = singular[..., 0], singular[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return norm(x, p, (-2, -1)) * norm(np.linalg.inv(x), p, (-2, -1))
