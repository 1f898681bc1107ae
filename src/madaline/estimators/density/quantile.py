"""Quantile regression, without assumptions about the distribution of the target."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from madaline.errors import ConfigError
from madaline.estimators.density.base import StandardizedRegressor, tails
from madaline.estimators.documentation import documented
from madaline.estimators.parameters import NetParameters, Parameter, parameters
from madaline.losses.loss import Loss
from madaline.losses.quantile import Quantile

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs

Array = np.ndarray[Any, Any]


@parameters
class QuantileParameters(NetParameters):
    """Parameters in addition to those of all nets."""

    _: KW_ONLY
    quantiles: Annotated[Any, Parameter("sequence of float", "Increasing levels between 0 and 1.", ("array-like",))] = (
        0.05,
        0.5,
        0.95,
    )


@documented
class QuantileMLPRegressor(StandardizedRegressor, QuantileParameters):
    """A multilayer perceptron that predicts several quantiles of the target, trained with the pinball loss.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Koenker & Bassett 1978. ``predict`` returns the quantile whose level is closest to 1/2, ``predict_interval``
    intervals whose ends are both among ``quantiles``. Quantiles that cross are sorted, which never makes them worse
    (Chernozhukov et al. 2010). Targets are standardised internally.

    Examples
    --------
    >>> X = np.linspace(0, 1, 500)[:, None]
    >>> y = 10 * X[:, 0] + np.random.default_rng(0).uniform(-2, 2, size=500)
    >>> model = QuantileMLPRegressor(quantiles=(0.25, 0.5, 0.75), schedule="cosine", random_state=0).fit(X, y)
    >>> model.predict_quantiles([[0.5]]).round()
    array([[4., 5., 6.]])
    """

    def _make_loss(self) -> Loss:
        try:
            return Quantile(q=tuple(np.atleast_1d(self.quantiles).tolist()))
        except ConfigError as error:
            raise ConfigError(str(error).replace("q=", "quantiles=", 1)) from None

    def predict_quantiles(self, X: Inputs) -> Array:
        """All quantiles, (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles), in increasing order."""
        raw = self._predict_rows(X, raw=True)
        by_target = np.sort(raw.reshape(len(raw), self.target_spec_.width, -1), axis=2)
        found = by_target * np.atleast_1d(self.target_scale_)[:, None] + np.atleast_1d(self.target_centre_)[:, None]
        return np.asarray(found if self.target_is_matrix_ else found[:, 0, :])

    def predict(self, X: Inputs) -> Array:
        """The quantile whose level is closest to 1/2: the median, if it is among them."""
        return np.asarray(self.predict_quantiles(X)[..., self.median_place])

    @property
    def levels(self) -> Array:
        """The levels of the quantiles of a fitted estimator, in increasing order."""
        assert isinstance(self.loss_function_, Quantile)
        return self.loss_function_.levels

    @property
    def median_place(self) -> int:
        """Index of the quantile that :meth:`predict` gives, among those of :meth:`predict_quantiles`."""
        return int(np.argmin(np.abs(self.levels - 0.5)))

    def _answers(self, X: Inputs) -> tuple[Array, ...]:
        return (self.predict_quantiles(X),)

    def _interval(self, answers: tuple[Array, ...], coverage: float) -> tuple[Array, Array]:
        (found,) = answers
        wanted = tails(coverage)
        places = [np.flatnonzero(np.isclose(self.levels, level)) for level in wanted]
        if any(len(place) == 0 for place in places):
            raise ConfigError(
                f"coverage={coverage!r} needs the quantiles {wanted[0]:g} and {wanted[1]:g}, and "
                f"quantiles={self.quantiles!r} does not contain both. Fit again with both."
            )
        return np.asarray(found[..., places[0][0]]), np.asarray(found[..., places[1][0]])
