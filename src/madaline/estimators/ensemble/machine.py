r"""A kernel machine: ridge regression with the kernel :math:`k(z, c) = e^{-|z - c|}`.

Its outputs are :math:`f(z) = \mu + \sum_j \alpha_j k(z, z_j)`, where
:math:`(K + \lambda W^{-1})\,\alpha = y - \mu`, with sample weights ``W``.

The equations are solved by conjugate gradients, with a sample of the rows as a preconditioner (the Nyström method). A
step takes a product with the matrix; the time of a decomposition would grow with the cube of the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from madaline.nn.layers.radial import LEAST

Array = np.ndarray[Any, Any]

LEAST_RIDGE = 2e-7
"Smallest ridge for each centre, above the rounding of float32."
SAMPLE = 1_000
"Number of rows of the preconditioner."
TOLERANCE = 2e-3
"Steps end when the residuals are at most this part of the targets: the predictions hardly change any more."
MOST_STEPS = 150
"Largest number of steps; what they have reached is used."
BLOCK = 2_048
"Number of rows that are predicted at a time."
CACHED = 64
"Number of rows whose distances are computed at a time."


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


class Equations:
    r"""The equations of a machine, which are solved for one ridge after another.

    Equal rows are one centre with their mean target and the sum of their weights, which is the same regression. With
    :math:`S = W^{1/2}` and :math:`\alpha = S\beta`, the equations are
    :math:`(S K S + \lambda)\,\beta = S (y - \mu)`, in which rows without weight are zero.

    Parameters
    ----------
    Z : array of shape (n_rows, n_directions)
        The rows.
    targets : array of shape (n_rows, n_outputs)
        A column for each output.
    weight : array of shape (n_rows,) or None
        Sample weights; None means 1 for each row.
    """

    def __init__(self, Z: Array, targets: Array, weight: Array | None = None) -> None:
        weight = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=np.float64)
        mean = np.average(targets, axis=0, weights=weight)
        self.centres, place = np.unique(Z, axis=0, return_inverse=True)
        total = np.bincount(place.ravel(), weight)
        rest = np.zeros((len(self.centres), targets.shape[1]))
        np.add.at(rest, place.ravel(), (targets - mean) * weight[:, None])
        scale = np.sqrt(total)
        self.mean = mean.astype(np.float32)
        self.scale = scale.astype(np.float32)
        np.divide(rest, scale[:, None], out=rest, where=scale[:, None] > 0.0)
        self.rest = np.ascontiguousarray(rest.T, dtype=np.float32)
        self.K = similarity(self.centres, self.centres)
        if np.any(self.scale != 1.0):
            self.K *= self.scale
            self.K *= self.scale[:, None]
        self.factor = self._factor()
        self.inner = self.factor @ self.factor.T

    def _factor(self) -> Array:
        """B of the preconditioner B'B + ridge, which is the matrix as a sample of its rows has it.

        The rows are sorted, so that every k-th is a sample of all values of the first direction.
        """
        n = len(self.K)
        sample = np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.intp)
        rows = self.K[sample]
        inner = rows[:, sample]
        jitter = LEAST_RIDGE * n * float(self.scale.max()) ** 2
        while True:
            inner[np.diag_indices_from(inner)] += np.float32(jitter)
            try:
                lower = cholesky(inner, lower=True, check_finite=False)
            except LinAlgError:
                jitter *= 10.0
                continue
            return np.asarray(solve_triangular(lower, rows, lower=True, check_finite=False))

    def solved(self, ridge: float) -> Machine:
        """The machine for a ridge; one that is lost in rounding is increased."""
        ridge = max(ridge, LEAST_RIDGE * len(self.centres))
        while (found := self._steps(np.float32(ridge))) is None:
            ridge *= 10.0
        return Machine(self.centres, (found * self.scale).T, self.mean)

    def _steps(self, ridge: np.float32) -> Array | None:
        """Conjugate gradients for each output; None if rounding makes the matrix indefinite."""
        B = self.factor
        unexplained = float(np.mean(self.K.diagonal() - np.einsum("ij,ij->j", B, B)))
        shift = np.float32(ridge + max(unexplained, 0.0))
        inner = self.inner.copy()
        inner[np.diag_indices_from(inner)] += shift
        decomposed = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def preconditioned(r: Array) -> Array:
            return np.asarray((r - cho_solve(decomposed, B @ r.T, check_finite=False).T @ B) / shift)

        x = np.zeros_like(self.rest)
        r = self.rest.copy()
        d = preconditioned(r)
        step, energy = d, _products(r, d)
        enough = TOLERANCE**2 * _products(r, r)
        for _ in range(MOST_STEPS):
            if np.all(_products(r, r) <= enough):
                break
            image = step @ self.K + ridge * step
            curvature = _products(step, image)
            if np.any(curvature < 0.0):
                return None
            length = _quotient(energy, curvature)
            x += length * step
            r -= length * image
            d = preconditioned(r)
            before, energy = energy, _products(r, d)
            step = d + _quotient(energy, before) * step
        return x


def _products(a: Array, b: Array) -> Array:
    """Inner products of rows, as a column."""
    return np.asarray(np.einsum("ij,ij->i", a, b, dtype=np.float32)[:, None])


def _quotient(a: Array, b: Array) -> Array:
    """Quotients, 0 for an output that is solved."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)


def similarity(Z: Array, centres: Array) -> Array:
    r"""The kernel :math:`e^{-|z - c|}` of rows and centres, as :class:`~madaline.nn.layers.radial.Radial` has it.

    It is computed for a few rows at a time, which stay in the cache from the product to the exponential.
    """
    found = np.empty((len(Z), len(centres)), dtype=np.result_type(Z, centres))
    factors = np.ascontiguousarray(-2.0 * centres.T)
    squares, centre_squares = np.sum(Z * Z, axis=1)[:, None], np.sum(centres * centres, axis=1)
    for start in range(0, len(Z), CACHED):
        part = slice(start, start + CACHED)
        K = np.matmul(Z[part], factors, out=found[part])
        K += squares[part]
        K += centre_squares
        np.maximum(K, 0.0, out=K)
        K += LEAST
        np.sqrt(K, out=K)
        np.negative(K, out=K)
        np.exp(K, out=K)
    return found
