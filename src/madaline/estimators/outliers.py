"""Values that are so far from all others that they are most likely mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from madaline.data.texts import number_text
from madaline.errors import DataWarning
from madaline.estimators.row_set import RowSet

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs
    from madaline.data.encode import TablePlan

FAR, GAP = 50.0, 5.0
"An outlier is this many usual ranges away from the median, and this many times as far as the values that are none."
MOST = 0.005
"Largest fraction of the values that can be outliers; one value always can."
USUAL = (0.01, 0.99)
"Quantiles that are the ends of the usual range."
FEW = 10
"Fewer values show no usual range."
FAR_OUTSIDE, MOST_FAR = 5.0, 0.01
"""A row is far outside the training set if an encoded number is this many times as large as the largest one there; the
largest fraction of the validation set that is left out for this. One row always can be."""


@dataclass(frozen=True)
class Outlier:
    """The most extreme value of a column: its place, itself, and its distance from the median in usual ranges."""

    place: int
    value: float
    times: float


@dataclass(frozen=True)
class ColumnOutlier:
    """The most extreme value of a named column, and its distance from the median in usual ranges."""

    column: str
    value: float
    times: float

    def sentence(self) -> str:
        """What is wrong, and what to do."""
        return (
            f"Column {self.column!r} has the value {number_text(self.value)}, {self.times:,.0f} times its usual range; "
            "correct it, or leave the column out."
        )


def is_outlier(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Whether each of some finite numbers is an outlier.

    Examples
    --------
    >>> np.flatnonzero(is_outlier(np.array([*range(100), 9800.0])))
    array([100])
    """
    distance, usual = _distance_and_range(x)
    if usual <= 0.0 or distance.max() <= FAR * usual:
        return np.zeros(len(x), dtype=bool)
    farthest = np.sort(distance)[-max(1, int(MOST * len(x))) - 1 :]
    with np.errstate(over="ignore"):
        is_first = (farthest[1:] > FAR * usual) & (farthest[1:] > GAP * farthest[:-1])
    if not is_first.any():
        return np.zeros(len(x), dtype=bool)
    return np.asarray(distance >= farthest[1:][is_first][0])


def worst_outlier(x: np.ndarray[Any, Any]) -> Outlier | None:
    """The most extreme of some finite numbers, if it is an outlier."""
    if not is_outlier(x).any():
        return None
    distance, usual = _distance_and_range(x)
    place = int(np.argmax(distance))
    return Outlier(place, float(x[place]), float(distance[place] / usual))


def outlier_hint(X: Inputs) -> str:
    """A sentence that names the column with the most extreme value, or nothing if there is none.

    Examples
    --------
    >>> outlier_hint({"rain": [*range(100), 9800.0]})
    " Column 'rain' has the value 9800, 99 times its usual range; correct it, or leave the column out."
    """
    found = None if issparse(X) or X is None else find_outlier(X)
    return "" if found is None else f" {found.sentence()}"


def find_outlier(X: Any, columns: Container[str] | None = None) -> ColumnOutlier | None:
    """The most extreme outlier of the columns of numbers of a table, by default of all of them."""
    from madaline.data.table import Table

    found = []
    for column in Table.of(X):
        if column.kind == "number" and (columns is None or column.name in columns):
            numbers = np.asarray(column.numbers(), dtype=np.float64)
            outlier = worst_outlier(numbers[np.isfinite(numbers)])
            found += [] if outlier is None else [ColumnOutlier(column.name, outlier.value, outlier.times)]
    return max(found, key=lambda each: each.times, default=None)


def without_far_rows(validation: RowSet, rows: RowSet, plan: TablePlan) -> RowSet:
    """The rows of a validation set that are not far outside the training set; a warning names a column of the others.

    The loss of one row with a mistyped number can be larger than that of all others, and would decide when to stop.

    Parameters
    ----------
    validation, rows : RowSet
        Validation and training sets, encoded.
    plan : TablePlan
        By which they were encoded.
    """
    numbers, trained = (np.abs(_matrix(each.X)) for each in (validation, rows))
    is_far = numbers > FAR_OUTSIDE * np.maximum(trained.max(axis=0, initial=0.0), 1.0)
    near = ~is_far.any(axis=1)
    if near.all() or np.count_nonzero(~near) > max(1, MOST_FAR * len(validation)):
        return validation  # many such rows are no mistakes
    warnings.warn(
        f"{np.count_nonzero(~near)} of {len(validation)} rows of the validation set are left out, since they are far "
        f"outside the training set in {plan.features()[int(np.argmax(is_far.any(axis=0)))]!r}. Correct the values.",
        DataWarning,
        stacklevel=2,
    )
    return validation.take(np.flatnonzero(near))


def _matrix(X: Inputs) -> np.ndarray[Any, Any]:
    """The matrix of numbers of encoded rows."""
    from madaline.data.encode import NUMBERS

    if not isinstance(X, dict):
        return np.asarray(X)
    return np.asarray(X[NUMBERS]) if NUMBERS in X else np.empty((len(next(iter(X.values()))), 0))


def _distance_and_range(x: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], float]:
    """The distance of each number from the median, and the usual range."""
    if len(x) < FEW:
        return np.zeros(len(x)), 0.0
    low, high = np.quantile(x, USUAL[0], method="lower"), np.quantile(x, USUAL[1], method="higher")
    with np.errstate(over="ignore"):
        return np.abs(x - np.median(x)), float(high - low)
