"""Regression with a predicted mean and standard deviation for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.estimators.density.base import DensityRegressor
from madaline.estimators.density.parameters import DensityParameters
from madaline.estimators.documentation import documented
from madaline.losses.density import HeteroscedasticGaussian
from madaline.losses.loss import Loss
from madaline.losses.mixture_density import GaussianMixture

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs

Array = np.ndarray[Any, Any]
LARGEST_VARIANCE = 1e100
"Limit for standardised targets: rows far from all others could otherwise get an infinite value."


@documented
class GaussianMLPRegressor(DensityRegressor, DensityParameters):
    """A multilayer perceptron that predicts a mean and a standard deviation for each row, by maximum likelihood.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Nix & Weigend 1994. Targets are standardised internally; predictions are in the original units. Several targets are
    conditionally independent. ``loss_curve_`` and ``validation_scores_`` refer to standardised targets.

    Examples
    --------
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).normal(size=200) * np.where(X[:, 0] > 0, 0.5, 0.05)
    >>> model = GaussianMLPRegressor(learning_rate_init=0.01, schedule="cosine", random_state=0).fit(X, y)
    >>> model.predict([[-0.5], [0.5]], return_std=True)[1].round(1)
    array([0.1, 0.5])
    """

    def _make_loss(self) -> Loss:
        return HeteroscedasticGaussian(floor=float(self.variance_floor))

    def _densities(self, outputs: Array) -> GaussianMixture:
        outputs = np.asarray(outputs, dtype=np.float64)
        assert isinstance(self.loss_function_, HeteroscedasticGaussian)
        with np.errstate(over="ignore"):
            variance = np.minimum(self.loss_function_.variance(outputs), LARGEST_VARIANCE)
        factors = variance[:, None, :, None] ** -0.5 * np.eye(self.target_spec_.width)
        return GaussianMixture(np.ones((len(outputs), 1)), self.loss_function_.predict(outputs)[:, None, :], factors)

    def predict(self, X: Inputs, return_std: bool = False) -> Any:
        """The mean and optionally the standard deviation of each row: (n_samples,) or (n_samples, n_targets)."""
        found = self.distribution(X)
        mean = self._shaped(found.mean())
        if not return_std:
            return mean
        return mean, self._shaped(np.sqrt(np.diagonal(found.covariance(), axis1=1, axis2=2)))
