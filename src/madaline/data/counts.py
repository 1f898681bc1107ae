"""Whether numbers count things, so that they are learned as counts and not as measurements."""

from __future__ import annotations

import math
import re

import numpy as np

COUNT_NAME = re.compile(
    r"(^|[\W_])(n|nb|num|number|no[. ]of|count|counts|cnt|freq|frequency|rentals|claims|visits|clicks|calls|accidents|"
    r"arrivals|incidents|events|tickets|crimes|deaths|births|goals)($|[\W_])|(?-i:[a-z](Nb|Num|Count|Cnt)$)",
    re.IGNORECASE,
)
"Names of counts."
MEASURE_NAME = re.compile(
    r"price|cost|amount|salary|wage|income|revenue|fare|rent$|fee|tax|value|balance|budget|profit|worth|usd|eur|dollar|"
    r"(^|[\W_])(age|year|month|day|hour|minute|second|duration|time|tenure|score|grade|points|weight|height|length|"
    r"width|distance|temperature|pressure|level|rating|percent|id)s?($|[\W_])",
    re.IGNORECASE,
)
"Names of amounts of money, durations and other measurements."
LEAST_DISPERSION, NEAR_POISSON = 0.8, 2.0
"The variance of a Poisson distribution is equal to its mean; this is the range of their ratio that counts as near."
TAIL = 2.5
"Number of standard deviations from the mean to the largest value, at least."
SMALL, LOW_SHARE, LOW_SHARE_NEAR = 3.0, 0.05, 0.3
"The smallest value above 0 must be at most 3, or this share of the mean; the last for ratios near that of Poisson."
LARGE = 1000.0
"Things are rarely counted in larger numbers."
ROUND, ROUND_FROM, FEWEST = 0.4, 50.0, 20
"If this share of values from 50 on are multiples of 5, values were rounded or are prices."
LARGEST = 1e9
"Larger numbers are not counts."
RARE = 0.1
"Rare events: 1 is at most this share as frequent as 0, and 2 as 1."
POISSON_VALUES, POISSON_DISTANCE = 5, 0.1
"Frequencies of at least this many values are compared with a Poisson distribution; their largest distance."


def is_count(values: np.ndarray, name: str = "", *, few: int = 10) -> bool:
    """Whether integers look like numbers of things.

    Values that count things are not negative and have a variance of at least about their mean, which is that of a
    Poisson distribution. They have a long tail to the right (positive skewness, and a largest value at least 2.5
    standard deviations above the mean), come down to small numbers (the smallest above 0 is at most 3, or 5% of the
    mean), have a mean below 1000, are not rounded to multiples of 5, and some of them repeat.

    If the variance is more than twice the mean, amounts of money and durations may look the same, and a name such as
    "price" or "age" decides against a count. A name such as "claim count" decides for a count if the variance is
    large enough and values are not rounded.

    With at most ``few`` distinct values the numbers may be classes. They are counts only if they are 0, 1, 2 ... and
    one of these holds: they are rare events, so that 1 is at most a tenth as frequent as 0, and 2 as 1; there are at
    least five, with the frequencies of a Poisson distribution to within 10%; the name is that of a count, and the
    frequencies of 0, 1 and 2 decrease.

    Parameters
    ----------
    values : array of float
        Whole numbers, none missing.
    name : str
        The name of the column.
    few : int
        Number of distinct values up to which they may be classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> is_count(rng.poisson(8.0, 500).astype(float)), is_count(rng.integers(1950, 2020, 500).astype(float))
    (True, False)
    """
    if not len(values) or not (values.min() >= 0 and values.max() <= LARGEST):
        return False
    distinct, counts = np.unique(values, return_counts=True)
    says_count, says_measure = bool(COUNT_NAME.search(name)), bool(MEASURE_NAME.search(name))
    mean, variance = float(values.mean()), float(values.var())
    slack = 2.0 * np.sqrt(2.0 / len(values))  # the ratio is only an estimate
    if len(distinct) <= 2 or variance < (LEAST_DISPERSION - slack) * mean:
        return False
    if len(distinct) <= few:
        return _are_few_counts(distinct, counts, says_count=says_count and not says_measure)
    if len(distinct) == len(values) or _are_rounded(values):
        return False
    is_near = variance <= NEAR_POISSON * mean
    deviation = np.sqrt(variance)
    has_tail = values.max() >= mean + TAIL * deviation and float(((values - mean) ** 3).mean()) > 0.0
    above = values[values > 0.0]
    low = max(SMALL, (LOW_SHARE_NEAR if is_near else LOW_SHARE) * mean)
    looks = has_tail and above.min() <= low and above.mean() < LARGE
    if is_near:
        return bool(looks)
    return bool(looks) if says_count == says_measure else says_count


def _are_few_counts(distinct: np.ndarray, counts: np.ndarray, *, says_count: bool) -> bool:
    if not np.array_equal(distinct[:3], [0.0, 1.0, 2.0]):
        return False
    if counts[1] <= RARE * counts[0] and counts[2] <= RARE * counts[1]:
        return True
    if len(distinct) >= POISSON_VALUES and _distance_to_poisson(distinct, counts) <= POISSON_DISTANCE:
        return True
    return says_count and bool((np.diff(counts[:3]) < 0).all())


def _distance_to_poisson(distinct: np.ndarray, counts: np.ndarray) -> float:
    """Total variation distance between the frequencies and a Poisson distribution of the same mean."""
    shares = counts / counts.sum()
    mean = float(distinct @ shares)
    expected = np.array([math.exp(k * math.log(mean) - mean - math.lgamma(k + 1.0)) for k in distinct.tolist()])
    return float(np.abs(shares - expected).sum() + 1.0 - expected.sum()) / 2.0


def _are_rounded(values: np.ndarray) -> bool:
    large = values[values >= ROUND_FROM]
    return len(large) >= FEWEST and float(np.mean(large % 5.0 == 0.0)) >= ROUND
