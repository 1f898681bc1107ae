"""What columns do for the predictions of a trained net, on rows that training did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from madaline.estimators.tabular.scores import DEVIANCE, F1, LOG_LOSS, RMSE, Metric, value_of
from madaline.report.effects import Arrays, Feature, find_effects
from madaline.report.findings import Effects

ERRORS: dict[str, Metric] = {
    "binary": LOG_LOSS,
    "multiclass": LOG_LOSS,
    "multilabel": F1,
    "regression": RMSE,
    "count": DEVIANCE,
}
"What grows if a column that matters is shuffled: of scores, the one that tells small changes."


def explain(
    task: str,
    predict: Callable[[Arrays], np.ndarray],
    X: Arrays,
    truth: np.ndarray,
    features: Sequence[Feature],
    *,
    n_params: int,
    seed: int = 0,
) -> Effects:
    """The effects of columns.

    Parameters
    ----------
    task : str
    predict : callable
        Predictions of rows, as :func:`~madaline.estimators.tabular.scores.score` takes them.
    X, truth
        Rows that training did not see, as the net takes them, and their target as scores take it.
    features : sequence of Feature
        The columns to try.
    n_params : int
        Of the net.
    seed : int
    """
    metric = ERRORS[task]
    name = f"1 - {metric.name}" if metric.larger_is_better else metric.name
    return find_effects(
        predict,
        lambda y, p: _error(metric, y, p),
        X,
        truth,
        features,
        error_name=name,
        n_params=n_params,
        seed=seed,
    )


def _error(metric: Metric, truth: np.ndarray, prediction: np.ndarray) -> float:
    value = value_of(metric, truth, prediction)
    return 1.0 - value if metric.larger_is_better else value
