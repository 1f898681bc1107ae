"""Scaling of columns, smooth clipping, and their inverses. Lecture row B10.

Every formula works along the first axis, on one column or on a matrix of columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ConfigError

Array = np.ndarray[Any, Any]

SCALINGS = ("none", "centre", "standard", "winsorized", "minmax", "symmetric", "robust")
CLIPS = ("none", "smooth", "log")
"What a column can be brought to."

CLIP = 3.0
"Limit of smooth clipping. Holzmüller et al. (2024) use 3 in RealMLP."


LOG_FROM = 10.0
"Size beyond which values are compressed logarithmically."

TAILS = 0.005
"Fraction of the values at each end that winsorized scaling moves to the nearest other value."


def centre_and_scale(X: Array, how: str) -> tuple[Array, Array]:
    r"""Centre c and scale s of each column, for :math:`y = (x - c)/s`.

    A constant column is only centred: s = 1.

    Parameters
    ----------
    X : array
        Finite numbers, rows along the first axis, at least one.
    how : {"none", "centre", "standard", "winsorized", "minmax", "symmetric", "robust"}
        ``none``: c = 0, s = 1. ``centre``: the mean, s = 1. ``standard``: mean and standard deviation (of the
        population, divided by n). ``winsorized``: the same, after the 0.5 % smallest and largest values were replaced
        by the nearest others, so that outliers do not count. ``minmax``: smallest value and range, so that y is in
        [0, 1]. ``symmetric``: the middle and half of the range, so that y is in [-1, 1]. ``robust``: the median and
        the distance of the quartiles, or half the range where the quartiles are equal, as in RealMLP (Holzmüller et
        al. 2024, appendix A.1).

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
    if how == "winsorized":
        ends = np.quantile(X, (TAILS, 1.0 - TAILS), axis=0)
        inner = np.clip(X, *ends)
        inner = np.where(ends[1] > ends[0], inner, X)
        return np.where(varies, inner.mean(axis=0), X[0]), np.where(varies, inner.std(axis=0), 1.0)
    if how == "minmax":
        return low, np.where(varies, high - low, 1.0)
    if how == "symmetric":
        return (low + high) / 2, np.where(varies, (high - low) / 2, 1.0)
    if how == "robust":
        lower, median, upper = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        return median, np.where(upper > lower, upper - lower, np.where(varies, (high - low) / 2.0, 1.0))
    raise ConfigError(f"scaling={how!r} is not known. Known: {', '.join(SCALINGS)}.")


def limited(x: Any, how: str) -> Any:
    """Scaled values, limited in one of the ways of :data:`CLIPS`; on arrays and in formulas."""
    if how == "smooth":
        return smooth_clip(x)
    return log_compress(x) if how == "log" else x


def log_compress(x: Any) -> Any:
    r"""Large values compressed logarithmically, :math:`y = 10 \sinh^{-1}(x/10)`; small ones stay as they are.

    Unlike clipping it keeps the order of far values, so that a net can follow them, and one outlier cannot dominate.

    Examples
    --------
    >>> log_compress(np.array([0.1, 10.0, 1000.0])).round(1)
    array([ 0.1,  8.8, 53. ])
    """
    return LOG_FROM * np.arcsinh(x / LOG_FROM)


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
