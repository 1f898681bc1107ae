"""Rows of data that one of several models is trained on: a fold, or a bootstrap sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError, DtypeError, ShapeError


@dataclass(frozen=True)
class ChosenRows:
    """Row numbers of a training set and, if given, of a validation set. A row may occur several times."""

    training: np.ndarray
    validation: np.ndarray | None = None


def as_rows(given: Any, n_rows: int, name: str) -> np.ndarray:
    """Row numbers from numbers or from a mask with one value for each row."""
    found = np.asarray(given)
    if found.dtype == bool:
        if found.shape != (n_rows,):
            raise ShapeError(
                f"{name} is a mask of shape {found.shape}; it must have one value for each of {n_rows} rows."
            )
        found = np.flatnonzero(found)
    if not found.size:
        raise ConfigError(f"{name} has no rows.")
    if found.dtype.kind not in "iu":
        raise DtypeError(f"{name} has dtype {found.dtype}; it must hold row numbers, or be a mask of True and False.")
    if found.ndim != 1:
        raise ShapeError(f"{name} has shape {found.shape}; it must be a list of row numbers.")
    if found.min() < 0 or found.max() >= n_rows:
        wrong = int(found.min() if found.min() < 0 else found.max())
        raise ConfigError(f"{name} has row {wrong}; the data has rows 0 to {n_rows - 1}.")
    return np.ascontiguousarray(found, dtype=np.int64)
