"""Effects of columns on the predictions of a trained net, measured on the test set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from madaline.estimators.tabular.scores import DEVIANCE, F1, LOG_LOSS, RMSE, ResampledMetric, value_of
from madaline.report.effects import Arrays, Feature, find_effects
from madaline.report.findings import Effects

ERRORS: dict[str, ResampledMetric] = {
    "binary": LOG_LOSS,
    "multiclass": LOG_LOSS,
    "multilabel": F1,
    "regression": RMSE,
    "count": DEVIANCE,
}
"The error that increases when an important column is shuffled: the score that is most sensitive to small changes."


def column_effects(
    task: str,
    predict: Callable[[Arrays], np.ndarray],
    X: Arrays,
    truth: np.ndarray,
    features: Sequence[Feature],
    *,
    n_params: int,
    seed: int = 0,
) -> Effects:
    """Permutation importance and partial dependence of columns.

    Parameters
    ----------
    task : str
    predict : callable
        From rows to predictions in the form of :func:`~madaline.estimators.tabular.scores.score`.
    X, truth
        Test set: inputs of the net, and targets in the form of that function.
    features : sequence of Feature
        The columns to try.
    n_params : int
        Number of parameters of the net.
    seed : int
        Random seed.
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


def _error(metric: ResampledMetric, truth: np.ndarray, prediction: np.ndarray) -> float:
    value = value_of(metric, truth, prediction)
    return 1.0 - value if metric.larger_is_better else value
