"""How good predictions are on rows that training did not see, with how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

N_RESAMPLES = 1000
"Of the rows, to see how scores vary."
BLOCK = 1 << 22
"Weights that are drawn together."
SHARE = 0.95
"Of resamples that an interval holds."

Means = np.ndarray
"Weighted means of the quantities a score is made of."


@dataclass(frozen=True)
class Score:
    """A number that says how good predictions are.

    Attributes
    ----------
    name : str
    value : float
    low, high : float
        Where 95% of resamples of the rows have it.
    larger_is_better : bool
    """

    name: str
    value: float
    low: float
    high: float
    larger_is_better: bool = True

    @property
    def meaning(self) -> str:
        """What it says, for those who do not know its name; nothing for a name that is not known here."""
        return next((metric.meaning for task in METRICS.values() for metric in task if metric.name == self.name), "")

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "undefined"
        least = 1.0 if self.larger_is_better else 0.0  # 1 is perfect: what is far below it is nothing
        size = max(abs(self.value), abs(self.low), abs(self.high), least)
        return f"{shown(self.value, least)} ({shown(self.low, size)} to {shown(self.high, size)})"


@dataclass(frozen=True)
class Metric:
    """A score as a formula of means over rows, so that a resample is a weighing of rows.

    Attributes
    ----------
    name : str
    quantities : callable
        Of truth and prediction: an array (n_rows, k).
    formula : callable
        Of their means, (..., k).
    meaning : str
        A few words about it.
    """

    name: str
    quantities: Callable[[np.ndarray, np.ndarray], np.ndarray]
    formula: Callable[[Means], np.ndarray]
    meaning: str
    larger_is_better: bool = True


def _squares(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    error = np.mean((truth - prediction) ** 2, axis=1)
    centred = truth - truth.mean(axis=0)  # the square of a large mean would drown the variance
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


def _poisson_deviance(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    mean = np.maximum(prediction, 1e-9)
    ratio = np.where(truth > 0, truth, 1.0) / mean
    return np.asarray(np.mean(2.0 * (np.where(truth > 0, truth * np.log(ratio), 0.0) - truth + mean), axis=1))


ACCURACY = Metric(
    "accuracy",
    _mean_of(lambda y, p: (np.argmax(p, axis=1) == y).astype(float)),
    _first,
    "the share of rows whose class is right",
)
LOG_LOSS = Metric(
    "log loss",
    _mean_of(_log_loss),
    _first,
    "how far probabilities are from the truth; 0 is perfect, and being sure and wrong costs most",
    larger_is_better=False,
)
R2 = Metric("R2", _squares, _r2, "1 is perfect, 0 is no better than always saying the mean")
RMSE = Metric(
    "RMSE",
    _mean_of(lambda y, p: np.mean((y - p) ** 2, axis=1)),
    lambda m: np.sqrt(_first(m)),
    "the usual size of errors, in the target's units; large ones count more",
    larger_is_better=False,
)
MAE = Metric(
    "MAE",
    _mean_of(lambda y, p: np.mean(np.abs(y - p), axis=1)),
    _first,
    "the mean size of errors, in the target's units",
    larger_is_better=False,
)
DEVIANCE = Metric(
    "Poisson deviance",
    _mean_of(_poisson_deviance),
    _first,
    "how far rates are from the counts; 0 is perfect, and an error counts more where counts are small",
    larger_is_better=False,
)
F1 = Metric(
    "F1",
    _f1_parts,
    lambda m: 2.0 * m[..., 0] / np.maximum(m[..., 1], 1e-12),
    "how many labels are found, and how many of those given are right, in one number; 1 is perfect",
)
ALL_RIGHT = Metric(
    "rows all right",
    _mean_of(lambda y, p: np.all((p > 0.5) == y, axis=1).astype(float)),
    _first,
    "the share of rows in which every label is right",
)

METRICS = {
    "binary": (ACCURACY, LOG_LOSS),
    "multiclass": (ACCURACY, LOG_LOSS),
    "multilabel": (F1, ALL_RIGHT),
    "regression": (R2, RMSE, MAE),
    "count": (R2, DEVIANCE, MAE),
}
"The scores of a task, the one to judge by first."


def score(task: str, truth: np.ndarray, prediction: np.ndarray, *, seed: int = 0) -> list[Score]:
    """The scores of predictions.

    Parameters
    ----------
    task : str
    truth : array
        Numbers of classes (n,), labels (n, k), or numbers (n, k).
    prediction : array
        Probabilities (n, classes) or (n, labels), or numbers (n, k).
    seed : int
        Of the resamples.

    Examples
    --------
    >>> y = np.arange(100) % 2
    >>> [str(each) for each in score("binary", y, np.where(y[:, None] == [0, 1], 0.9, 0.1))]
    ['1.000 (1.000 to 1.000)', '0.105 (0.105 to 0.105)']
    """
    found = []
    for metric in METRICS[task]:
        quantities = metric.quantities(truth, prediction)
        # One number a row at best: a Poisson weight for each row makes a resample (Chamandy et al. 2012).
        values = metric.formula(_resampled(quantities, np.random.default_rng(seed)))
        values = values[~np.isnan(values)]
        low, high = np.quantile(values, [(1 - SHARE) / 2, (1 + SHARE) / 2]) if len(values) else (np.nan, np.nan)
        value = float(metric.formula(quantities.mean(axis=0)))
        found.append(Score(metric.name, value, float(low), float(high), metric.larger_is_better))
    return found


def better(score: Score, other: Score) -> bool:
    """Whether a score is better than another of the same name."""
    return score.value > other.value if score.larger_is_better else score.value < other.value


def _resampled(quantities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means of the quantities in resamples of the rows, (N_RESAMPLES, k)."""
    n = len(quantities)
    block = max(1, min(N_RESAMPLES, BLOCK // n))
    means = []
    for start in range(0, N_RESAMPLES, block):
        count = min(block, N_RESAMPLES - start)
        weights = rng.poisson(1.0, (count, n)).astype(np.float64)
        weights[weights.sum(axis=1) == 0.0] = 1.0
        means.append(weights @ quantities / weights.sum(axis=1, keepdims=True))
    return np.concatenate(means)


def shown(value: float, size: float = 0.0) -> str:
    """A score as people read it; beside a larger one of this ``size``, with the digits that one has.

    Examples
    --------
    >>> shown(0.98765), shown(1234.56), shown(0.000123), shown(0.000123, size=0.4)
    ('0.988', '1,235', '0.000123', '0.000')
    >>> shown(2.5e12)
    '2.5e+12'
    """
    size = max(abs(value), size)
    if size >= 1e9 or 0.0 < size < 1e-6:
        return f"{value:.3g}"
    if size >= 1000:
        return f"{value:,.0f}"
    digits = 1 if size >= 10 else 3 if size >= 0.1 or size == 0 else 2 - math.floor(math.log10(size))
    return f"{value:z.{digits}f}"
