"""Distributions of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array
from madaline.graph.numpy_api.linalg import solve_triangular
from madaline.graph.stats.continuous import LOG_2PI, special


class Dirichlet:
    r"""Dirichlet distribution, :math:`p \propto \prod_i x_i^{\alpha_i - 1}`; ``x`` has shape (k,) or (k, n)."""

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """Logarithm of the density."""
        scale = special().gammaln(np.sum(alpha)) - np.sum(special().gammaln(alpha))
        powers = np.reshape(alpha, (-1,) + (1,) * (np.ndim(x) - 1)) - 1.0
        return scale + np.sum(special().xlogy(powers, x), axis=0)

    def pdf(self, x: Any, alpha: Any) -> Any:
        """Density."""
        return np.exp(self.logpdf(x, alpha))


class MultivariateNormal:
    r"""Normal distribution of vectors in the last axis, with covariance (d, d), variances (d,) or one variance."""

    def logpdf(self, x: Any, mean: Any = 0.0, cov: Any = 1.0, allow_singular: bool = False) -> Any:
        """Logarithm of the density; with ``allow_singular``, on the subspace in which the covariance is positive."""
        gap = np.atleast_1d(x - mean)
        cov = _matrix(cov, np.shape(gap)[-1])
        columns = np.reshape(gap, (-1, np.shape(gap)[-1])).T
        if allow_singular:
            values, vectors = np.linalg.eigh(cov)
            largest = np.max(np.abs(values))
            kept = np.greater(values, 1e6 * np.finfo(np.float64).eps * largest)
            values = np.where(kept, values, 1.0)
            white: Array = np.where(
                np.reshape(kept, (-1, 1)), vectors.T @ columns / np.reshape(np.sqrt(values), (-1, 1)), 0.0
            )
            log_det, rank = np.sum(np.log(values)), np.sum(kept * 1.0)
        else:
            factor = np.linalg.cholesky(cov)
            white = solve_triangular(factor, columns, lower=True)
            log_det, rank = 2.0 * np.sum(np.log(np.diagonal(factor))), np.shape(cov)[-1]
        found = -0.5 * (np.sum(np.square(white), axis=0) + log_det + rank * LOG_2PI)
        return np.reshape(found, np.shape(gap)[:-1])[()]

    def pdf(self, x: Any, mean: Any = 0.0, cov: Any = 1.0, allow_singular: bool = False) -> Any:
        """Density."""
        return np.exp(self.logpdf(x, mean, cov, allow_singular))

    def entropy(self, mean: Any = 0.0, cov: Any = 1.0) -> Any:
        """Differential entropy."""
        cov = _matrix(cov, np.size(mean) if np.ndim(cov) < 1 else np.shape(cov)[0])
        return 0.5 * (np.shape(cov)[0] * (1.0 + LOG_2PI) + np.linalg.slogdet(cov)[1])


def _matrix(cov: Any, size: int) -> Any:
    if np.ndim(cov) > 2 or (np.ndim(cov) > 0 and np.shape(cov)[-1] != size):
        raise ShapeError(f"cov has shape {np.shape(cov)}; for vectors of {size} numbers use ({size}, {size}).")
    return cov if np.ndim(cov) == 2 else np.diag(cov) if np.ndim(cov) == 1 else cov * np.eye(size)


dirichlet, multivariate_normal = Dirichlet(), MultivariateNormal()
