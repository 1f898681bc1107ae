"""scikit-learn's scores as metrics of training, which early stopping can monitor."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import UnknownNameError
from madaline.train.metrics import METRICS, Metric

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs
    from madaline.estimators.base import NetEstimator


@description
class ScikitLearnMetric(Metric):
    """A score of scikit-learn, computed from the predictions of an estimator; larger is better.

    Parameters
    ----------
    label : str
        Name of the column in ``history_``.
    scorer : callable
        scikit-learn scorer: a function of an estimator, rows and targets.
    estimator : NetEstimator
        The estimator that is trained.
    """

    needs_all: ClassVar[bool] = True
    label: str
    scorer: Any
    estimator: NetEstimator

    @property
    def name(self) -> str:  # type: ignore[override]  # of each score
        """The name of the score."""
        return self.label

    def whole(self, loss: Any, prediction: Any, target: Any, weight: Any) -> float:
        weights = {} if weight is None else {"sample_weight": weight}
        return float(
            self.scorer(_of_outputs(self.estimator), prediction, self.estimator.unscaled_targets(target), **weights)
        )


def with_scores(estimator: NetEstimator, metrics: Any) -> Any:
    """The metrics, with scikit-learn's scores (names or objects) converted to metrics of an estimator."""
    if metrics is None:
        return None
    several = metrics if isinstance(metrics, (list, tuple)) else [metrics]
    return [_as_score(estimator, item) for item in several]


def _as_score(estimator: NetEstimator, item: Any) -> Any:
    if hasattr(item, "_score_func"):
        name = item._score_func.__name__  # noqa: SLF001 - scikit-learn has no public name for it
        return ScikitLearnMetric(name, item, estimator)
    if not isinstance(item, str) or item in METRICS:
        return item
    from sklearn.metrics import get_scorer, get_scorer_names  # slow to import

    names = get_scorer_names()
    if item not in names:
        near = difflib.get_close_matches(item, [*METRICS.names(), *names], n=1)
        raise UnknownNameError(
            f"metrics={item!r} is not known.{f' Did you mean {near[0]!r}?' if near else ''}\n"
            f"Known: {', '.join(METRICS.names())}, and scikit-learn's scores: sklearn.metrics.get_scorer_names()."
        )
    return ScikitLearnMetric(item, get_scorer(item), estimator)


class _OutputsAsRows:
    """A replacement for a predictor whose rows are already the outputs of the net."""

    def __init__(self, estimator: NetEstimator) -> None:
        self.estimator = estimator

    def takes(self, X: Inputs) -> bool:
        return True

    def outputs(self, X: Inputs) -> np.ndarray:
        return np.asarray(X)

    def __call__(self, X: Inputs) -> np.ndarray:
        return np.asarray(self.estimator.activated(X))


def _of_outputs(estimator: NetEstimator) -> Any:
    """An estimator that predicts from the outputs of the net, with class indices as classes."""
    view = object.__new__(type(estimator))
    view.__dict__.update(estimator.__dict__, _predictor=_OutputsAsRows(estimator), mc_dropout=0)
    for name in ("table_plan_", "feature_names_in_"):
        view.__dict__.pop(name, None)
    if "class_encoding_" in view.__dict__:
        view.class_encoding_ = estimator.class_encoding_.numbered()
        view.classes_ = view.class_encoding_.classes
    return view
