"""Scores of predictions on a test set, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from madaline.report.findings import Score

N_RESAMPLES = 1000
"Number of bootstrap resamples."
BLOCK = 1 << 22
"Number of weights that are drawn together."
SHARE = 0.95
"Fraction of resamples inside an interval."

Means = np.ndarray
"Weighted means of the quantities that a score is computed from."


class ResampledMetric(Protocol):
    """A score of predictions."""

    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str:
        """A few words about it."""

    @property
    def larger_is_better(self) -> bool: ...
    def values(self, truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The score for each row of weights, (n_resamples, n_rows); NaN where it is not defined."""


@dataclass(frozen=True)
class MeanMetric:
    """A score that is a function of means over rows.

    Attributes
    ----------
    name : str
    quantities : callable
        An array (n_rows, k) from truth and prediction.
    formula : callable
        The score from their means, (..., k).
    meaning : str
        A few words about it.
    """

    name: str
    quantities: Callable[[np.ndarray, np.ndarray], np.ndarray]
    formula: Callable[[Means], np.ndarray]
    meaning: str
    larger_is_better: bool = True

    def values(self, truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray) -> np.ndarray:
        means = weights @ self.quantities(truth, prediction) / weights.sum(axis=1, keepdims=True)
        return np.asarray(self.formula(means))


@dataclass(frozen=True)
class RankCounts:
    """Weights of rows by descending probability of the second class, for each resample.

    Rows with the same probability are one group; only groups with positive rows are kept. Arrays are
    (n_resamples, n_groups), totals (n_resamples, 1).
    """

    positive_before: np.ndarray
    positive_after: np.ndarray
    negative_before: np.ndarray
    negative_after: np.ndarray
    n_positive: np.ndarray
    n_negative: np.ndarray

    @classmethod
    def of(cls, truth: np.ndarray, probability: np.ndarray, weights: np.ndarray) -> RankCounts:
        """The counts of some rows, whose weights are (n_resamples, n_rows)."""
        order = np.argsort(-probability, kind="stable")
        p, is_positive = probability[order], truth[order] == 1
        ends = np.append(np.flatnonzero(p[1:] != p[:-1]), len(p) - 1)
        before_and_after = []
        for chosen in (is_positive, ~is_positive):
            after = np.cumsum(chosen)[ends]
            total = np.zeros((len(weights), np.count_nonzero(chosen) + 1))
            np.cumsum(weights[:, order[chosen]], axis=1, out=total[:, 1:])
            before_and_after.append((np.insert(after[:-1], 0, 0), after, total))
        (first, last, positive), (negative_first, negative_last, negative) = before_and_after
        kept = last > first
        return cls(
            positive[:, first[kept]],
            positive[:, last[kept]],
            negative[:, negative_first[kept]],
            negative[:, negative_last[kept]],
            positive[:, -1:],
            negative[:, -1:],
        )


