"""NumPy's polynomials, given by their coefficients with the highest power first, on traced values."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.node import Node, as_node
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.shapes import show


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's scheme."""
    y = x * 0
    for coefficient in p if isinstance(p, Node) else np.asarray(p):
        y = y * x + coefficient
    return y


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    p = as_node(p)
    for _ in range(operator.index(m)):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The constants ``k`` of integration are 0 by default."""
    p = as_node(p)
    constants = np.zeros(m) if k is None else np.broadcast_to(np.ravel(k), (operator.index(m),))
    for number in range(m):
        p = np.concatenate([p / np.arange(p.shape[0], 0, -1), np.reshape(constants[number], (1,))])
    return p


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    a, b = np.atleast_1d(as_node(a1)), np.atleast_1d(as_node(a2))
    size = max(a.shape[0], b.shape[0])
    return np.pad(a, (size - a.shape[0], 0)) + np.pad(b, (size - b.shape[0], 0))


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    return polyadd(a1, np.negative(a2))


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(np.atleast_1d(as_node(a1)), np.atleast_1d(as_node(a2)))


@implements(np.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Least squares, with columns scaled to length 1 as NumPy scales them."""
    if full or cov or np.ndim(deg):
        raise TraceError("np.polyfit of traced values takes one degree, and gives coefficients only: no full=, cov=.")
    x, y = as_node(x) + 0.0, as_node(y) + 0.0
    if x.ndim != 1 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise ShapeError(
            f"np.polyfit: x of shape (n,) and y of shape (n,) or (n, k); not {show(x.shape)}, {show(y.shape)}."
        )
    columns: Any = np.vander(x, operator.index(deg) + 1)
    if w is not None:
        columns, y = columns * np.reshape(w, (-1, 1)), y * (w if y.ndim == 1 else np.reshape(w, (-1, 1)))
    scale = np.sqrt(np.sum(np.square(columns), axis=0))
    found: Any = np.linalg.lstsq(columns / scale, y, rcond=rcond)[0]
    return found / (scale if y.ndim == 1 else np.reshape(scale, (-1, 1)))
