"""Some columns of the input, for layers that add features of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.description import short
from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import Shape
from madaline.nn.layer import last_axis

if TYPE_CHECKING:
    from madaline.graph.arrays import Array

Columns = tuple[int, ...]


def as_columns(layer: str, given: Sequence[int] | None) -> Columns | None:
    """Column indices as a tuple; an error if they are not in increasing order."""
    if given is None:
        return None
    columns = tuple(given)
    rising = all(isinstance(j, (int, np.integer)) and j > i for i, j in itertools.pairwise((-1, *columns)))
    if not columns or not rising:
        raise ConfigError(f"{layer}: columns={short(given)} must be column indices in increasing order.")
    return tuple(int(j) for j in columns)


def n_chosen(columns: Columns | None, in_shape: Shape) -> int:
    """The number of chosen columns of an input of this shape; all if ``columns`` is None."""
    n_in = last_axis(in_shape)
    if columns is not None and columns[-1] >= n_in:
        raise ShapeError(f"columns contains {columns[-1]}, but the input has {n_in} columns, numbered from 0.")
    return n_in if columns is None else len(columns)


def chosen(x: Array, columns: Columns | None) -> Array:
    """The chosen columns of the last axis, taken as runs of neighbours."""
    if columns is None:
        return x
    runs: list[slice] = []
    for j in columns:
        if runs and runs[-1].stop == j:
            runs[-1] = slice(runs[-1].start, j + 1)
        else:
            runs.append(slice(j, j + 1))
    return np.concatenate([x[..., run] for run in runs], axis=-1)


def with_features(x: Array, features: Any) -> Array:
    """The input, followed by the features of its columns, whose last axis is that of one column."""
    flat = features.reshape((*features.shape[:-2], features.shape[-2] * features.shape[-1]))
    return np.concatenate([x, flat], axis=-1)
