"""The regressor: scikit-learn's ``MLPRegressor``, and what its users have asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from madaline.data.scale import centre_and_scale
from madaline.errors import ConfigError
from madaline.estimators.base import NetEstimator
from madaline.estimators.documentation import documented
from madaline.estimators.losses import scikit_loss
from madaline.estimators.monte_carlo import ThinnedNets
from madaline.estimators.parameters import Settings
from madaline.estimators.recipe import can_go_on
from madaline.estimators.rows import Rows
from madaline.estimators.targets import as_numbers
from madaline.losses.loss import Loss
from madaline.losses.quantile import Quantile
from madaline.losses.squared import MSE
from madaline.losses.targets import Target
from madaline.train.metrics import R2


@documented
class MLPRegressor(ThinnedNets, RegressorMixin, NetEstimator):
    """A multilayer perceptron that predicts numbers: scikit-learn's, weight for weight, and what it lacks.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With several target columns the gradient is that of the sum over them, as scikit-learn's is, and ``loss_curve_``
    shows the mean, as scikit-learn's does. With ``data`` or ``preset`` the target is learned scaled to mean 0 and
    deviation 1, and so are ``loss_curve_`` and the losses and metrics of ``history_``; scikit-learn's scores, as
    ``metrics="neg_mean_absolute_error"``, and predictions are in its own units.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-2, 2, 100).reshape(-1, 1)
    >>> reg = MLPRegressor("huber", 32, "tanh", optimizer="lbfgs", random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(abs(reg.predict([[1.0]])[0] - 1.0) < 0.1)
    True
    """

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
        dropout: Any = 0.0,
        input_dropout: float = 0.0,
        norm: Any = None,
        residual: bool = False,
        init: Any = None,
        optimizer: Any = None,
        schedule: Any = None,
        weight_decay: float | None = None,
        regularizer: Any = None,
        clip_norm: float | None = None,
        constraint: Any = None,
        average: Any = None,
        validation: Any = None,
        metrics: Any = None,
        monitor: str | None = None,
        callbacks: Any = None,
        progress: bool | None = False,
        threads: int | None = None,
        dtype: Any = None,
        data: Any = None,
        preset: str | None = None,
    ) -> None:
        self._keep(locals())

    def _read_target(self, y: Any, *, fresh: bool) -> np.ndarray:
        numbers = as_numbers(y)
        if fresh:
            self._target = Target(1 if numbers.ndim == 1 else numbers.shape[1])
        return numbers

    def _learn(self, settings: Settings, rows: Rows) -> None:
        super()._learn(settings, rows)
        scaled = rows.is_table and scikit_loss(self.loss).out_activation == "identity"
        self._scale = centre_and_scale(rows.y, "standard") if scaled else None

    def _for_net(self, rows: Rows) -> Rows:
        rows = super()._for_net(rows)
        return rows if self._scale is None else replace(rows, y=(rows.y - self._scale[0]) / self._scale[1])

    def _answers_of(self, target: np.ndarray) -> np.ndarray:
        return self._unscaled(target)

    def _make_loss(self) -> Loss:
        loss = scikit_loss(self.loss, n_outputs=self._target.width)
        if isinstance(loss, Quantile) and len(loss.levels) > 1:
            raise ConfigError(
                f"loss={self.loss!r} has {len(loss.levels)} quantiles, and MLPRegressor predicts one number for each "
                "target. Give one, as md.losses.Quantile(q=0.9), or use QuantileMLPRegressor."
            )
        return loss

    def _n_outputs(self) -> int:
        return self._loss.n_outputs(self._target)

    def _score_rows(self, prediction: np.ndarray, rows: Rows) -> float:
        return R2().whole(MSE(), prediction, rows.y, rows.weight)

    @available_if(can_go_on)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go once through the rows and keep what was learned before; arguments as of ``fit``."""
        if not hasattr(self, "model_"):
            self._validate_params()
        return self._fit(X, y, sample_weight, goes_on=True)

    def predict(self, X: Any) -> np.ndarray:
        """The value of each row; (n_samples, n_outputs) if there are several."""
        found = self._unscaled(self._predict_rows(X))
        return found[:, 0] if found.shape[1] == 1 else found

    def _one_sample(self, outputs: np.ndarray) -> np.ndarray:
        found = self._unscaled(np.asarray(self._loss.predict(outputs)))
        return found[:, 0] if found.shape[1] == 1 else found

    def _unscaled(self, prediction: np.ndarray) -> np.ndarray:
        """Predictions in the units of the target, where the net learned it scaled."""
        if self._scale is None:
            return prediction
        centre, scale = self._scale
        return prediction * scale + centre
