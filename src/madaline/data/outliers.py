"""Values that are so far from all others that they are most likely mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

FAR, GAP = 50.0, 5.0
"An outlier is this many usual ranges away from the median, and this many times as far as the values that are none."
MOST = 0.005
"Largest fraction of the values that can be outliers; one value always can."
USUAL = (0.01, 0.99)
"Quantiles that are the ends of the usual range."
FEW = 10
"Fewer values show no usual range."
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Outlier:
    """The most extreme value of a column: its place, itself, and its distance from the median in usual ranges."""

    place: int
    value: float
    times: float


def is_outlier(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Whether each of some finite numbers is an outlier.

    Examples
    --------
    >>> np.flatnonzero(is_outlier(np.array([*range(100), 9800.0])))
    array([100])
    """
    distance, usual = _distance_and_range(x)
    if usual <= 0.0:
        return np.zeros(len(x), dtype=bool)
    farthest = np.sort(distance)[-max(1, int(MOST * len(x))) - 1 :]
    with np.errstate(over="ignore"):
        is_first = (farthest[1:] > FAR * usual) & (farthest[1:] > GAP * farthest[:-1])
    if not is_first.any():
        return np.zeros(len(x), dtype=bool)
    return np.asarray(distance >= farthest[1:][is_first][0])


def worst_outlier(x: np.ndarray[Any, Any]) -> Outlier | None:
    """The most extreme of some finite numbers, if it is an outlier."""
    if not is_outlier(x).any():
        return None
    distance, usual = _distance_and_range(x)
    place = int(np.argmax(distance))
    return Outlier(place, float(x[place]), float(distance[place] / usual))


def limits(x: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The interval to which numbers like ``x`` are limited.

    It ends at the most extreme value that is not an outlier; on a side without outliers, as far again as all values
    reach, so that only numbers far outside those seen in training are changed.

    Examples
    --------
    >>> limits(np.arange(11.0)), limits(np.array([*np.arange(101.0), 1e6]))
    ((-10.0, 20.0), (-100.0, 100.0))
    """
    far = is_outlier(x)
    usual = x[~far]
    low, high = float(usual.min()), float(usual.max())
    room = min(high - low, LARGEST)
    return low if x.min() < low else max(low - room, -LARGEST), high if x.max() > high else min(high + room, LARGEST)


def _distance_and_range(x: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], float]:
    """The distance of each number from the median, and the usual range."""
    if len(x) < FEW:
        return np.zeros(len(x)), 0.0
    low, high = np.quantile(x, USUAL[0], method="lower"), np.quantile(x, USUAL[1], method="higher")
    with np.errstate(over="ignore"):
        return np.abs(x - np.median(x)), float(high - low)