@dataclass(frozen=True)
class RankMetric:
    """A score of how well probabilities of the second of two classes order the rows.

    Attributes
    ----------
    name : str
    formula : callable
        The score of each resample.
    meaning : str
        A few words about it.
    """

    name: str
    formula: Callable[[RankCounts], np.ndarray]
    meaning: str
    larger_is_better: bool = True

    def values(self, truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.formula(RankCounts.of(truth, prediction[:, 1], weights))


def _auc(counts: RankCounts) -> np.ndarray:
    below = counts.n_negative - 0.5 * (counts.negative_before + counts.negative_after)
    pairs = np.sum((counts.positive_after - counts.positive_before) * below, axis=1)
    return np.asarray(pairs / (counts.n_positive * counts.n_negative)[:, 0])


def _average_precision(counts: RankCounts) -> np.ndarray:
    found, chosen = counts.positive_after, counts.positive_after + counts.negative_after
    precision = found / np.where(chosen > 0.0, chosen, 1.0)
    return np.asarray(np.sum((found - counts.positive_before) * precision, axis=1) / counts.n_positive[:, 0])


def _squares(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    error = np.mean((truth - prediction) ** 2, axis=1)
    centred = truth - truth.mean(axis=0)  # a large mean would cause cancellation
    return np.column_stack([error, centred, centred**2])


def _r2(means: Means) -> np.ndarray:
    """1 - error / variance, the mean over outputs of the variances; NaN where the truth does not vary."""
    k = (means.shape[-1] - 1) // 2
    variance = np.mean(means[..., 1 + k :] - means[..., 1 : 1 + k] ** 2, axis=-1)
    varies = variance > 0.0
    return np.where(varies, 1.0 - means[..., 0] / np.where(varies, variance, 1.0), np.nan)


def _first(means: Means) -> np.ndarray:
    return means[..., 0]


def _mean_of(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda truth, prediction: function(truth, prediction)[:, None]


def _log_loss(truth: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(-np.log(np.maximum(p[np.arange(len(p)), truth], 1e-15)))


def _f1_parts(truth: np.ndarray, p: np.ndarray) -> np.ndarray:
    guess = p > 0.5
    return np.column_stack([np.sum(guess * truth, axis=1), np.sum(guess, axis=1) + np.sum(truth, axis=1)])


def _f1(means: Means) -> np.ndarray:
    return np.asarray(2.0 * means[..., 0] / np.maximum(means[..., 1], 1e-12))


def _binary_f1_parts(truth: np.ndarray, p: np.ndarray) -> np.ndarray:
    return _f1_parts(truth[:, None], p[:, 1:])


def _macro_f1_parts(truth: np.ndarray, p: np.ndarray) -> np.ndarray:
    """For each class, whether a row is a true positive, and whether it is predicted plus whether it is true."""
    n_classes = p.shape[1]
    is_class = truth[:, None] == np.arange(n_classes)
    is_predicted = np.argmax(p, axis=1)[:, None] == np.arange(n_classes)
    return np.column_stack([is_class & is_predicted, is_class.astype(float) + is_predicted])


def _macro_f1(means: Means) -> np.ndarray:
    k = means.shape[-1] // 2
    is_there = means[..., k:] > 0.0
    each = 2.0 * means[..., :k] / np.where(is_there, means[..., k:], 1.0)
    return np.asarray(np.sum(each, axis=-1) / np.maximum(np.sum(is_there, axis=-1), 1))


def _poisson_deviance(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    mean = np.maximum(prediction, 1e-9)
    ratio = np.where(truth > 0, truth, 1.0) / mean
    return np.asarray(np.mean(2.0 * (np.where(truth > 0, truth * np.log(ratio), 0.0) - truth + mean), axis=1))


ACCURACY = MeanMetric(
    "accuracy",
    _mean_of(lambda y, p: (np.argmax(p, axis=1) == y).astype(float)),
    _first,
    "fraction of rows whose class is predicted correctly",
)
LOG_LOSS = MeanMetric(
    "log loss",
    _mean_of(_log_loss),
    _first,
    "mean of minus the log probability of the true class; 0 is perfect, confident errors cost most",
    larger_is_better=False,
)
R2 = MeanMetric(
    "R2", _squares, _r2, "fraction of the variance that is explained; 1 is perfect, 0 is as good as predicting the mean"
)
RMSE = MeanMetric(
    "RMSE",
    _mean_of(lambda y, p: np.mean((y - p) ** 2, axis=1)),
    lambda m: np.sqrt(_first(m)),
    "root mean squared error, in the units of the target; large errors count more",
    larger_is_better=False,
)
MAE = MeanMetric(
    "MAE",
    _mean_of(lambda y, p: np.mean(np.abs(y - p), axis=1)),
    _first,
    "mean absolute error, in the units of the target",
    larger_is_better=False,
)
DEVIANCE = MeanMetric(
    "Poisson deviance",
    _mean_of(_poisson_deviance),
    _first,
    "distance between predicted rates and counts; 0 is perfect, errors count more where counts are small",
    larger_is_better=False,
)
F1 = MeanMetric(
    "F1",
    _f1_parts,
    _f1,
    "harmonic mean of precision and recall over all labels; 1 is perfect",
)
ALL_RIGHT = MeanMetric(
    "rows all right",
    _mean_of(lambda y, p: np.all((p > 0.5) == y, axis=1).astype(float)),
    _first,
    "fraction of rows in which every label is right",
)

AUC = RankMetric(
    "AUC",
    _auc,
    "probability that a random row of the second class gets a higher probability than one of the first; 0.5 is chance",
)
AVERAGE_PRECISION = RankMetric(
    "average precision",
    _average_precision,
    "area under the precision-recall curve of the second class; chance is its fraction of the rows",
)
BINARY_F1 = MeanMetric(
    "F1",
    _binary_f1_parts,
    _f1,
    "harmonic mean of precision and recall of the second class, at a threshold of 0.5; 1 is perfect",
)
MACRO_F1 = MeanMetric(
    "macro F1",
    _macro_f1_parts,
    _macro_f1,
    "F1 score of each class, averaged over the classes; 1 is perfect",
)

METRICS: dict[str, tuple[ResampledMetric, ...]] = {
    "binary": (ACCURACY, LOG_LOSS, AUC, AVERAGE_PRECISION, BINARY_F1),
    "multiclass": (ACCURACY, LOG_LOSS, MACRO_F1),
    "multilabel": (F1, ALL_RIGHT),
    "regression": (R2, RMSE, MAE),
    "count": (R2, DEVIANCE, MAE),
}
"The scores of each task, the main one first."


CLASS_METRICS: dict[str, tuple[ResampledMetric, ...]] = {
    "binary": (ACCURACY, BINARY_F1),
    "multiclass": (ACCURACY, MACRO_F1),
}
"The scores of classes that are predicted without probabilities."


def score(
    task: str, truth: np.ndarray, prediction: np.ndarray, *, seed: int = 0, has_probabilities: bool = True
) -> list[Score]:
    """The scores of predictions.

    Parameters
    ----------
    task : str
    truth : array
        Numbers of classes (n,), labels (n, k), or numbers (n, k).
    prediction : array
        Probabilities (n, classes) or (n, labels), or numbers (n, k).
    seed : int
        Random seed of the resamples.
    has_probabilities : bool
        Whether the predictions of classes are probabilities, or 1 for the predicted class and 0 for the others.

    Examples
    --------
    >>> y = np.arange(100) % 2
    >>> [str(each) for each in score("binary", y, np.where(y[:, None] == [0, 1], 0.9, 0.1))]
    ['1.000 (1.000 to 1.000)', '0.105 (0.105 to 0.105)', '1.000 (1.000 to 1.000)', '1.000 (1.000 to 1.000)', ...]
    """
    metrics = METRICS[task] if has_probabilities else CLASS_METRICS[task]
    resampled = [
        [metric.values(truth, prediction, weights) for metric in metrics] for weights in _resamples(len(truth), seed)
    ]
    found = []
    for metric, blocks in zip(metrics, zip(*resampled, strict=True), strict=True):
        values = np.concatenate(blocks)
        values = values[~np.isnan(values)]
        low, high = np.quantile(values, [(1 - SHARE) / 2, (1 + SHARE) / 2]) if len(values) else (np.nan, np.nan)
        value = value_of(metric, truth, prediction)
        found.append(Score(metric.name, value, float(low), float(high), metric.larger_is_better, metric.meaning))
    return found


def value_of(metric: ResampledMetric, truth: np.ndarray, prediction: np.ndarray) -> float:
    """One score, all rows weighted equally."""
    return float(metric.values(truth, prediction, np.ones((1, len(truth))))[0])


def better(score: Score, other: Score) -> bool:
    """Whether a score is better than another of the same name."""
    return score.value > other.value if score.larger_is_better else score.value < other.value


def _resamples(n: int, seed: int) -> Iterator[np.ndarray]:
    """Poisson weights of the rows, each row of them a resample (Chamandy et al. 2012)."""
    rng = np.random.default_rng(seed)
    block = max(1, min(N_RESAMPLES, BLOCK // n))
    for start in range(0, N_RESAMPLES, block):
        weights = rng.poisson(1.0, (min(block, N_RESAMPLES - start), n)).astype(np.float64)
        weights[weights.sum(axis=1) == 0.0] = 1.0
        yield weights
