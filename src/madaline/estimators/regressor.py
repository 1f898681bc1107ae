"""The regressor: scikit-learn's ``MLPRegressor`` with the features its users have requested."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from madaline.data.scale import centre_and_scale
from madaline.errors import ConfigError, DataWarning, ShapeError, TargetError
from madaline.estimators.base import NetEstimator
from madaline.estimators.documentation import documented
from madaline.estimators.intervals import Intervals
from madaline.estimators.losses import scikit_loss
from madaline.estimators.monte_carlo import ThinnedNets
from madaline.estimators.outliers import is_outlier, worst_outlier
from madaline.estimators.parameters import NetParameters, RegressorParameters
from madaline.estimators.recipe import can_continue
from madaline.estimators.row_set import RowSet
from madaline.estimators.tables import plain_matrix
from madaline.estimators.targets import as_numbers
from madaline.graph.arrays import Array
from madaline.losses.loss import Loss
from madaline.losses.quantile import Quantile
from madaline.losses.squared import MSE
from madaline.losses.targets import Target
from madaline.train.metrics import R2

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets

BEYOND = 0.1
"How far the predictions of a preset may leave the range of the training targets, as a fraction of the range."


@documented
class MLPRegressor(ThinnedNets, RegressorMixin, NetEstimator, RegressorParameters):
    """Multilayer perceptron regressor: scikit-learn's, weight for weight, with many more options.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With several target columns the gradient is that of the sum over them and ``loss_curve_`` shows their mean, as in
    scikit-learn. With ``data`` or ``preset`` the target is scaled to mean 0 and standard deviation 1 for training;
    ``loss_curve_`` and the losses and metrics of ``history_`` are in these units. Predictions and scikit-learn's
    scores, such as ``metrics="neg_mean_absolute_error"``, are in the units of the target.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-2, 2, 100).reshape(-1, 1)
    >>> reg = MLPRegressor("huber", 32, "tanh", optimizer="lbfgs", random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(abs(reg.predict([[1.0]])[0] - 1.0) < 0.1)
    True
    """

    _estimator_type: ClassVar[str] = "regressor"  # older packages, such as Yellowbrick, look for it
    _has_ensembles: ClassVar[bool] = True

    _target_checks: ClassVar[Mapping[str, Any]] = {"y_numeric": True}

    target_spec_: Target
    target_scaling_: tuple[Any, Any] | None
    _bounds: tuple[Any, Any] | None
    _intervals: Intervals

    def _read_target(self, y: Targets, *, fresh: bool) -> np.ndarray:
        numbers = as_numbers(y)
        if fresh:
            self.target_spec_ = Target(1 if numbers.ndim == 1 else numbers.shape[1])
        return numbers

    def _learn(self, settings: NetParameters, rows: RowSet) -> None:
        super()._learn(settings, rows)
        self._bounds = None if settings.preset is None else _target_bounds(rows.y)
        is_scaled = rows.is_table or settings.preset is not None
        y, activation = self.clip_to_bounds(rows.y), scikit_loss(self.loss).out_activation
        self.target_scaling_ = _target_scale(y, activation) if is_scaled else None
        self.__dict__.pop("_intervals", None)

    def _for_net(self, rows: RowSet) -> RowSet:
        rows = super()._for_net(rows)
        if self.target_scaling_ is None:
            return rows
        return replace(rows, y=(self.clip_to_bounds(rows.y) - self.target_scaling_[0]) / self.target_scaling_[1])

    def unscaled_targets(self, target: np.ndarray) -> np.ndarray:
        return np.asarray(self.in_target_units(target))

    def _encoding_key(self) -> Any:
        return [
            np.asarray(each).tolist()
            for pair in (self.target_scaling_, self._bounds)
            if pair is not None
            for each in pair
        ]

    def _make_loss(self) -> Loss:
        loss = scikit_loss(self.loss, n_outputs=self.target_spec_.width)
        if isinstance(loss, Quantile) and len(loss.levels) > 1:
            raise ConfigError(
                f"loss={self.loss!r} has {len(loss.levels)} quantiles, and MLPRegressor predicts one number for each "
                "target. Pass one, such as md.losses.Quantile(q=0.9), or use QuantileMLPRegressor."
            )
        return loss

    def _n_outputs(self) -> int:
        return self.loss_function_.n_outputs(self.target_spec_)

    def _n_targets(self) -> int:
        return self.target_spec_.width

    def score_rows(self, prediction: np.ndarray, rows: RowSet) -> float:
        return R2().whole(MSE(), prediction, rows.y, rows.weight)

    def _finish_fit(self, settings: NetParameters, validation: RowSet | None) -> None:
        super()._finish_fit(settings, validation)
        if validation is not None and len(validation) > 1:
            prediction = self.clip_to_bounds(self.in_target_units(self._predictor(validation.X)))
            self._learn_intervals(self.unscaled_targets(validation.y), prediction, validation.weight)

    def _learn_from_held_out(self, outputs: np.ndarray, rows: RowSet, is_known: np.ndarray) -> None:
        found = np.asarray(self.clip_to_bounds(self.in_target_units(self.activated(outputs))), dtype=np.float64)
        truth = np.asarray(self.unscaled_targets(rows.y), dtype=np.float64).reshape(len(rows), -1)
        self._learn_intervals(truth[is_known], found[is_known], None if rows.weight is None else rows.weight[is_known])
        found[~is_known] = np.nan
        self.oof_prediction_ = found[:, 0] if found.shape[1] == 1 else found

    @available_if(can_continue)
    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train for one more epoch on these rows; parameters as in ``fit``."""
        if not hasattr(self, "model_"):
            self._validate_params()
        return self._fit(X, y, sample_weight, continues=True)

    def predict(self, X: Inputs) -> np.ndarray:
        """Predict the value of each row; (n_samples, n_outputs) if there are several targets.

        With a preset, predictions stay near the range of the training targets, however extreme a row is.
        """
        found = self.clip_to_bounds(self.in_target_units(self._predict_rows(X)))
        return np.asarray(found[:, 0] if found.shape[1] == 1 else found)

    def predict_encoded(self, arrays: Any) -> np.ndarray:
        """Predictions (n, n_targets) of rows that ``table_plan_`` has encoded already, for explanations."""
        return np.asarray(self.clip_to_bounds(self.in_target_units(self._predictor(plain_matrix(arrays)))))

    def calibrate(self, X: Inputs, y: Targets, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the size of errors from rows that training did not see, for ``predict_interval``.

        ``fit`` does this with the validation set, if there is one. Other rows give intervals that hold more exactly,
        since the validation set also decided when to stop.

        Parameters
        ----------
        X, y, sample_weight
            Rows, targets and weights as in ``fit``; at least a hundred rows are recommended.
        """
        truth = as_numbers(np.asarray(y, dtype=np.float64))
        prediction = np.asarray(self.predict(X), dtype=np.float64)
        if truth.shape != prediction.shape:
            raise ShapeError(f"y has shape {truth.shape}, and the predictions have shape {prediction.shape}.")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, np.empty((len(truth), 1)))
        self._learn_intervals(truth, prediction, weight)
        return self

    @property
    def is_calibrated(self) -> bool:
        """Whether ``predict_interval`` knows the size of errors."""
        return "_intervals" in self.__dict__

    def predict_interval(self, X: Inputs, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Predict the lower and upper end of an interval that contains the target with probability ``coverage``.

        Split conformal prediction: the intervals hold that fraction of new rows, drawn like those of ``calibrate``,
        whatever the distribution of the errors is. They are wide where errors are large. See :meth:`calibrate`.
        """
        check_is_fitted(self, "model_")
        if "_intervals" not in self.__dict__:
            raise ConfigError(
                "predict_interval needs errors on rows that training did not see. Fit with early_stopping=True or "
                "validation=, or call calibrate(X, y) with other rows."
            )
        found = np.asarray(self.predict(X), dtype=np.float64)
        low, high = self.interval_around(found, coverage)
        return np.asarray(low), np.asarray(high)

    def interval_around(self, prediction: Array, coverage: float) -> tuple[Array, Array]:
        """The ends of the intervals around predictions, which may be traced."""
        margins = self._intervals.margins(prediction.reshape((prediction.shape[0], -1)), coverage)
        margins = margins.reshape(prediction.shape)
        low = prediction - margins
        is_count = self.loss_function_.out_activation == "exp"
        return np.maximum(low, 0.0) if is_count else low, prediction + margins

    def _learn_intervals(self, truth: np.ndarray, prediction: np.ndarray, weight: np.ndarray | None = None) -> None:
        shape = len(truth), -1
        if weight is not None and not (weight > 0.0).any():
            weight = None
        self._intervals = Intervals.learn(
            np.asarray(truth, np.float64).reshape(shape), np.asarray(prediction, np.float64).reshape(shape), weight
        )

    def _check_restored(self) -> None:
        from madaline.estimators.integrity import check_pair

        super()._check_restored()
        check_pair(self.target_scaling_, self.target_spec_.width, "centre and scale")
        check_pair(self._bounds, self.target_spec_.width, "bounds")
        if self.target_scaling_ is not None and not (np.asarray(self.target_scaling_[1]) > 0.0).all():
            raise ValueError("the scale of the target is not positive")
        if "_intervals" in self.__dict__ and len(self._intervals.centres) != self.target_spec_.width:
            raise ValueError("there is not one prediction interval for each target")

    def _one_sample(self, outputs: np.ndarray) -> np.ndarray:
        found = np.asarray(self.in_target_units(np.asarray(self.loss_function_.predict(outputs))))
        return found[:, 0] if found.shape[1] == 1 else found

    def in_target_units(self, prediction: Any) -> Any:
        """Predictions in the units of the target."""
        if self.target_scaling_ is None:
            return prediction
        centre, scale = self.target_scaling_
        return prediction * scale + centre

    def clip_to_bounds(self, prediction: Any) -> Any:
        """Predictions or targets within the range of the training targets and some room beyond it."""
        return (
            prediction if self._bounds is None else np.minimum(np.maximum(prediction, self._bounds[0]), self._bounds[1])
        )


def _target_bounds(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of predictions, and of the targets they are trained on: the range of the targets and some room.

    Outliers, which would be all that a net learns, do not count.
    """
    usual = []
    for column in y.reshape(len(y), -1).T.astype(np.float64):
        far = is_outlier(column)
        usual.append((column[~far].min(), column[~far].max()))
        if (outlier := worst_outlier(column)) is not None:
            warnings.warn(
                f"The target has the value {outlier.value:g}, {outlier.times:.0f} times its usual range; it is learned "
                f"as {np.clip(outlier.value, *usual[-1]):g}. Correct it, or leave out the row.",
                DataWarning,
                stacklevel=2,
            )
    low, high = (np.array(ends) if y.ndim == 2 else np.array(ends[0]) for ends in zip(*usual, strict=True))
    with np.errstate(over="ignore"):  # targets that are too large are refused when they are scaled
        room = BEYOND * (high - low)
        return np.where(low >= 0.0, np.maximum(low - room, 0.0), low - room), high + room


def _target_scale(y: np.ndarray, out_activation: str) -> tuple[Any, Any] | None:
    r"""Centre and scale with which a net learns the target.

    Numbers have mean 0 and standard deviation 1. Rates are multiples of the mean, which is what a fresh net predicts:
    with a rate :math:`s e^z` for a count :math:`y`, the Poisson loss is
    :math:`s e^z - y \log(s e^z) = s \left( e^z - \frac{y}{s} z \right)` plus a constant.
    """
    if out_activation == "identity":
        with np.errstate(over="ignore", invalid="ignore"):
            centre, scale = centre_and_scale(y, "standard")
        if not (np.isfinite(centre) & np.isfinite(scale) & (np.asarray(scale) > 0.0)).all():
            raise TargetError("The target is too large or too small to be learned. Use other units.")
        return centre, scale
    if out_activation != "exp":
        return None
    mean = np.mean(y, axis=0)
    return np.zeros_like(mean), np.where(mean > 0.0, mean, 1.0)
