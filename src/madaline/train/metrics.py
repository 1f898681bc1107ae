"""Metrics of predictions: accuracy, R2, AUC and others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.errors import ConfigError
from madaline.losses.classes import ClassLoss
from madaline.losses.loss import Loss
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.graph.arrays import Array

METRICS: Registry[type[Metric]] = Registry("metric")
COLUMNS = ("epoch", "loss", "objective", "penalty", "learning_rate", "seconds", "step")
"Columns of the history that are not metrics."


@description
class Metric(Description):
    """Base of metrics: a mean over rows, or a function of all predictions.

    A subclass defines ``rows(loss, prediction, target)``, one number for each row from the raw outputs of the net,
    written with NumPy and computed during training; or it sets ``needs_all`` and defines ``whole(loss, prediction,
    target, weight)`` on arrays, which is computed at the end of an epoch.
    """

    registry: ClassVar[Registry[Any]] = METRICS
    larger_is_better: ClassVar[bool | None] = True
    needs_all: ClassVar[bool] = False

    def rows(self, loss: Any, prediction: Array, target: Array) -> Array:
        """One number for each row."""
        raise NotImplementedError

    def whole(self, loss: Any, prediction: Array, target: Array, weight: Any) -> float:
        """One number for all rows."""
        rows = np.asarray(self.rows(loss, prediction, target), dtype=np.float64)
        return float(np.average(rows, weights=weight)) if _counts(rows, weight) else float("nan")


@description
class Accuracy(Metric):
    r"""Fraction of correct rows: the largest output is the class, or every label has the right sign.

    With several labels a row is correct if all of them are (scikit-learn's subset accuracy).
    """

    name: ClassVar[str] = "accuracy"

    def rows(self, loss: Any, prediction: Array, target: Array) -> Array:
        z = _columns(prediction)
        if isinstance(loss, ClassLoss) and loss.n_classes(prediction.shape) != z.shape[1]:
            z = loss.predict(prediction)  # the outputs are thresholds between classes
        if z.shape[1] == 1 or (len(target.shape) > 1 and getattr(loss, "out_activation", "") == "sigmoid"):
            y = _columns(target)
            return np.min(((z > 0.0) == (y > 0.5)).astype(z.dtype), axis=1)
        classes = target if len(target.shape) == 1 else np.argmax(target, axis=1)
        return (np.argmax(z, axis=1) == classes).astype(z.dtype)


@description
class TopK(Metric):
    r"""Fraction of rows whose class is among the ``k`` largest outputs; equal outputs count as larger.

    Parameters
    ----------
    k : int, default 5
    """

    name: ClassVar[str] = "top_k"
    ranges: ClassVar[Mapping[str, str]] = {"k": "[1, inf)"}
    k: int = 5

    def rows(self, loss: Any, prediction: Array, target: Array) -> Array:
        if len(target.shape) != 1 or target.dtype.kind not in "iu":
            raise ConfigError(
                f"metrics: top_k needs one class index for each row, but the targets are {target.dtype} with "
                f"{len(target.shape)} axes."
            )
        if prediction.shape[1] < 2:
            raise ConfigError("metrics: top_k needs an output for each class, but the net has one for two classes.")
        own = np.take_along_axis(prediction, target[:, None], axis=1)
        ahead = np.sum((prediction >= own).astype(prediction.dtype), axis=1) - 1.0
        return (ahead < self.k).astype(prediction.dtype)


@description
class MeanAbsoluteError(Metric):
    r"""Mean absolute error, :math:`\frac1n\sum_i |\hat y_i - y_i|`, over all outputs."""

    name: ClassVar[str] = "mae"
    larger_is_better: ClassVar[bool | None] = False

    def rows(self, loss: Any, prediction: Array, target: Array) -> Array:
        return np.mean(np.abs(_difference(self, loss, prediction, target)), axis=1)


@description
class MeanSquaredError(Metric):
    r"""Mean squared error, :math:`\frac1n\sum_i (\hat y_i - y_i)^2`, over all outputs."""

    name: ClassVar[str] = "mse"
    larger_is_better: ClassVar[bool | None] = False

    def rows(self, loss: Any, prediction: Array, target: Array) -> Array:
        difference = _difference(self, loss, prediction, target)
        return np.mean(difference * difference, axis=1)


@description
class R2(Metric):
    r"""Coefficient of determination, :math:`1 - \sum(\hat y-y)^2/\sum(y-\bar y)^2`, mean over outputs.

    As in scikit-learn's ``r2_score``, a constant target gives 1 if it is predicted exactly, else 0.
    """

    name: ClassVar[str] = "r2"
    needs_all: ClassVar[bool] = True

    def whole(self, loss: Any, prediction: Array, target: Array, weight: Any) -> float:
        y = np.asarray(_columns(target), dtype=np.float64)
        if not _counts(y, weight):
            return float("nan")
        difference = np.asarray(_difference(self, loss, prediction, target), dtype=np.float64)
        left = np.average(difference**2, axis=0, weights=weight)
        spread = np.average((y - np.average(y, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
        shares = np.where(
            spread > 0.0, 1.0 - left / np.where(spread > 0.0, spread, 1.0), np.where(left > 0.0, 0.0, 1.0)
        )
        return float(np.mean(shares))


@description
class AUC(Metric):
    r"""Area under the ROC curve: how often a row of the class has a larger output than a row of another class.

    For several classes or labels, the mean of one-versus-rest areas; a class that no row or every row has is left out.
    """

    name: ClassVar[str] = "auc"
    needs_all: ClassVar[bool] = True

    def whole(self, loss: Any, prediction: Array, target: Array, weight: Any) -> float:
        scores = np.asarray(_columns(loss.predict(prediction)), dtype=np.float64)
        target = np.asarray(target)
        if target.ndim == 1 and scores.shape[1] > 1:
            present = target[:, None] == np.arange(scores.shape[1])
        else:
            present = _columns(target) > 0.5
        if scores.shape[1] == 2 and target.ndim == 1:
            scores, present = scores[:, 1:], present[:, 1:]
        weights = np.ones(len(scores)) if weight is None else np.asarray(weight, dtype=np.float64)
        areas = [_area(column, is_in, weights) for column, is_in in zip(scores.T, present.T, strict=True)]
        known = [area for area in areas if area is not None]
        return float(np.mean(known)) if known else float("nan")


@description
class CustomMetric(Metric):
    """A custom function ``(prediction, target) -> number`` of all predictions."""

    function: Callable[[Any, Any], Any]
    larger_is_better: ClassVar[bool | None] = None
    needs_all: ClassVar[bool] = True

    @property
    def name(self) -> str:  # type: ignore[override]  # of the function instead of the class
        """The function's name."""
        return str(getattr(self.function, "__name__", "metric"))

    def whole(self, loss: Any, prediction: Array, target: Array, weight: Any) -> float:
        predicted = (
            {name: item.predict(prediction[name]) for name, item in loss.items()}
            if isinstance(loss, dict)
            else loss.predict(prediction)
        )
        found = self.function(predicted, target)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise ConfigError(f"The metric {self.name!r} returned {found!r}; it must return one number.") from None


MetricLike = str | Metric | type[Metric] | Callable[[Any, Any], Any]
"A metric: its name, an object, or a function of predictions and targets."


def as_metric(what: MetricLike) -> Metric:
    """A metric from a name, a metric, or a function of predictions and targets."""
    if callable(what) and not isinstance(what, (type, Metric)):
        return CustomMetric(what)
    return Metric.of(what)


def as_metrics(
    given: MetricLike | Sequence[MetricLike] | None, loss: Loss | Mapping[str, Loss] | None = None
) -> tuple[Metric, ...]:
    """Metrics from one or several; raises an error for duplicate names."""
    if given is None:
        return ()
    items = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    found = tuple(map(as_metric, items))
    names = [metric.name for metric in found]
    if len(set(names)) != len(names):
        raise ConfigError(f"metrics has duplicate names: {', '.join(names)}. Give functions different names.")
    for name in names:
        if name in COLUMNS or name.startswith("val_"):
            raise ConfigError(f"metrics: {name!r} is the name of another column of the history. Choose another name.")
    if isinstance(loss, dict) and not all(isinstance(metric, CustomMetric) for metric in found):
        raise ConfigError(
            f"metrics={', '.join(names)}: a net with several outputs needs functions of the dicts of predictions and "
            "targets, for example lambda p, y: np.mean(p['size'] - y['size'])."
        )
    return found


def _counts(rows: np.ndarray, weight: Any) -> bool:
    """Whether there is a row with weight."""
    return len(rows) > 0 and (weight is None or bool(np.any(weight)))


def _columns(x: Array) -> Array:
    return x if len(x.shape) > 1 else x.reshape((x.shape[0], 1))


def _difference(metric: Metric, loss: Loss, prediction: Array, target: Array) -> Array:
    """Predictions minus targets; raises an error if their columns differ, which NumPy would broadcast."""
    predicted, y = _columns(loss.predict(prediction)), _columns(target)
    if predicted.shape[1] != y.shape[1]:
        raise ConfigError(
            f"metrics: {metric.name} compares numbers, but there are {predicted.shape[1]} predictions for each row and "
            f"{y.shape[1]} target column{'s' * (y.shape[1] != 1)}. For classes use accuracy or auc."
        )
    return predicted - y


def _area(score: np.ndarray, present: np.ndarray, weight: np.ndarray) -> float | None:
    """The area, over all pairs of a row in the class and one outside; ties count half."""
    positive, negative = weight[present].sum(), weight[~present].sum()
    if not positive or not negative:
        return None
    values, index = np.unique(score, return_inverse=True)
    inside = np.bincount(index[present], weight[present], minlength=len(values))
    outside = np.bincount(index[~present], weight[~present], minlength=len(values))
    below = np.cumsum(outside) - 0.5 * outside
    return float(np.sum(inside * below) / (positive * negative))
