"""A report of a fitted estimator, for those who train in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from madaline.data.table import Table
from madaline.errors import ConfigError, ShapeError
from madaline.estimators.intervals import is_covered
from madaline.estimators.tabular.explain import explain
from madaline.estimators.tabular.predictions import (
    classes_of,
    final_estimator,
    need_probabilities,
    scored_prediction,
    scored_truth,
    task_of,
)
from madaline.estimators.tabular.scores import score
from madaline.report.effects import MAX_ROWS, Arrays, Feature
from madaline.report.features import input_names, matrix_features, objects, series_feature, table_features
from madaline.report.findings import INTERVAL, NUMBERS, Findings
from madaline.report.html.write import write_report as write

MATRIX = "X"
"The input that holds an array's columns."


def write_report(estimator: Any, X: Any, y: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write what an estimator learned, how good it is and why, as one HTML file that needs no network.

    Scores with intervals, learning curves, confusion matrix or residuals, calibration, ROC curve, importance of
    columns, partial dependence, and the net: the report that ``madaline train`` writes.

    Parameters
    ----------
    estimator : estimator, or Pipeline that ends in one
        Fitted, such as MLPClassifier or MLPRegressor.
    X, y
        Rows that training did not see, and their targets, as in ``fit``.
    path : path
        The file; an existing one is replaced.
    title : str, optional
        By default the name of the estimator's class.

    Examples
    --------
    >>> import madaline as md
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, X_test, y, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
    >>> md.write_report(md.MLPClassifier().fit(X, y), X_test, y_test, "iris.html")  # doctest: +SKIP
    """
    write(path, findings_of(estimator, X, y, title=title))


def findings_of(model: Any, X: Any, y: Any, *, title: str | None = None, seed: int = 0) -> Findings:
    """What a report shows of a fitted estimator, or of a pipeline that ends in one."""
    estimator, task, classes = final_estimator(model), task_of(model), classes_of(model)
    need_probabilities(model)
    truth, prediction = scored_truth(model, y), scored_prediction(model, X)
    if len(truth) != len(prediction):
        raise ShapeError(f"X has {len(prediction)} rows, and y has {len(truth)}.")
    net, plan = estimator.model_, getattr(estimator, "table_plan_", None) if model is estimator else None
    tried = _tried(model, X, plan, seed)
    return Findings(
        title=type(estimator).__name__ if title is None else title,
        task=task,
        facts={"Tested on": f"{len(truth):,} rows", "Net": f"{net.network.n_params:,} parameters"},
        scores={"this net": score(task, truth, prediction)},
        targets=() if task in ("binary", "multiclass", "multilabel") else _target_names(y, truth.shape[1]),
        classes=classes,
        truth=truth,
        prediction=prediction,
        covered=is_covered(truth, prediction, INTERVAL, seed=seed) if task in NUMBERS and len(truth) > 3 else None,
        history=getattr(estimator, "history_", None),
        model=net,
        inputs=tried.names if plan is None else input_names(plan),
        effects=explain(
            task,
            tried.predict,
            tried.arrays,
            truth[tried.rows],
            tried.features,
            n_params=net.network.n_params,
            seed=seed,
        ),
        columns=[] if plan is None else [(role.column, role.use, role.reason) for role in plan.roles()],
        usage=['md.save(estimator, "model.madaline")', 'estimator = md.load("model.madaline")', "estimator.predict(X)"],
        config=model.__repr__(N_CHAR_MAX=100_000),
    )


@dataclass(frozen=True)
class _Tried:
    """Rows whose columns are changed one at a time, to see what becomes of the predictions."""

    rows: np.ndarray
    arrays: Arrays
    features: list[Feature]
    names: list[str]
    predict: Callable[[Arrays], np.ndarray]


def _tried(model: Any, X: Any, plan: Any, seed: int) -> _Tried:
    """Some rows, as arrays of the net where the table's plan is known, and column by column otherwise."""
    estimator = final_estimator(model)
    n_rows = Table.of(X).n_rows if plan is not None else X.shape[0] if hasattr(X, "shape") else len(X)
    rows = np.sort(np.random.default_rng(seed).permutation(n_rows)[:MAX_ROWS])
    if plan is not None and hasattr(estimator, "predict_encoded"):
        table = Table.of(X).take(rows)
        return _Tried(rows, plan.encode(table), table_features(plan, table), [], estimator.predict_encoded)
    given = _Rows(X, rows, [str(name) for name in getattr(estimator, "feature_names_in_", ())])
    used = given.names if plan is None else [column.column for column in plan.used()]
    return _Tried(
        rows,
        given.arrays,
        [feature for feature in given.features if feature.column in used],
        given.names,
        lambda arrays: scored_prediction(model, given.rebuilt(arrays)),
    )


def _target_names(y: Any, count: int) -> list[str]:
    names = getattr(y, "columns", None)
    names = [getattr(y, "name", None) or "y"] if names is None and count == 1 else names
    return [f"y{place}" for place in range(count)] if names is None else [str(name) for name in names]


class _Rows:
    """Some rows of whatever was given, column by column, so that one can be changed and the rest put together again."""

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
            import polars as pl

            X = pl.DataFrame(X)
        self._frame = nw.from_native(X, eager_only=True)[rows]
        self.names = [str(name) for name in self._frame.columns]
        columns = {name: self._frame.get_column(name).to_list() for name in self._frame.columns}
        self.arrays = {name: objects(values) for name, values in columns.items()}
        self.features = [series_feature(name, values) for name, values in columns.items()]

    def rebuilt(self, arrays: Arrays) -> Any:
        """The rows with columns that may have changed, as they were given."""
        if self._frame is None:
            return arrays[MATRIX]
        import narwhals as nw

        columns = {
            name: nw.new_series(name, list(array), self._frame.schema[name], backend=self._frame.implementation)
            for name, array in arrays.items()
        }
        return nw.from_dict(columns, backend=self._frame.implementation).to_native()
