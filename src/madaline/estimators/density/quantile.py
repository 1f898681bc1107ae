"""Quantiles of the target, without a belief about the form of its density."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from madaline.errors import ConfigError
from madaline.estimators.density.base import StandardizedRegressor, tails
from madaline.estimators.documentation import documented
from madaline.estimators.parameters import CONSTRAINTS
from madaline.losses.loss import Loss
from madaline.losses.quantile import Quantile

Array = np.ndarray[Any, Any]


@documented
class QuantileMLPRegressor(StandardizedRegressor):
    """A multilayer perceptron that predicts quantiles of the target, all at once, by the pinball loss.

    Parameters
    ----------
    {parameters}
    quantiles : sequence of float, default (0.05, 0.5, 0.95)
        Rising levels between 0 and 1.

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Koenker & Bassett 1978. ``predict`` gives the quantile whose level is nearest to a half, ``predict_interval`` those
    intervals whose ends are both among ``quantiles``. Where levels cross, they are sorted, which never makes them worse
    (Chernozhukov et al. 2010). Targets are standardised inside.

    Examples
    --------
    >>> X = np.linspace(0, 1, 500)[:, None]
    >>> y = 10 * X[:, 0] + np.random.default_rng(0).uniform(-2, 2, size=500)
    >>> model = QuantileMLPRegressor(quantiles=(0.25, 0.5, 0.75), schedule="cosine", random_state=0).fit(X, y)
    >>> model.predict_quantiles([[0.5]]).round()
    array([[4., 5., 6.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**CONSTRAINTS, "quantiles": ["array-like"]}

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        quantiles: Any = (0.05, 0.5, 0.95),
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
        return Quantile(q=tuple(np.atleast_1d(self.quantiles).tolist()))

    @property
    def _levels(self) -> Array:
        assert isinstance(self._loss, Quantile)
        return self._loss.levels

    def predict_quantiles(self, X: Any) -> Array:
        """All quantiles, (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles), rising."""
        raw = self._predict_rows(X, raw=True)
        by_target = np.sort(raw.reshape(len(raw), self._target.width, -1), axis=2)
        found = by_target * np.atleast_1d(self._spread)[:, None] + np.atleast_1d(self._centre)[:, None]
        return np.asarray(found if self._is_vector else found[:, 0, :])

    def predict(self, X: Any) -> Array:
        """The quantile whose level is nearest to a half: the median, if it is among them."""
        found = self.predict_quantiles(X)
        return np.asarray(found[..., int(np.argmin(np.abs(self._levels - 0.5)))])

    def _answers(self, X: Any) -> tuple[Array, ...]:
        return (self.predict_quantiles(X),)

    def _interval(self, answers: tuple[Array, ...], coverage: float) -> tuple[Array, Array]:
        (found,) = answers
        wanted = tails(coverage)
        places = [np.flatnonzero(np.isclose(self._levels, level)) for level in wanted]
        if any(len(place) == 0 for place in places):
            raise ConfigError(
                f"coverage={coverage!r} needs the quantiles {wanted[0]:g} and {wanted[1]:g}, and "
                f"quantiles={self.quantiles!r} lacks one. Fit again with both."
            )
        return np.asarray(found[..., places[0][0]]), np.asarray(found[..., places[1][0]])
