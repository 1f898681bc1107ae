"""The report of a fitted estimator."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.data.table import Table
from madaline.errors import ShapeError
from madaline.estimators.intervals import is_covered
from madaline.estimators.report_rows import ShownColumns, tried_rows
from madaline.estimators.tabular.effects import column_effects
from madaline.estimators.tabular.predictions import (
    called,
    classes_of,
    final_estimator,
    need_probabilities,
    scored_prediction,
    scored_truth,
    task_of,
)
from madaline.estimators.tabular.scores import score
from madaline.extras import require
from madaline.report.cells import cell_texts
from madaline.report.features import input_names
from madaline.report.findings import INTERVAL, NUMBERS, Findings
from madaline.report.html.write import write_report as write
from madaline.report.search_summary import SearchSummary
from madaline.report.table_summary import summarize
from madaline.report.worst_rows import WorstRows, outcomes, worst_first

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets


def write_report(
    estimator: Any,
    X: Inputs,
    y: Targets,
    path: str | os.PathLike[str],
    *,
    training: tuple[Inputs, Targets] | None = None,
    title: str | None = None,
) -> None:
    """Write a report about a fitted estimator as one HTML file that needs no network.

    The report has scores with intervals, learning curves, the confusion matrix or residuals, calibration, ROC curve,
    decision thresholds, the worst predictions, permutation importance, partial dependence, distributions and
    correlations of the columns, and the network. It is the report of ``madaline train``.

    Parameters
    ----------
    estimator : estimator, or Pipeline that ends in one
        Fitted, for example MLPClassifier or MLPRegressor.
    X, y
        Test set: rows that were not used for training and their targets, as in ``fit``.
    path : path
        The file; an existing one is replaced.
    training : tuple of (X, y), optional
        Training set, whose distributions and correlations are shown. By default those of the test set are.
    title : str, optional
        By default the name of the estimator's class.

    Examples
    --------
    >>> import madaline as md
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, X_test, y, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
    >>> clf = md.MLPClassifier().fit(X, y)  # doctest: +SKIP
    >>> md.write_report(clf, X_test, y_test, "iris.html", training=(X, y))  # doctest: +SKIP
    """
    require("plotly", "A report")
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is a {type(path).__name__}. The arguments are write_report(estimator, X, y, path).")
    write(path, findings_of(estimator, X, y, training=training, title=title))


def findings_of(
    model: Any,
    X: Any,
    y: Any,
    *,
    training: tuple[Inputs, Targets] | None = None,
    row_numbers: np.ndarray | None = None,
    title: str | None = None,
    seed: int = 0,
) -> Findings:
    """The content of a report about a fitted estimator, or about a pipeline that ends in one.

    Parameters
    ----------
    model, X, y, training, title
        As in :func:`write_report`.
    row_numbers : array of int, optional
        Numbers of the test rows in their table, from 1. By default rows of ``X`` are numbered from 0.
    seed : int
        Random seed of shuffles and samples.
    """
    estimator, task, classes = final_estimator(model), task_of(model), classes_of(model)
    need_probabilities(model)
    truth, prediction = scored_truth(model, y), scored_prediction(model, X)
    if len(truth) != len(prediction):
        raise ShapeError(f"X has {len(prediction)} rows, and y has {len(truth)}.")
    net, plan = estimator.model_, getattr(estimator, "table_plan_", None) if model is estimator else None
    tried = tried_rows(model, X, plan, seed)
    effects = column_effects(
        task, tried.predict, tried.arrays, truth[tried.rows], tried.features, n_params=net.network.n_params, seed=seed
    )
    targets = list(estimator.target_names_)
    important = [effect.column for effect in effects.columns]
    shown = ShownColumns(tried.names, plan, important)
    test = shown.table(X)
    worst = worst_first(task, truth, prediction)
    return Findings(
        title=type(estimator).__name__ if title is None else title,
        task=task,
        facts={"Test set": f"{len(truth):,} rows", "Net": f"{net.network.n_params:,} parameters"},
        scores={called(estimator): score(task, truth, prediction)},
        targets=targets,
        classes=classes,
        truth=truth,
        prediction=prediction,
        covered=is_covered(truth, prediction, INTERVAL, seed=seed) if task in NUMBERS and len(truth) > 3 else None,
        search=SearchSummary.of(estimator),
        history=getattr(estimator, "history_", None),
        model=net,
        inputs=tried.names if plan is None else input_names(plan),
        effects=effects,
        worst=WorstRows(
            worst.tolist() if row_numbers is None else row_numbers[worst].tolist(),
            outcomes(task, truth[worst], prediction[worst], classes, targets),
            cell_texts(test.take(worst), list(shown.kinds(test))),
            first=0 if row_numbers is None else 1,
        ),
        data=_summary(model, (test, truth), training, shown, task, targets),
        columns=[] if plan is None else [(role.column, role.use, role.reason) for role in plan.roles()],
        usage=['md.save(estimator, "model.madaline")', 'estimator = md.load("model.madaline")', "estimator.predict(X)"],
        config=model.__repr__(N_CHAR_MAX=100_000),
    )


def _summary(
    model: Any, test: tuple[Table, np.ndarray], training: Any, shown: ShownColumns, task: str, targets: Sequence[str]
) -> Any:
    """Distributions of the training set, or of the test set if that is all there is."""
    table, truth, rows = *test, "test set"
    if training is not None:
        table, truth, rows = shown.table(training[0]), scored_truth(model, training[1]), "training set"
        if len(truth) != table.n_rows:
            raise ShapeError(f"training has {table.n_rows} rows in X and {len(truth)} in y.")
    return summarize(
        table,
        truth,
        task=task,
        classes=classes_of(model),
        targets=targets,
        kinds=shown.kinds(table),
        n_columns=shown.n_columns(table),
        rows=rows,
    )
