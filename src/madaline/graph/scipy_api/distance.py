"""``scipy.spatial.distance`` on traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array
from madaline.graph.object_arrays import as_traced
from madaline.graph.scipy_api.replacement import register


def _root(squares: Array) -> Array:
    """The square root, with derivative 0 at 0: the distance of a point to itself does not change."""
    is_zero = np.equal(squares, 0.0)
    return np.where(is_zero, 0.0, np.sqrt(np.where(is_zero, 1.0, squares)))


def sqeuclidean(u: Any, v: Any) -> Array:
    """The squared distance of vectors in the last axis."""
    return np.sum(np.square(as_traced(u) - as_traced(v)), axis=-1)


def euclidean(u: Any, v: Any) -> Array:
    """The distance of vectors in the last axis; derivative 0 where they are equal."""
    return _root(sqeuclidean(u, v))


def cityblock(u: Any, v: Any) -> Array:
    """The sum of absolute differences."""
    return np.sum(np.abs(as_traced(u) - as_traced(v)), axis=-1)


def chebyshev(u: Any, v: Any) -> Array:
    """The largest absolute difference."""
    return np.max(np.abs(as_traced(u) - as_traced(v)), axis=-1)


def cosine(u: Any, v: Any) -> Array:
    """1 minus the cosine of the angle between two vectors."""
    u, v = as_traced(u), as_traced(v)
    lengths = np.sum(np.square(u), axis=-1) * np.sum(np.square(v), axis=-1)
    return 1.0 - np.sum(u * v, axis=-1) / np.sqrt(lengths)


METRICS: dict[str, Callable[..., Any]] = {
    "chebyshev": chebyshev,
    "cityblock": cityblock,
    "cosine": cosine,
    "euclidean": euclidean,
    "sqeuclidean": sqeuclidean,
}


def _metric(name: Any) -> Callable[..., Any]:
    if name not in METRICS:
        raise TraceError(f"metric={name!r} is not supported on traced values. Use one of {', '.join(METRICS)}.")
    return METRICS[name]


def cdist(XA: Any, XB: Any, metric: Any = "euclidean") -> Array:
    """The distances of all pairs of rows."""
    a, b = as_traced(XA), as_traced(XB)
    return _metric(metric)(np.expand_dims(a, 1), np.expand_dims(b, 0))


def pdist(X: Any, metric: Any = "euclidean") -> Array:
    """The distances of the pairs of rows of one matrix."""
    x = as_traced(X)
    first, second = np.triu_indices(len(x), 1)
    return _metric(metric)(x[first], x[second])


def squareform(X: Any) -> Array:
    """The matrix of distances of their vector, or the other way."""
    x = as_traced(X)
    if x.ndim == 2:
        return x[np.triu_indices(len(x), 1)]
    size = round((1.0 + np.sqrt(1.0 + 8.0 * len(x))) / 2.0)
    if size * (size - 1) // 2 != len(x):
        raise ValueError(f"squareform: {len(x)} numbers are not the distances of the pairs of some points.")
    place = np.zeros((size, size), dtype=int)
    place[np.triu_indices(size, 1)] = np.arange(len(x))
    # The diagonal is 0, also where a distance is infinite.
    return np.where(np.eye(size, dtype=bool), 0.0, x[place + place.T])


register("scipy.spatial.distance", {"cdist": cdist, "pdist": pdist, "squareform": squareform, **METRICS})
