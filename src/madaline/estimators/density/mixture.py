"""Mixture density networks: any density, where one answer is not enough."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from madaline.estimators.density.base import DensityRegressor
from madaline.estimators.documentation import documented
from madaline.estimators.parameters import CONSTRAINTS
from madaline.losses.loss import Loss
from madaline.losses.mixture import COVARIANCES, MixtureDensity
from madaline.losses.mixture_density import GaussianMixture

Array = np.ndarray[Any, Any]


@documented
class MixtureDensityRegressor(DensityRegressor):
    """A multilayer perceptron that predicts a mixture of Gaussians for each row: targets may have several answers.

    Parameters
    ----------
    {parameters}
    components : int, default 5
        Gaussians of a mixture.
    covariance : {"full", "diagonal", "tied"}
        Of several targets: a matrix for each Gaussian, a diagonal one, or one matrix for all Gaussians of a row.
    variance_floor : float, default 1e-4
        The variance that is always there, as a share of the variance of the targets.
    mc_dropout : int, default 0
        Predict the mean of the densities of that many nets thinned by dropout; 0 is the whole net.

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Bishop 1994. ``distribution(X)`` gives the densities themselves; ``predict`` their means, which may lie between two
    answers where nothing is: see ``predict_mode``. Targets are standardised inside; all answers are in their own units.

    Examples
    --------
    >>> X = np.linspace(0, 1, 500)[:, None]
    >>> y = np.where(np.arange(500) % 2, 1 + X[:, 0], -1 - X[:, 0])        # two answers for each question
    >>> model = MixtureDensityRegressor(components=2, learning_rate_init=0.01, schedule="cosine", random_state=0)
    >>> np.sort(model.fit(X, y).distribution([[0.5]]).means.ravel()).round(1)
    array([-1.5,  1.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "components": [Interval(Integral, 1, None, closed="left")],
        "covariance": [StrOptions(set(COVARIANCES))],
        "variance_floor": [Interval(Real, 0, None, closed="neither")],
        "mc_dropout": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        components: int = 5,
        covariance: str = "full",
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
        return MixtureDensity(
            components=int(self.components), covariance=self.covariance, floor=float(self.variance_floor)
        )

    def _densities(self, outputs: Array) -> GaussianMixture:
        assert isinstance(self._loss, MixtureDensity)
        return self._loss.distribution(outputs)
