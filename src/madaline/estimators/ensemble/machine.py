r"""A kernel machine: ridge regression with the kernel :math:`k(z, c) = e^{-|z - c|}`.

Its outputs are :math:`f(z) = \mu + \sum_j \alpha_j k(z, z_j)`, where
:math:`(K + \lambda W^{-1})\,\alpha = y - \mu`, with sample weights ``W``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from madaline.nn.layers.radial import LEAST

Array = np.ndarray[Any, Any]

LEAST_RIDGE = 2e-7
"Smallest ridge for each centre, above the rounding of float32."
LARGEST_RIDGE = 1e30
"Largest ridge of a centre, however small its weight is: with more, float32 would overflow."
BLOCK = 2_048
"Number of rows that are predicted at a time."


@dataclass(frozen=True)
class Machine:
    """Centres, coefficients, and the mean that is added."""

    centres: Array
    coefficients: Array
    mean: Array

    def __call__(self, Z: Array) -> Array:
        """Its outputs, a block of rows at a time."""
        blocks = [similarity(Z[start : start + BLOCK], self.centres) for start in range(0, len(Z), BLOCK)]
        found = [K @ self.coefficients + self.mean for K in blocks]
        return np.concatenate(found) if found else np.empty((0, len(self.mean)), dtype=np.float32)


def solved(Z: Array, targets: Array, ridge: float, weight: Array | None = None) -> Machine:
    """Ridge regression of the kernel; a ridge that is lost in rounding is increased.

    Equal rows are one centre with their mean target and the sum of their weights, which is the same regression.
    """
    weight = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=np.float64)
    mean = np.average(targets, axis=0, weights=weight)
    centres, place = np.unique(Z, axis=0, return_inverse=True)
    total = np.bincount(place.ravel(), weight)
    rest = np.zeros((len(centres), targets.shape[1]))
    np.add.at(rest, place.ravel(), (targets - mean) * weight[:, None])
    rest /= total[:, None]
    ridge = max(ridge, LEAST_RIDGE * len(centres))
    while True:
        K = similarity(centres, centres)
        K[np.diag_indices_from(K)] += np.minimum(ridge / total, LARGEST_RIDGE).astype(np.float32)
        try:
            factor = cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            ridge *= 10.0
            continue
        found = cho_solve(factor, rest.astype(np.float32), check_finite=False)
        return Machine(centres, found, mean.astype(np.float32))


def similarity(Z: Array, centres: Array) -> Array:
    r"""The kernel :math:`e^{-|z - c|}` of rows and centres, as :class:`~madaline.nn.layers.radial.Radial` has it."""
    K = Z @ centres.T
    K *= -2.0
    K += np.sum(Z * Z, axis=1)[:, None]
    K += np.sum(centres * centres, axis=1)
    np.maximum(K, 0.0, out=K)
    K += LEAST
    np.sqrt(K, out=K)
    np.negative(K, out=K)
    return np.asarray(np.exp(K, out=K))
