"""Principal component analysis and whitening. Lecture row B10."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Axes:
    r"""Principal axes of data: :math:`X_c^T X_c/(n-1) = V^T \mathrm{diag}(\lambda) V` for the centred :math:`X_c`.

    Parameters
    ----------
    mean : array of shape (n_in,)
        Mean of each column, which is subtracted first.
    V : array of shape (k, n_in)
        One axis per row, of length 1, the one with the largest variance first. Its largest entry is positive.
    variances : array of shape (k,)
        The variance along each axis, :math:`\lambda`.
    total : float
        The variance along all axes, including those that are left out.
    """

    mean: Array
    V: Array
    variances: Array
    total: float


def principal_axes(X: Array, n_components: float | None = None) -> Axes:
    """The axes with the largest variance.

    Parameters
    ----------
    X : array of shape (n_rows, n_in)
        Finite numbers, at least two rows.
    n_components : int or float, optional
        Number of axes; between 0 and 1, the share of the variance to keep. By default all axes.
    """
    X = np.asarray(X, dtype=np.float64)
    n_rows, n_in = X.shape
    most = min(n_rows, n_in)
    whole = isinstance(n_components, (int, np.integer))
    if n_components is not None and not (1 <= n_components <= most if whole else 0.0 < n_components < 1.0):
        raise ConfigError(
            f"n_components={n_components!r} must be an integer from 1 to {most}, the smaller number of rows and "
            "columns, or a share of the variance between 0 and 1."
        )
    mean = X.mean(axis=0)
    centred = X - mean
    if n_rows >= n_in:
        variances, vectors = np.linalg.eigh(centred.T @ centred / (n_rows - 1))
        variances, V = np.maximum(variances[::-1], 0.0), vectors.T[::-1]
    else:
        _, sizes, V = np.linalg.svd(centred, full_matrices=False)
        variances = sizes**2 / (n_rows - 1)
    largest = np.take_along_axis(V, np.abs(V).argmax(axis=1)[:, None], axis=1)
    V = V * np.where(largest < 0.0, -1.0, 1.0)
    total = float(variances.sum())
    kept = most
    if n_components is not None:
        shares = np.cumsum(variances) / (total or 1.0)
        kept = int(n_components) if whole else min(most, int(np.searchsorted(shares, n_components, side="right")) + 1)
    return Axes(mean, V[:kept], variances[:kept], total)


def sizes_to_divide_by(variances: Array, eps: float) -> Array:
    r"""Divisors that make variances 1, :math:`\sqrt{\lambda + \varepsilon}`; 1 for axes without variance.

    ``eps`` is inside the root, as in the lecture. It limits how much axes with a tiny variance are enlarged.
    """
    sizes = np.sqrt(variances + eps)
    return np.where(sizes > 0.0, sizes, 1.0)
