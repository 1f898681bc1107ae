"""Scaling of columns, smooth clipping, and their inverses. Lecture row B10.

Every formula works along the first axis, on one column or on a matrix of columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ConfigError

Array = np.ndarray[Any, Any]

SCALINGS = ("none", "centre", "standard", "minmax", "robust")
"Ways to scale a column."

CLIP = 3.0
"Limit of smooth clipping. Holzmüller et al. (2024) use 3 in RealMLP."


def centre_and_scale(X: Array, how: str) -> tuple[Array, Array]:
    r"""Centre c and scale s of each column, for :math:`y = (x - c)/s`.

    A constant column is only centred: s = 1.

    Parameters
    ----------
    X : array
        Finite numbers, rows along the first axis, at least one.
    how : {"none", "centre", "standard", "minmax", "robust"}
        ``none``: c = 0, s = 1. ``centre``: the mean, s = 1. ``standard``: mean and standard deviation (of the
        population, divided by n). ``minmax``: smallest value and range, so that y is in [0, 1]. ``robust``: the median
        and the interquartile range, or half the range if the quartiles are equal, as in RealMLP (Holzmüller et al.
        2024, appendix A.1).

    Examples
    --------
    >>> centre_and_scale(np.array([2.0, 4.0, 6.0, 8.0, 10.0]), "standard")
    (array(6.), array(2.82842712))
    """
    X = np.asarray(X, dtype=np.float64)
    ones = np.ones(X.shape[1:])
    if how == "none":
        return 0.0 * ones, ones
    low, high = X.min(axis=0), X.max(axis=0)
    # The mean of equal numbers may differ from them by a rounding error.
    varies = high > low
    if how == "centre":
        return np.where(varies, X.mean(axis=0), X[0]), ones
    if how == "standard":
        return np.where(varies, X.mean(axis=0), X[0]), np.where(varies, X.std(axis=0), 1.0)
    if how == "minmax":
        return low, np.where(varies, high - low, 1.0)
    if how == "robust":
        lower, median, upper = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        return median, np.where(upper > lower, upper - lower, np.where(varies, (high - low) / 2.0, 1.0))
    raise ConfigError(f"scaling={how!r} is not known. Known: {', '.join(SCALINGS)}.")


def smooth_clip(x: Array) -> Array:
    r"""Values limited smoothly to the range from -3 to 3, :math:`y = x/\sqrt{1 + (x/3)^2}`; small ones hardly change.

    Holzmüller, Grinsztajn & Steinwart (2024), "Better by default", section 3.

    Examples
    --------
    >>> smooth_clip(np.array([0.1, 3.0, 1e9])).round(3)
    array([0.1  , 2.121, 3.   ])
    """
    x = np.clip(x, -1e9, 1e9)  # so that squares do not overflow
    return x / np.sqrt(1.0 + (x / CLIP) ** 2)


def smooth_unclip(y: Array) -> Array:
    r"""The inverse of :func:`smooth_clip`, :math:`x = y/\sqrt{1 - (y/3)^2}`; infinity for 3."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return y / np.sqrt(1.0 - (y / CLIP) ** 2)
