"""NumPy's reductions that skip NaN: the holes are filled with what changes nothing, and get derivative 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.arrays import Array, Axis, Operand
from madaline.graph.node import Node
from madaline.graph.numpy_api.dispatch import implements


def _count(x: Array, axis: int, keepdims: bool) -> Any:
    return np.sum(~np.isnan(x), axis=axis, keepdims=keepdims).astype(x.dtype if x.dtype.kind == "f" else np.float64)


@implements(np.nansum)
def nansum(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return np.sum(np.where(np.isnan(x), 0, x), axis=axis, keepdims=keepdims)


@implements(np.nanprod)
def nanprod(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> Node:
    return np.prod(np.where(np.isnan(x), 1, x), axis=axis, keepdims=keepdims)


@implements(np.nanmean)
def nanmean(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return nansum(x, axis, keepdims=keepdims) / _count(x, axis, keepdims)


@implements(np.nanvar)
def nanvar(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    centred = np.where(np.isnan(x), 0.0, x - nanmean(x, axis, keepdims=True))
    return np.sum(np.square(centred), axis=axis, keepdims=keepdims) / (_count(x, axis, keepdims) - ddof)


@implements(np.nanstd)
def nanstd(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    return np.sqrt(nanvar(x, axis, ddof=ddof, keepdims=keepdims))


@implements(np.nanmax)
def nanmax(x: Array, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """NaN where all are."""
    if x.dtype.kind != "f":
        return np.max(x, axis=axis, keepdims=keepdims)
    largest = np.max(np.where(np.isnan(x), -np.inf, x), axis=axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(x), axis=axis, keepdims=keepdims), np.nan, largest)


@implements(np.nanmin)
def nanmin(x: Array, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """NaN where all are."""
    return -nanmax(-x, axis, keepdims=keepdims)
