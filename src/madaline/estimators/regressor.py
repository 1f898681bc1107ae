"""The regressor: scikit-learn's ``MLPRegressor``, and what its users have asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from madaline.estimators.base import NetEstimator, Rows
from madaline.estimators.classifier import _can_go_on
from madaline.estimators.losses import scikit_loss
from madaline.losses.loss import Loss
from madaline.losses.targets import Target


class MLPRegressor(RegressorMixin, NetEstimator):
    """A multilayer perceptron that predicts numbers."""

    loss: Any = "squared_error"
    _target_checks: ClassVar[Mapping[str, Any]] = {"y_numeric": True}

    def __init__(
        self,
        loss: Any = "squared_error",
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
    ) -> None:
        self._keep(locals())

    def _read_target(self, y: Any, *, fresh: bool) -> np.ndarray:
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if fresh:
            self._target = Target(1 if y.ndim == 1 else y.shape[1])
        return np.asarray(y)

    def _make_loss(self) -> Loss:
        return scikit_loss(self.loss, n_outputs=self._target.width)

    def _n_outputs(self) -> int:
        return self._loss.n_outputs(self._target)

    def _score_rows(self, prediction: np.ndarray, rows: Rows) -> float:
        return float(r2_score(rows.y, prediction, sample_weight=rows.weight))

    @available_if(_can_go_on)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go once through the rows and keep what was learned before; arguments as of ``fit``."""
        if not hasattr(self, "model_"):
            self._validate_params()
        return self._fit(X, y, sample_weight, goes_on=True)

    def predict(self, X: Any) -> np.ndarray:
        """The value of each row; (n_samples, n_outputs) if there are several."""
        found = self._predict_rows(X)
        return found[:, 0] if found.shape[1] == 1 else found
