"""The rows of a report in any form: as tables to show, and column by column to measure effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from madaline.data.encode import TablePlan
from madaline.data.table import Table
from madaline.errors import ConfigError
from madaline.estimators.tabular.predictions import final_estimator, scored_prediction
from madaline.extras import require
from madaline.report.effects import MAX_ROWS, Arrays, Feature
from madaline.report.features import column_kinds, matrix_features, objects, series_feature, table_features
from madaline.report.table_summary import kinds_of

MATRIX = "X"
"The input that holds the columns of an array."
WIDEST = 200
"Maximum number of columns of a matrix for distributions and correlations."


@dataclass(frozen=True)
class ShownColumns:
    """The columns of a report as tables, the most important first."""

    names: Sequence[str]
    plan: TablePlan | None
    important: Sequence[str]

    def table(self, X: Any) -> Table:
        """The rows as a table; for a wide matrix, only the most important columns."""
        if self.plan is not None or not (issparse(X) or isinstance(X, (np.ndarray, list, tuple))):
            return Table.of(X)
        wanted = [*self.important, *(name for name in self.names if name not in set(self.important))]
        places = [self.names.index(name) for name in wanted[:WIDEST]]
        matrix = X.tocsc()[:, places].toarray() if issparse(X) else np.asarray(X)[:, places]
        return Table.of({self.names[place]: matrix[:, k] for k, place in enumerate(places)})

    def kinds(self, table: Table) -> dict[str, str]:
        """The roles of the columns, the most important first."""
        found = kinds_of(table) if self.plan is None else column_kinds(self.plan, table)
        first = [name for name in self.important if name in found]
        return {name: found[name] for name in [*first, *(name for name in found if name not in set(first))]}

    def n_columns(self, table: Table) -> int:
        """Number of columns that the estimator uses."""
        return len(self.names) if self.plan is None else len(self.plan.used())


@dataclass(frozen=True)
class PerturbedRows:
    """Rows in which one column at a time is changed, to measure its effect on the predictions."""

    rows: np.ndarray
    arrays: Arrays
    features: list[Feature]
    names: list[str]
    predict: Callable[[Arrays], np.ndarray]


def tried_rows(model: Any, X: Any, plan: TablePlan | None, seed: int) -> PerturbedRows:
    """Some rows: as arrays of the net if there is a plan of the table, and column by column otherwise."""
    estimator = final_estimator(model)
    n_rows = Table.of(X).n_rows if plan is not None else X.shape[0] if hasattr(X, "shape") else len(X)
    rows = np.sort(np.random.default_rng(seed).permutation(n_rows)[:MAX_ROWS])
    if plan is not None and hasattr(estimator, "predict_encoded"):
        table = Table.of(X).take(rows)
        return PerturbedRows(rows, plan.encode(table), table_features(plan, table), [], estimator.predict_encoded)
    given = _EditableRows(X, rows, [str(name) for name in getattr(estimator, "feature_names_in_", ())])
    used = given.names if plan is None else [column.column for column in plan.used()]
    return PerturbedRows(
        rows,
        given.arrays,
        [feature for feature in given.features if feature.column in used],
        given.names,
        lambda arrays: scored_prediction(model, given.rebuilt(arrays)),
    )


class _EditableRows:
    """Some rows of a table or matrix, column by column: one can be changed, and the rows put together again."""

    def __init__(self, X: Any, rows: np.ndarray, names: Sequence[str]) -> None:
        self._frame: Any = None
        self.arrays: Arrays
        self.features: list[Feature]
        if isinstance(X, (np.ndarray, list, tuple)) or issparse(X):
            matrix = X.tocsr()[rows].toarray() if issparse(X) else np.asarray(X)[rows]
            if matrix.dtype == object:
                raise ConfigError(
                    "A report needs the columns of a table by name: give a data frame in place of an array."
                )
            self.names = list(names) if len(names) == matrix.shape[1] else [f"x{k}" for k in range(matrix.shape[1])]
            self.arrays = {MATRIX: matrix}
            self.features = matrix_features(matrix, self.names, name=MATRIX)
            return
        import narwhals as nw

        if isinstance(X, dict):
            require("polars", "A report of a dict of columns")
            import polars as pl

            X = pl.DataFrame(X)
        self._frame = nw.from_native(X, eager_only=True)[rows]
        self.names = [str(name) for name in self._frame.columns]
        columns = {name: self._frame.get_column(name).to_list() for name in self._frame.columns}
        self.arrays = {name: objects(values) for name, values in columns.items()}
        self.features = [series_feature(name, values) for name, values in columns.items()]

    def rebuilt(self, arrays: Arrays) -> Any:
        """The rows with changed columns, in the form in which they were given."""
        if self._frame is None:
            return arrays[MATRIX]
        import narwhals as nw

        columns = {
            name: nw.new_series(name, list(array), self._frame.schema[name], backend=self._frame.implementation)
            for name, array in arrays.items()
        }
        return nw.from_dict(columns, backend=self._frame.implementation).to_native()
