"""What classical units do alike: read rows and classes, one unit for each class, and say which one fires."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from madaline.estimators.saved import SavableEstimator
from madaline.estimators.targets import target_names

Array = np.ndarray[Any, Any]


class UnitClassifier(SavableEstimator, ClassifierMixin, BaseEstimator):
    """Linear units as a classifier: one for two classes, one for each of more (each class against the rest).

    A subclass gives ``_learn`` and whatever sets ``coef_``, (units, features), and ``intercept_``, (units,).
    """

    classes_: Array
    coef_: Array
    intercept_: Array
    n_features_in_: int
    target_names_: tuple[str, ...]

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows of ``X`` and their classes ``y``. What is learned ends in an underscore."""
        self._validate_params()
        given = y
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.target_names_ = target_names(given, y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes; all rows of y belong to one class, {self.classes_[0]}."
            )
        self._learn(X, self._targets(y))
        return self

    def _learn(self, X: Array, fires: Array) -> None:
        """Find weights so that each unit fires for the rows where ``fires``, (n, units), is true."""
        raise NotImplementedError

    def _targets(self, y: Array) -> Array:
        """Which units should fire for each row, (n, units)."""
        unknown = y[~np.isin(y, self.classes_)]
        if len(unknown):
            raise ValueError(f"y has the class {unknown[0]}, which is not in classes_={self.classes_.tolist()}.")
        fired_by = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.asarray(y[:, None] == fired_by)

    def decision_function(self, X: Any) -> Array:
        """The sum of each unit, :math:`x w + b`: (n,) for two classes, else (n, classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._squeezed(X @ self.coef_.T + self.intercept_)

    def predict(self, X: Any) -> Array:
        """The class of each row: for two, the second where the sum is at least 0; of more, that of the largest sum."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])

    def _squeezed(self, sums: Array) -> Array:
        return sums[:, 0] if len(self.classes_) == 2 else sums


class OnlineClassifier(UnitClassifier):
    """Units whose rule can go on with more rows; a subclass gives ``_learn_on``, one time through them."""

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Go once through these rows in their order, from the weights there are.

        Parameters
        ----------
        X, y
            As of ``fit``.
        classes : array, optional
            All classes there will be; needed in the first call.
        """
        self._validate_params()
        first = _check_partial_fit_first_call(self, classes)
        given = y
        X, y = validate_data(self, X, y, dtype=np.float64, reset=first)
        if first:
            self.target_names_ = target_names(given, y)
        check_classification_targets(y)
        self._learn_on(X, self._targets(y), first=first)
        return self

    def _learn_on(self, X: Array, fires: Array, *, first: bool) -> None:
        raise NotImplementedError
