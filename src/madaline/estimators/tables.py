"""Tables of anything in place of arrays of numbers: what ``data="auto"`` does."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from madaline.data.encode import NUMBERS, TablePlan
from madaline.data.table import Table
from madaline.errors import ConfigError, ShapeError


def fit_table(estimator: Any, given: Any, table: Table, y: Any) -> None:
    """Look at the training table: its plan becomes ``table_plan_``, its names ``feature_names_in_``."""
    if isinstance(given, TablePlan):
        plan = given
    elif given == "auto" or isinstance(given, dict):
        plan = TablePlan.fit(table, y if np.ndim(y) == 1 else None, **(given if isinstance(given, dict) else {}))
    else:
        raise ConfigError(
            f"data={given!r} must be 'auto', a dict of options of TablePlan.fit, a TablePlan, or None for numbers only."
        )
    estimator.table_plan_ = plan
    estimator.n_features_in_ = len(plan.columns)
    estimator.__dict__.pop("feature_names_in_", None)
    if plan.has_names:
        estimator.feature_names_in_ = np.array([column.column for column in plan.columns], dtype=object)


def encoded(plan: TablePlan, table: Any) -> Any:
    """The arrays of a table: a matrix if there are only numbers, else a dict with the categories to embed."""
    table = Table.of(table)
    if not table.n_rows:
        raise ShapeError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows.")
    arrays = plan.encode(table)
    return arrays[NUMBERS] if list(arrays) == [NUMBERS] else arrays


def read_target(y: Any, table: Table, *, numeric: bool) -> np.ndarray:
    """Targets of any kind as an array, checked as scikit-learn does."""
    y = y if hasattr(y, "nnz") else np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    found: np.ndarray = check_array(
        y,
        accept_sparse="csr",
        ensure_2d=False,
        dtype="numeric" if numeric else None,
        ensure_min_samples=1,
        input_name="y",
    )
    check_consistent_length(np.empty((table.n_rows, 0)), found)
    return found
