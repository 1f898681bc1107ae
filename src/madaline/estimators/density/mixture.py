"""Mixture density networks, which can predict densities with several modes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np

from madaline.estimators.density.base import DensityRegressor
from madaline.estimators.density.parameters import DensityParameters
from madaline.estimators.documentation import documented
from madaline.estimators.parameters import AT_LEAST_1, OneOf, Parameter, parameters
from madaline.losses.loss import Loss
from madaline.losses.mixture import COVARIANCES, MixtureDensity
from madaline.losses.mixture_density import GaussianMixture

Array = np.ndarray[Any, Any]


@parameters
class MixtureParameters(DensityParameters):
    """Parameters in addition to those of all nets."""

    _: KW_ONLY
    components: Annotated[int, Parameter("int", "Number of Gaussians in a mixture.", (AT_LEAST_1,))] = 5
    covariance: Annotated[
        str,
        Parameter(
            '{"full", "diagonal", "tied"}',
            "Covariance of several targets: a matrix for each Gaussian, a diagonal one, or one matrix for all "
            "Gaussians of a row.",
            (OneOf(tuple(COVARIANCES)),),
        ),
    ] = "full"


@documented
class MixtureDensityRegressor(DensityRegressor, MixtureParameters):
    """A multilayer perceptron that predicts a mixture of Gaussians for each row, for densities with several modes.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Bishop 1994. ``distribution(X)`` returns the densities; ``predict`` returns their means, which may lie between two
    modes, where the density is small: see ``predict_mode``. Targets are standardised internally; predictions are in the
    original units.

    Examples
    --------
    >>> X = np.linspace(0, 1, 500)[:, None]
    >>> y = np.where(np.arange(500) % 2, 1 + X[:, 0], -1 - X[:, 0])        # two answers for each question
    >>> model = MixtureDensityRegressor(components=2, learning_rate_init=0.01, schedule="cosine", random_state=0)
    >>> np.sort(model.fit(X, y).distribution([[0.5]]).means.ravel()).round(1)
    array([-1.5,  1.5])
    """

    def _make_loss(self) -> Loss:
        return MixtureDensity(
            components=int(self.components), covariance=self.covariance, floor=float(self.variance_floor)
        )

    def _densities(self, outputs: Array) -> GaussianMixture:
        assert isinstance(self.loss_function_, MixtureDensity)
        return self.loss_function_.distribution(outputs)
