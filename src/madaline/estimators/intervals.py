"""Prediction intervals from errors on rows that training did not see: normalised split conformal prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError

LEVELS = np.round(np.arange(0.0, 1.0, 0.005), 3)
"Coverages for which the sizes of errors are kept."
MOST_BINS, BIN_ROWS = 12, 25
"Maximum number of bins of predictions in which the spread of errors is estimated, and their smallest number of rows."
SMALLEST_SPREAD = 0.1
"Smallest spread of a bin, as a fraction of the overall one."


@dataclass(frozen=True)
class Intervals:
    r"""Sizes of errors, relative to a spread that depends on the prediction.

    The spread :math:`s(\hat y)` is the mean absolute error of rows with similar predictions, so that intervals are wide
    where errors are large. The interval of coverage :math:`1-\alpha` is :math:`\hat y \pm q\, s(\hat y)`, where
    :math:`q` is the :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest of the :math:`n` values of
    :math:`|y - \hat y| / s(\hat y)`: Papadopoulos, Gammerman & Vovk 2008.

    Attributes
    ----------
    centres, spreads : arrays of shape (n_targets, n_bins)
        Mean prediction and mean absolute error of each bin; the spread is interpolated between bins.
    sizes : array of shape (len(LEVELS), n_targets)
        Relative errors of a fraction ``LEVELS[k]`` of the rows were at most ``sizes[k]``.
    """

    centres: np.ndarray
    spreads: np.ndarray
    sizes: np.ndarray

    def __post_init__(self) -> None:
        n_targets, n_bins = self.centres.shape
        if self.spreads.shape != (n_targets, n_bins) or self.sizes.shape != (len(LEVELS), n_targets):
            raise ValueError("the arrays of the prediction intervals do not fit together")
        if not all(np.isfinite(each).all() and each.dtype == np.float64 for each in vars(self).values()):
            raise ValueError("the prediction intervals have numbers that are not finite")
        if (self.spreads <= 0.0).any() or (np.diff(self.centres, axis=1) <= 0.0).any():
            raise ValueError("the bins of the prediction intervals are not in order")

    @classmethod
    def learn(cls, truth: np.ndarray, prediction: np.ndarray, weight: np.ndarray | None = None) -> Intervals:
        """Learn from the targets and predictions of rows that training did not see.

        Parameters
        ----------
        truth, prediction : arrays of shape (n_rows, n_targets)
        weight : array of shape (n_rows,), optional
            A row counts as many times as its weight, relative to the mean weight.
        """
        weight = np.ones(len(truth)) if weight is None else np.asarray(weight, dtype=np.float64)
        truth, prediction, weight = truth[weight > 0.0], prediction[weight > 0.0], weight[weight > 0.0]
        errors = np.abs(truth - prediction)
        columns = list(zip(errors.T, prediction.T, strict=True))
        bins = [_bins(error, column, weight) for error, column in columns]
        n_bins = min(len(centres) for centres, _ in bins)
        if any(len(centres) != n_bins for centres, _ in bins):
            bins = [_bins(error, column, weight, n_bins) for error, column in columns]
            n_bins = min(len(centres) for centres, _ in bins)
        centres = np.array([each[:n_bins] for each, _ in bins])
        spreads = np.array([each[:n_bins] for _, each in bins])
        relative = errors / _spread(centres, spreads, prediction)
        return cls(centres, spreads, np.stack([_sizes(column, weight) for column in relative.T], axis=1))

    def margins(self, prediction: Any, coverage: float) -> Any:
        """Half the width of the interval of each prediction (n_rows, n_targets), which may be traced."""
        if not 0.0 < coverage < LEVELS[-1]:
            raise ConfigError(f"The coverage is {coverage!r}; it must be between 0 and {LEVELS[-1]}, for example 0.9.")
        sizes = np.array([np.interp(coverage, LEVELS, column) for column in self.sizes.T])
        return sizes * _spread(self.centres, self.spreads, prediction)


def is_covered(truth: np.ndarray, prediction: np.ndarray, coverage: float, *, seed: int = 0) -> np.ndarray:
    """Whether each target is in its interval; the intervals of each half of the rows come from the other half."""
    order = np.random.default_rng(seed).permutation(len(truth))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    found = np.zeros(truth.shape, dtype=bool)
    for rows, others in (halves, halves[::-1]):
        margins = Intervals.learn(truth[others], prediction[others]).margins(prediction[rows], coverage)
        found[rows] = np.abs(truth[rows] - prediction[rows]) <= margins
    return found


def _sizes(relative: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The relative error that a fraction ``LEVELS`` of the rows do not exceed, by the weights of the rows."""
    order = np.argsort(relative, kind="stable")
    counted = np.cumsum(weight[order]) * (len(weight) / weight.sum())
    wanted = (len(weight) + 1) * LEVELS
    # Without weights, counted is 1, 2, 3 ... up to rounding.
    places = np.clip(np.searchsorted(counted, wanted - 1e-9 * len(weight)), 0, len(weight) - 1)
    return np.asarray(relative[order][places])


def _bins(
    error: np.ndarray, prediction: np.ndarray, weight: np.ndarray, most: int = MOST_BINS
) -> tuple[np.ndarray, np.ndarray]:
    """Mean prediction and mean absolute error of bins with equally many rows, smoothed over neighbours."""
    mean = float(np.average(error, weights=weight))
    overall = max(mean, 1e-12 * max(1.0, float(np.abs(prediction).max(initial=0.0))))
    order = np.argsort(prediction, kind="stable")
    parts = np.array_split(order, max(1, min(most, len(order) // BIN_ROWS)))
    centres: list[float] = []
    spreads: list[float] = []
    for part in parts:
        centre = float(np.average(prediction[part], weights=weight[part]))
        if centres and centre <= centres[-1]:  # equal predictions
            continue
        centres.append(centre)
        spreads.append(float(np.average(error[part], weights=weight[part])))
    padded = np.pad(np.array(spreads), 1, mode="edge")
    smooth = (padded[:-2] + 2.0 * padded[1:-1] + padded[2:]) / 4.0
    return np.array(centres), np.maximum(smooth, SMALLEST_SPREAD * overall)


def _spread(centres: np.ndarray, spreads: np.ndarray, prediction: Any) -> Any:
    """The spread of each prediction, interpolated between bins: a sum of one ramp for each pair of neighbours."""
    low, high = centres[:, :-1], centres[:, 1:]
    slopes = np.diff(spreads, axis=1) / (high - low)
    ramps = np.minimum(np.maximum(prediction[:, :, None], low), high) - low
    return spreads[:, 0] + np.sum(slopes * ramps, axis=2)
