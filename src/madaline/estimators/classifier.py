"""The classifier: scikit-learn's ``MLPClassifier``, and what its users have asked for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, type_of_target

from madaline.estimators.base import NetEstimator, Rows
from madaline.estimators.losses import OverOutputs, SeveralClasses, scikit_loss
from madaline.estimators.targets import Classes
from madaline.losses.cross_entropy import BinaryCrossEntropy, CrossEntropy
from madaline.losses.loss import Loss


def _can_go_on(estimator: Any) -> bool:
    if estimator.solver not in ("sgd", "adam"):
        raise AttributeError(
            f"partial_fit is only available for stochastic optimizers. {estimator.solver} is not stochastic."
        )
    return True


class MLPClassifier(ClassifierMixin, NetEstimator):
    """A multilayer perceptron that tells classes apart."""

    classes_: Any
    loss: Any = "log_loss"

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: Any = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: Any = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: Any = 10,
        max_fun: int = 15000,
        loss: Any = "log_loss",
    ) -> None:
        self._keep(locals())

    def _read_target(self, y: Any, *, fresh: bool) -> np.ndarray:
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if fresh and not hasattr(self, "_classes_told"):
            self._classes = Classes.of(y)
            self.classes_ = self._classes.classes
        else:
            self._classes.check_known(y, warm_start=self.warm_start)
        return self._classes.encode(y)

    def _make_loss(self) -> Loss:
        kind = self._classes.kind
        if self.loss != "log_loss":
            return scikit_loss(self.loss)
        if kind == "several":
            return SeveralClasses(tuple(len(classes) for classes in self.classes_))
        if kind == "multiclass":
            return CrossEntropy()
        return OverOutputs(BinaryCrossEntropy()) if kind == "labels" else BinaryCrossEntropy()

    def _n_outputs(self) -> int:
        return self._loss.n_outputs(self._classes.target)

    def _strata(self, rows: Rows) -> np.ndarray | None:
        return rows.y.reshape(-1, 1) if self._classes.kind == "binary" else None

    def _score_rows(self, prediction: np.ndarray, rows: Rows) -> float:
        numbered = Classes(self._classes.kind, _numbers(self._classes))
        return float(accuracy_score(rows.y.astype(int), numbered.decode(prediction), sample_weight=rows.weight))

    @available_if(_can_go_on)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Go once through the rows and keep what was learned before.

        Parameters
        ----------
        X, y, sample_weight
            As of ``fit``.
        classes : array of shape (n_classes,), optional
            All classes there will be; needed in the first call.
        """
        if not hasattr(self, "model_"):
            self._validate_params()
        told = _check_partial_fit_first_call(self, classes)
        if told:
            labels = type_of_target(y).startswith("multilabel")
            self._classes = Classes.of(y if labels else self.classes_)
            self._classes_told = True
        try:
            return self._fit(X, y, sample_weight, goes_on=True)
        finally:
            self.__dict__.pop("_classes_told", None)

    def predict(self, X: Any) -> Any:
        """The class of each row; for labels and several targets, (n_samples, n_outputs)."""
        p = self._predict_rows(X)
        return self._classes.decode(p)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, in the order of ``classes_``; a list of them for several targets."""
        p = self._predict_rows(X)
        if p.shape[1] == 1 and self._classes.kind == "binary":
            return np.concatenate((1.0 - p, p), axis=1)
        return self._loss.blocks(p) if isinstance(self._loss, SeveralClasses) else p

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of ``predict_proba``."""
        p = self.predict_proba(X)
        return [np.log(part) for part in p] if isinstance(p, list) else np.log(p)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _numbers(classes: Classes) -> Any:
    """The classes by their numbers."""
    found = classes.classes
    return [np.arange(len(one)) for one in found] if classes.kind == "several" else np.arange(len(found))
