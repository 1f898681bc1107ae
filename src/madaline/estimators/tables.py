"""Tables with mixed columns as input of an estimator (``data="auto"``); imported only when needed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from madaline.errors import ConfigError, ShapeError

NOT_NUMBERS = ("could not convert string", "Input X contains NaN", "dtype='numeric' is not compatible")
"Beginnings of scikit-learn's errors for rows that are not numbers."

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets
    from madaline.data.encode import TablePlan
    from madaline.data.table import Table
    from madaline.estimators.base import NetEstimator


@contextmanager
def pointing_to_tables() -> Iterator[None]:
    """Add a hint about ``data="auto"`` to scikit-learn's errors for rows that are not numbers."""
    try:
        yield
    except ValueError as error:
        if not any(words in str(error) for words in NOT_NUMBERS):
            raise
        raise ValueError(
            f'{str(error).rstrip(".")}.\nPass data="auto" to train on tables with text, categories, dates and missing '
            "values."
        ) from None


def read_table(estimator: NetEstimator, X: Inputs, y: Targets, *, numeric: bool) -> tuple[Table, np.ndarray]:
    """The table, and targets as an array; ``numeric`` if targets must be numbers."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    table = _with_rows(X)
    return table, _target(y, table.n_rows, numeric=numeric)


def _with_rows(X: Inputs) -> Table:
    """A table that has rows and columns; errors are scikit-learn's."""
    from madaline.data.table import Table

    if isinstance(X, np.ndarray) and X.ndim != 2 and not X.dtype.names:
        check_array(X, dtype=None)
    table = Table.of(X)
    if not table.n_rows:
        raise ShapeError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows.")
    if not table.names:
        raise ShapeError(
            f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required: the table "
            "has no columns."
        )
    return table


def learn_table(estimator: NetEstimator, given: Any, table: Table, y: Any) -> None:
    """Set ``table_plan_`` and the names of the columns of an estimator.

    Parameters
    ----------
    estimator : NetEstimator
    given : "auto", dict or TablePlan
        The parameter ``data``.
    table, y
        The training set.
    """
    if table.n_rows == 1 and not hasattr(given, "encode"):
        raise ShapeError("Found array with 1 sample(s) while a minimum of 2 is required: one row is not enough.")
    plan = estimator.table_plan_ = _fitted(given, table, y)
    estimator.n_features_in_ = len(plan.columns)
    estimator.__dict__.pop("feature_names_in_", None)
    if plan.has_names:
        estimator.feature_names_in_ = np.array([column.column for column in plan.columns], dtype=object)


@dataclass(frozen=True)
class EncodedTable:
    """Rows that a plan has already encoded. Estimators with this plan take them in place of a table."""

    arrays: Mapping[str, np.ndarray]


def encoded(plan: TablePlan, X: Inputs) -> Any:
    """The arrays of a table: a matrix if there are only numbers, else a dict with the categories to embed."""
    return plain_matrix(X.arrays if isinstance(X, EncodedTable) else plan.encode(_with_rows(X)))


def check_width(estimator: NetEstimator, X: Inputs) -> None:
    """Raise scikit-learn's error if an array does not have as many columns as in ``fit``."""
    width, expected = np.shape(X)[1] if isinstance(X, np.ndarray) and X.ndim == 2 else None, estimator.n_features_in_
    if width is not None and width != expected:
        raise ShapeError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {expected} features as input."
        )


def plain_matrix(arrays: Any) -> Any:
    """The matrix of a table that has only numbers; the arrays themselves otherwise."""
    from madaline.data.encode import NUMBERS

    return arrays[NUMBERS] if list(arrays) == [NUMBERS] else arrays


def _fitted(given: Any, table: Table, y: Any) -> TablePlan:
    from madaline.data.encode import TablePlan

    if isinstance(given, TablePlan):
        return given
    if given != "auto" and not isinstance(given, dict):
        raise ConfigError(
            f"data={given!r} must be 'auto', a dict of options of TablePlan.fit, a TablePlan, or None for numbers only."
        )
    options = given if isinstance(given, dict) else {}
    known = list(inspect.signature(TablePlan.fit).parameters)[2:]
    if unknown := [name for name in options if name not in known]:
        raise ConfigError(f"data: {unknown[0]!r} is not an option of TablePlan.fit. Options: {', '.join(known)}.")
    return TablePlan.fit(table, y if y.ndim == 1 else None, **options)


def _target(y: Targets, n_rows: int, *, numeric: bool) -> np.ndarray:
    """Targets of any kind as an array, checked as scikit-learn does."""
    y = (
        y
        if hasattr(y, "nnz")
        else np.asarray(y if hasattr(y, "__array__") or not hasattr(y, "to_numpy") else y.to_numpy())
    )
    dtype = "numeric" if numeric else None
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn uses a sum to find NaN
        found: np.ndarray = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=dtype, input_name="y")
    check_consistent_length(np.empty((n_rows, 0)), found)
    return found
