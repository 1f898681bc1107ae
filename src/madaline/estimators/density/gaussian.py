"""A Gaussian for each row: its mean and its standard deviation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from madaline.estimators.density.base import DensityRegressor
from madaline.estimators.documentation import documented
from madaline.estimators.parameters import CONSTRAINTS
from madaline.losses.density import HeteroscedasticGaussian
from madaline.losses.loss import Loss
from madaline.losses.mixture_density import GaussianMixture

Array = np.ndarray[Any, Any]
LARGEST_VARIANCE = 1e100
"Of standardised targets: rows far from all others may get an infinite one, of which nothing could be asked."


@documented
class GaussianMLPRegressor(DensityRegressor):
    """A multilayer perceptron that predicts a mean and a standard deviation for each row, by likelihood.

    Parameters
    ----------
    {parameters}
    variance_floor : float, default 1e-4
        The variance that is always there, as a share of the variance of the targets.
    mc_dropout : int, default 0
        Predict the mean of the densities of that many nets thinned by dropout (Gal & Ghahramani 2016); 0 is the whole
        net. Needs ``dropout``.

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Nix & Weigend 1994. Targets are standardised inside; all answers are in their own units, and several targets are
    independent given the row. ``loss_curve_`` and ``validation_scores_`` are of standardised targets.

    Examples
    --------
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).normal(size=200) * np.where(X[:, 0] > 0, 0.5, 0.05)
    >>> model = GaussianMLPRegressor(learning_rate_init=0.01, schedule="cosine", random_state=0).fit(X, y)
    >>> model.predict([[-0.5], [0.5]], return_std=True)[1].round(1)
    array([0.1, 0.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "variance_floor": [Interval(Real, 0, None, closed="neither")],
        "mc_dropout": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        variance_floor: float = 1e-4,
        mc_dropout: int = 0,
        dropout: Any = 0.0,
        input_dropout: float = 0.0,
        norm: Any = None,
        residual: bool = False,
        init: Any = None,
        solver: str = "adam",
        optimizer: Any = None,
        learning_rate_init: float = 0.001,
        schedule: Any = None,
        alpha: float = 0.0001,
        weight_decay: float | None = None,
        regularizer: Any = None,
        clip_norm: float | None = None,
        constraint: Any = None,
        average: Any = None,
        batch_size: Any = "auto",
        max_iter: int = 200,
        shuffle: bool = True,
        tol: float = 1e-4,
        n_iter_no_change: Any = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        validation: Any = None,
        metrics: Any = None,
        monitor: str | None = None,
        callbacks: Any = None,
        verbose: Any = False,
        progress: bool | None = False,
        warm_start: bool = False,
        random_state: Any = None,
        threads: int | None = None,
        dtype: Any = None,
        data: Any = None,
    ) -> None:
        self._keep(locals())

    def _make_loss(self) -> Loss:
        return HeteroscedasticGaussian(floor=float(self.variance_floor))

    def _densities(self, outputs: Array) -> GaussianMixture:
        outputs = np.asarray(outputs, dtype=np.float64)
        assert isinstance(self._loss, HeteroscedasticGaussian)
        with np.errstate(over="ignore"):
            variance = np.minimum(self._loss.variance(outputs), LARGEST_VARIANCE)
        factors = variance[:, None, :, None] ** -0.5 * np.eye(self._target.width)
        return GaussianMixture(np.ones((len(outputs), 1)), self._loss.predict(outputs)[:, None, :], factors)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of each row, and if asked for its standard deviation: (n_samples,) or (n_samples, n_targets)."""
        found = self.distribution(X)
        mean = self._shaped(found.mean())
        if not return_std:
            return mean
        return mean, self._shaped(np.sqrt(np.diagonal(found.covariance(), axis1=1, axis2=2)))
