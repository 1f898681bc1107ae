"""A report of a fitted estimator, for those who train in Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from madaline.errors import ConfigError, ShapeError
from madaline.estimators.tabular.explain import explain
from madaline.estimators.tabular.scores import score
from madaline.report.effects import MAX_ROWS, Arrays, Feature
from madaline.report.features import input_names, matrix_features, objects, series_feature
from madaline.report.findings import Findings
from madaline.report.html.write import write_report as write

MATRIX = "X"
"The input that holds an array's columns."


def write_report(estimator: Any, X: Any, y: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write what an estimator learned, how good it is and why, as one HTML file that needs no network.

    Scores with intervals, learning curves, confusion or residuals, calibration, ROC, the importance of columns, partial
    dependence, and the net: what ``madaline train`` writes, for rows of yours.

    Parameters
    ----------
    estimator : MLPClassifier, MLPRegressor or another estimator of madaline's
        Fitted.
    X, y : as of ``fit``
        Rows that training did not see, and their targets.
    path : path
        Of the file; one that is there is replaced.
    title : str, optional
        The name of the estimator's class unless told.

    Examples
    --------
    >>> import madaline as md
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, X_test, y, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
    >>> md.write_report(md.MLPClassifier().fit(X, y), X_test, y_test, "iris.html")  # doctest: +SKIP
    """
    task, classes = _task(estimator, y)
    truth, prediction = _truth(task, classes, y), _outputs(estimator, X)
    if len(truth) != len(prediction):
        raise ShapeError(f"X has {len(prediction)} rows, and y has {len(truth)}.")
    model, plan = estimator.model_, getattr(estimator, "table_plan_", None)
    rows = np.sort(np.random.default_rng(0).permutation(len(truth))[:MAX_ROWS])
    tried = _Rows(X, rows, [str(name) for name in getattr(estimator, "feature_names_in_", ())])
    used = tried.names if plan is None else [column.column for column in plan.used()]
    findings = Findings(
        title=type(estimator).__name__ if title is None else title,
        task=task,
        facts={"Tested on": f"{len(truth):,} rows", "Net": f"{model.network.n_params:,} parameters"},
        scores={"this net": score(task, truth, prediction)},
        targets=() if truth.ndim == 1 or task == "multilabel" else _target_names(y, truth.shape[1]),
        classes=classes,
        truth=truth,
        prediction=prediction,
        history=getattr(estimator, "history_", None),
        model=model,
        inputs=tried.names if plan is None else input_names(plan),
        effects=explain(
            task,
            lambda arrays: _outputs(estimator, tried.rebuilt(arrays)),
            tried.arrays,
            truth[rows],
            [feature for feature in tried.features if feature.column in used],
            n_params=model.network.n_params,
        ),
        columns=[] if plan is None else [(role.column, role.use, role.reason) for role in plan.roles()],
        usage=['md.save(estimator, "model.madaline")', 'estimator = md.load("model.madaline")', "estimator.predict(X)"],
        config=estimator.__repr__(N_CHAR_MAX=100_000),
    )
    write(path, findings)


def _task(estimator: Any, y: Any) -> tuple[str, Sequence[Any]]:
    """The task, and its classes or labels."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return "regression", ()
    if isinstance(classes, list):
        raise ConfigError("A report shows one target of classes, and this estimator has several. Fit one for each.")
    if not hasattr(estimator, "predict_proba"):
        raise ConfigError(f"A report shows probabilities, and loss={estimator.loss!r} gives none. Fit with 'log_loss'.")
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        return "multilabel", [f"label {place}" for place in classes]
    return "binary" if len(classes) == 2 else "multiclass", np.asarray(classes).tolist()


def _truth(task: str, classes: Sequence[Any], y: Any) -> np.ndarray:
    """Targets as scores take them."""
    array = y.toarray() if issparse(y) else np.asarray(y)
    if task == "multilabel":
        return np.asarray(array, np.float64)
    if task == "regression":
        return np.asarray(array, np.float64).reshape(len(array), -1)
    known, flat = np.array(classes), array.reshape(len(array))
    places = np.clip(np.searchsorted(known, flat), 0, len(known) - 1)
    if len(unknown := flat[known[places] != flat]):
        raise ConfigError(f"y has the class {unknown.tolist()[0]!r}, which was not there in fit.")
    return places


def _outputs(estimator: Any, X: Any) -> np.ndarray:
    """Probabilities, or numbers as a matrix."""
    if hasattr(estimator, "classes_"):
        return np.asarray(estimator.predict_proba(X))
    found = np.asarray(estimator.predict(X))
    return found.reshape(len(found), -1)


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

        changed = [
            nw.new_series(name, list(array), self._frame.schema[name], backend=self._frame.implementation)
            for name, array in arrays.items()
            if array is not self.arrays[name]
        ]
        return self._frame.with_columns(*changed).to_native()
