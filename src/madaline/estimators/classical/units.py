"""Base classes of the classical units: input validation, one unit per class, and prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from madaline.estimators.saved import SavableEstimator
from madaline.estimators.targets import target_names

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, TableLike, Targets

Array = np.ndarray[Any, Any]


class UnitClassifier(SavableEstimator, ClassifierMixin, BaseEstimator):
    """Linear units as a classifier: one unit for two classes, else one unit per class (one against the rest).

    A subclass defines ``_learn``, which sets ``coef_``, (units, features), and ``intercept_``, (units,).
    """

    _estimator_type: ClassVar[str] = "classifier"  # older packages, such as Yellowbrick, look for it

    classes_: Array
    coef_: Array
    intercept_: Array

    def fit(self, X: TableLike, y: Targets) -> Self:
        """Fit the units to the rows ``X`` and their classes ``y``."""
        self._validate_params()
        rows, classes = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(classes)
        self.target_names_ = target_names(y, classes)
        self.classes_ = np.unique(classes)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes; all rows of y belong to one class, {self.classes_[0]}."
            )
        self._learn(rows, self._targets(classes))
        return self

    def _learn(self, X: Array, fires: Array) -> None:
        """Train the weights so that each unit fires for the rows where ``fires``, (n, units), is true."""
        raise NotImplementedError

    def _targets(self, y: Array) -> Array:
        """Whether each unit should fire for each row, (n, units)."""
        unknown = y[~np.isin(y, self.classes_)]
        if len(unknown):
            raise ValueError(f"y has the class {unknown[0]}, which is not in classes_={self.classes_.tolist()}.")
        fired_by = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.asarray(y[:, None] == fired_by)

    def decision_function(self, X: Inputs) -> Array:
        """The sum of each unit, :math:`x w + b`: (n,) for two classes, else (n, classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._squeezed(X @ self.coef_.T + self.intercept_)

    def predict(self, X: Inputs) -> Array:
        """Predicted classes: of two, the second if the sum is at least 0; of more, that with the largest sum."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])

    def _squeezed(self, sums: Array) -> Array:
        return sums[:, 0] if len(self.classes_) == 2 else sums


class OnlineClassifier(UnitClassifier):
    """Units that support ``partial_fit``; a subclass defines ``_learn_on``, which trains for one epoch."""

    def partial_fit(self, X: TableLike, y: Targets, classes: ArrayLike | None = None) -> Self:
        """Train for one epoch on these rows, in their order, starting from the current weights.

        Parameters
        ----------
        X, y
            See ``fit``.
        classes : array, optional
            All classes; required in the first call.
        """
        self._validate_params()
        first = _check_partial_fit_first_call(self, classes)
        rows, found = validate_data(self, X, y, dtype=np.float64, reset=first)
        if first:
            self.target_names_ = target_names(y, found)
        check_classification_targets(found)
        self._learn_on(rows, self._targets(found), first=first)
        return self

    def _learn_on(self, X: Array, fires: Array, *, first: bool) -> None:
        raise NotImplementedError
