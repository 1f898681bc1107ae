"""The base classes of density estimators: standardised targets, maximum likelihood, predictions from the density."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from madaline.errors import ConfigError, ShapeError
from madaline.estimators.base import NetEstimator
from madaline.estimators.monte_carlo import ThinnedNets
from madaline.estimators.parameters import NetParameters
from madaline.estimators.recipe import can_continue, seed_of
from madaline.estimators.row_set import RowSet
from madaline.estimators.tables import read_table
from madaline.estimators.targets import as_numbers
from madaline.kernels.mapped import check_files
from madaline.losses.mixture_density import GaussianMixture
from madaline.losses.targets import Target

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets

Array = np.ndarray[Any, Any]


class StandardizedRegressor(RegressorMixin, NetEstimator):
    """A net that is trained on targets scaled to mean 0 and standard deviation 1 (of the first training rows).

    Early stopping monitors the loss on the validation set, not :math:`R^2`.
    """

    _estimator_type: ClassVar[str] = "regressor"  # older packages, such as Yellowbrick, look for it

    _target_checks: ClassVar[Mapping[str, Any]] = {"y_numeric": True}

    target_spec_: Target
    target_is_matrix_: bool
    target_centre_: Any
    target_scale_: Any
    _calibration: tuple[Any, Array]

    def _read_target(self, y: Targets, *, fresh: bool) -> Array:
        y = as_numbers(y)
        if fresh:
            self.target_spec_ = Target(1 if y.ndim == 1 else y.shape[1])
            self.target_is_matrix_ = y.ndim == 2
        return np.asarray(y, dtype=np.float64)

    def _learn(self, settings: NetParameters, rows: RowSet) -> None:
        super()._learn(settings, rows)
        weight = rows.weight if rows.weight is not None and rows.weight.any() else None
        self.target_centre_ = np.average(rows.y, axis=0, weights=weight)
        spread = np.sqrt(np.average(np.square(rows.y - self.target_centre_), axis=0, weights=weight))
        self.target_scale_ = np.where(spread > 0.0, spread, 1.0)
        self.__dict__.pop("_calibration", None)

    def _for_net(self, rows: RowSet) -> RowSet:
        rows = super()._for_net(rows)
        return replace(rows, y=(rows.y - self.target_centre_) / self.target_scale_)

    def unscaled_targets(self, target: Array) -> Array:
        return np.asarray(target * self.target_scale_ + self.target_centre_)

    def _n_outputs(self) -> int:
        return self.loss_function_.n_outputs(self.target_spec_)

    def _n_targets(self) -> int:
        return self.target_spec_.width

    def _check_restored(self) -> None:
        from madaline.estimators.integrity import check_pair

        super()._check_restored()
        check_pair((self.target_centre_, self.target_scale_), self.target_spec_.width, "centre and spread")
        if "_calibration" in self.__dict__:
            answers, y = self._calibration
            n_rows = len(y)
            shapes = [(n_rows, *np.shape(one)[1:]) for one in self._answers(self.rows_to_try(1))]
            if y.shape != (n_rows, self.target_spec_.width) or [np.shape(one) for one in answers] != shapes:
                raise ValueError("the rows of the calibration do not fit together")

    def _output_activation(self) -> str:
        return "identity"  # predictions are computed from the density, in the units of the targets

    def score_rows(self, prediction: Array, rows: RowSet) -> float:
        return -float(self.loss_function_(prediction, rows.y, rows.weight))

    @available_if(can_continue)
    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train for one more epoch on these rows; for the arguments see ``fit``."""
        if not hasattr(self, "model_"):
            self._validate_params()
        return self._fit(X, y, sample_weight, continues=True)

    def calibrate(self, X: Inputs, y: Targets) -> Self:
        r"""Adjust prediction intervals with rows that were not used for training, to guarantee their coverage.

        For each target, the ends are moved outwards (or inwards) by the :math:`\lceil (n+1)c\rceil`-th smallest
        distance of the ``n`` rows from their interval. For new rows from the same distribution the coverage is then at
        least ``c``, regardless of the quality of the net: conformalized quantile regression, Romano et al. 2019,
        theorem 1.

        Parameters
        ----------
        X, y
            Rows and targets as in ``fit``, preferably a hundred or more.
        """
        check_is_fitted(self, "model_")
        rows: Any
        if "table_plan_" in self.__dict__:
            rows, targets = read_table(self, X, y, numeric=True)
        else:
            check_files(X, y)
            rows, targets = validate_data(
                self, X, y, accept_sparse=["csr", "csc"], multi_output=True, y_numeric=True, reset=False
            )
        columns = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)
        if columns.shape[1] != self.target_spec_.width:
            raise ShapeError(f"y has {columns.shape[1]} columns; in fit it had {self.target_spec_.width}.")
        self._calibration = self._answers(rows), columns
        return self

    def predict_interval(self, X: Inputs, coverage: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the central prediction interval with this coverage, for each row."""
        low, high = self._interval(self._answers(X), coverage)
        if "_calibration" in self.__dict__:
            answers, y = self._calibration
            below, above = self._interval(answers, coverage)
            shape = len(y), self.target_spec_.width
            outside = np.sort(np.maximum(below.reshape(shape) - y, y - above.reshape(shape)), axis=0)
            rank = _rounded_up((len(y) + 1) * coverage)
            if rank > len(y):
                raise ConfigError(
                    f"coverage={coverage!r} cannot be guaranteed with {len(y)} calibration rows; at least "
                    f"{_rounded_up(coverage / (1.0 - coverage))} are needed."
                )
            moved = self._shaped(outside[rank - 1])
            low, high = low - moved, high + moved
        return low, high

    def _answers(self, X: Inputs) -> tuple[Array, ...]:
        """The predictions of the net that intervals of any coverage are computed from, as arrays."""
        raise NotImplementedError

    def _interval(self, answers: tuple[Array, ...], coverage: float) -> tuple[Array, Array]:
        """The interval before calibration."""
        raise NotImplementedError

    def _shaped(self, values: Array) -> Array:
        """Values of the targets, (..., targets), without the last axis if there is one target."""
        return values if self.target_is_matrix_ else values[..., 0]


class DensityRegressor(ThinnedNets, StandardizedRegressor):
    """An estimator of the density of the target; a subclass defines ``_densities`` of standardised targets."""

    mc_dropout: int

    def _densities(self, outputs: Array) -> GaussianMixture:
        """The densities, one per row of raw outputs."""
        raise NotImplementedError

    def distribution(self, X: Inputs) -> GaussianMixture:
        """The predicted density of the targets of each row.

        With ``mc_dropout`` it is the mean of the densities of that many thinned nets.
        """
        found = self._densities(self._predict_rows(X, raw=True)) if not self.mc_dropout else self._mean_density(X)
        centre, spread = np.atleast_1d(self.target_centre_), np.atleast_1d(self.target_scale_)
        return GaussianMixture(found.weights, found.means * spread + centre, found.factors / spread)

    def _mean_density(self, X: Inputs) -> GaussianMixture:
        parts = [self._densities(outputs) for outputs in self._thinned_outputs(X, self.mc_dropout, self.random_state)]
        weights, means, factors = (
            np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("weights", "means", "factors")
        )
        return GaussianMixture(weights / len(parts), means, factors)

    def predict(self, X: Inputs) -> Array:
        """The mean of each row's density; (n_samples, n_targets) if there are several targets."""
        return self._shaped(self.distribution(X).mean())

    def predict_mode(self, X: Inputs) -> Array:
        """The mode of the density of each row."""
        return self._shaped(self.distribution(X).mode())

    def predict_quantiles(self, X: Inputs, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Marginal quantiles of the targets, (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles)."""
        return np.moveaxis(self._shaped(self.distribution(X).quantiles(quantiles)), 0, -1)

    def _answers(self, X: Inputs) -> tuple[Array, ...]:
        found = self.distribution(X)
        return found.weights, found.means, found.factors

    def _interval(self, answers: tuple[Array, ...], coverage: float) -> tuple[Array, Array]:
        low, high = self._shaped(GaussianMixture(*answers).quantiles(tails(coverage)))
        return low, high

    def _one_sample(self, outputs: Array) -> Array:
        return self._shaped(self._densities(outputs).mean() * self.target_scale_ + self.target_centre_)

    def sample(self, X: Inputs, n_samples: int = 1, random_state: int | np.random.RandomState | None = None) -> Array:
        """Random samples from the density of each row, (n_samples, n) or (n_samples, n, n_targets)."""
        return self._shaped(self.distribution(X).sample(n_samples, seed=seed_of(check_random_state(random_state))))

    def log_density(self, X: Inputs, y: Targets) -> Array:
        """The logarithm of the density at the target of each row, (n_samples,)."""
        y = np.asarray(y, dtype=np.float64)
        return self.distribution(X).log_density(y if y.ndim == 2 else y[:, None])

    def density(self, X: Inputs, y: Targets) -> Array:
        """The density at the target of each row, (n_samples,)."""
        return np.exp(self.log_density(X, y))


def tails(coverage: float) -> tuple[float, float]:
    """The levels of the quantiles that bound the central interval with this coverage."""
    if not 0.0 < coverage < 1.0:
        raise ConfigError(f"coverage={coverage!r} must be between 0 and 1, such as 0.9.")
    return (1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0


def _rounded_up(number: float) -> int:
    """The smallest integer that is not below the number, up to rounding errors."""
    return int(np.ceil(number - 1e-9))
