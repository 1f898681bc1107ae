"""NumPy's functions whose shape depends on the numbers: they work where values are known, outside ``md.compile``.

What they give are positions, which have no derivative, or entries taken from those positions, which have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node, as_node, known_value
from madaline.graph.numpy_api.dispatch import implements, unsupported
from madaline.graph.object_arrays import as_traced
from madaline.graph.primitive import PRIMITIVES


def _known(x: Operand, name: str) -> np.ndarray:
    """The numbers, or an error that says what to do where they are not known."""
    value = known_value(x) if isinstance(x, Node) else np.asarray(x)
    if value is None:
        raise TraceError(unsupported(f"np.{name}", name))
    return value


@implements(np.nonzero)
def nonzero(a: Operand) -> tuple[Array, ...]:
    return np.nonzero(_known(a, "nonzero"))


@implements(np.flatnonzero)
def flatnonzero(a: Operand) -> Array:
    return np.flatnonzero(_known(a, "flatnonzero"))


@implements(np.argwhere)
def argwhere(a: Operand) -> Array:
    return np.argwhere(_known(a, "argwhere"))


@implements(np.extract)
def extract(condition: Operand, arr: Operand) -> Array:
    return np.take(np.ravel(arr), np.flatnonzero(_known(condition, "extract")))


@implements(np.compress)
def compress(condition: Array, a: Array, axis: int | None = None) -> Array:
    return np.take(a, np.flatnonzero(_known(condition, "compress")), axis=axis)


@implements(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """The derivative goes to the first of equal numbers."""
    value = _known(ar, "unique")
    _, index, inverse, counts = np.unique(value, True, True, True, axis, equal_nan=equal_nan)
    found = np.take(np.ravel(ar), index) if axis is None else np.take(ar, index, axis=axis)
    extra = [
        item for item, wanted in ((index, return_index), (inverse, return_inverse), (counts, return_counts)) if wanted
    ]
    return (found, *extra) if extra else found


@implements(np.bincount)
def bincount(x: Operand, /, weights: Any = None, minlength: int = 0) -> Array:
    """Sums of ``weights`` by the integers ``x``, which must be known."""
    index = _known(x, "bincount")
    if weights is None:
        return np.bincount(index, minlength=minlength)
    size = max(int(index.max(initial=-1)) + 1, minlength)
    given = as_node(weights)
    given = given if given.dtype == np.float64 else given.astype(np.float64)
    return PRIMITIVES["scatter_add"](given, as_node(index.astype(np.int64)), axis=0, size=size)


@implements(np.histogram)
def histogram(
    a: Operand,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - NumPy's name
    density: Any = None,
    weights: Any = None,
) -> tuple[Array, ...]:
    """Counts and edges as constants, as NumPy gives them; with traced ``weights``, their sums by bin.

    Traced edges are given back as they are.
    """
    if range is not None and any(isinstance(item, Node) for item in range):
        raise TraceError(
            "np.histogram(..., range=) with traced numbers is not supported: counts have no derivative. Give edges, "
            "bins=np.linspace(low, high, n + 1)."
        )
    bins = as_traced(bins)
    if isinstance(bins, Node):
        counts, _ = histogram(a, _known(bins, "histogram"), range, density, weights)
        return counts, bins
    values = _known(a, "histogram").ravel()
    if weights is None:
        return np.histogram(values, bins, range, density)
    counts, edges = np.histogram(values, bins, range)
    place = np.clip(np.searchsorted(edges, values, "right") - 1, 0, counts.size - 1)
    place[values == edges[-1]] = counts.size - 1
    inside = (values >= edges[0]) & (values <= edges[-1])
    sums = bincount(place[inside], np.ravel(weights)[inside], counts.size)
    return (sums / np.sum(sums) / np.diff(edges) if density else sums), edges


@implements(np.choose)
def choose(a: Any, choices: Any, *, mode: str = "raise") -> Node:
    """Entry ``a`` of the choices, for each element."""
    stacked = np.stack(np.broadcast_arrays(*[as_node(item) for item in choices]))
    if mode != "raise":
        raise TraceError(f"np.choose(mode={mode!r}) is not supported on traced values. Clip or wrap the indices first.")
    index = np.broadcast_to(as_node(a), np.broadcast_shapes(np.shape(a), stacked.shape[1:]))
    return np.take_along_axis(np.broadcast_to(stacked, (stacked.shape[0], *index.shape)), index[None], axis=0)[0]


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """The function is called on each vector separately."""
    moved: Any = np.moveaxis(arr, axis, -1)
    lead = moved.shape[:-1]
    rows = [func1d(row, *args, **kwargs) for row in np.reshape(moved, (-1, moved.shape[-1]))]
    stacked = np.stack([as_node(row) for row in rows])
    rank = stacked.ndim - 1
    result = np.reshape(stacked, (*lead, *stacked.shape[1:]))
    return result if rank == 0 else _moved(result, rank, axis % arr.ndim)


def _moved(result: Any, rank: int, axis: int) -> Node:
    """The last axes of a result, brought to where the axis was that they stand for."""
    return np.moveaxis(result, tuple(range(-rank, 0)), tuple(range(axis, axis + rank)))
