"""What of ``np.linalg`` is a formula: norms, powers and chains of products."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.node import as_node
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.shapes import normalize_axis, show


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - NumPy's name
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
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:  # noqa: A002 - NumPy's name
    r""":math:`(\sum |x|^p)^{1/p}`; the derivative at the origin is 0."""
    x = as_node(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
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


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:  # noqa: A002 - NumPy's name
    if ord == "fro":
        return vector_norm(x, axis=axes, keepdims=keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise TraceError(
            f"np.linalg.norm(ord={ord!r}) of a matrix needs its singular values and is not supported on traced values. "
            "Use ord=None (Frobenius), 1, -1, np.inf or -np.inf."
        )
    # 1 is the largest sum of a column, inf of a row.
    along, over = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(x), axis=along, keepdims=True)
    found = (np.max if ord > 0 else np.min)(sums, axis=over, keepdims=True)
    return found if keepdims else np.squeeze(found, axis=axes)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:  # noqa: A002 - NumPy's name
    return norm(x, ord, (-2, -1), keepdims)


@implements(np.linalg.matrix_power)
def matrix_power(x: Any, n: int) -> Any:
    """By squaring."""
    if n < 0:
        raise TraceError(f"np.linalg.matrix_power(n={n}) needs an inverse, which is not supported on traced values.")
    if n == 0:
        return np.broadcast_to(as_node(np.eye(x.shape[-1]), x.dtype).astype(x.dtype), x.shape)
    half = matrix_power(x, n // 2) if n > 1 else None
    return x if half is None else half @ half @ x if n % 2 else half @ half


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Any) -> Any:
    """From left to right."""
    return reduce(np.matmul, arrays)


@implements(np.linalg.trace)
def trace(x: Any, /, *, offset: int = 0) -> Any:
    return np.trace(x, offset, -2, -1)
