"""Mixtures of Gaussians, one for each row: the predictions of a mixture density network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError, ShapeError
from madaline.graph.numpy_api.reduce import logsumexp

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Array = np.ndarray[Any, Any]

STEPS_TO_MODE = 500
BISECTIONS = 100
"Number of bisections that reduce any interval of float64 numbers of one sign and scale to adjacent numbers."


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    r"""Densities :math:`p(y) = \sum_k \pi_k N(y; \mu_k, (A_k^T A_k)^{-1})`, one for each of ``n`` rows.

    Parameters
    ----------
    weights : array, (n, K)
        :math:`\pi`, adding up to 1.
    means : array, (n, K, D)
        :math:`\mu`.
    factors : array, (n, K, D, D)
        :math:`A`, upper triangular with positive diagonals.

    Examples
    --------
    >>> p = GaussianMixture(np.array([[0.5, 0.5]]), np.array([[[-1.0], [1.0]]]), np.ones((1, 2, 1, 1)))
    >>> p.density(np.array([[0.0]])).round(4), p.quantiles([0.5]).shape
    (array([0.242]), (1, 1, 1))
    """

    weights: Array
    means: Array
    factors: Array

    def log_density(self, y: Array) -> Array:
        """The logarithm of the density at ``y``: (n, D) for one point per row, (m, n, D) for several."""
        y = np.asarray(y)
        if y.shape[-2:] != (self.means.shape[0], self.means.shape[2]):
            raise ShapeError(
                f"y has shape {y.shape}; {self.means.shape[0]} densities of {self.means.shape[2]} columns take "
                f"(..., {self.means.shape[0]}, {self.means.shape[2]})."
            )
        return np.asarray(logsumexp(self._log_parts(y), axis=-1))

    def _log_parts(self, y: Array) -> Array:
        r""":math:`\log \pi_k N_k(y)` for points (..., n, D), with components last."""
        u = np.einsum("nkij,...nkj->...nki", self.factors, y[..., None, :] - self.means)
        diagonal = np.diagonal(self.factors, axis1=2, axis2=3)
        with np.errstate(divide="ignore"):  # a weight may round to 0
            log_weights = np.log(self.weights)
        constant = log_weights + np.log(diagonal).sum(axis=2) - 0.5 * self.means.shape[2] * np.log(2.0 * np.pi)
        return np.asarray(constant - 0.5 * np.square(u).sum(axis=-1))

    def density(self, y: Array) -> Array:
        """The density at ``y``, shaped as for ``log_density``."""
        return np.exp(self.log_density(y))

    def covariances(self) -> Array:
        """The covariance matrices of the components, (n, K, D, D)."""
        # A diagonal that rounds to 0, far from all training rows, is an infinite spread and not an error.
        smallest = np.finfo(np.float64).tiny * np.eye(self.means.shape[2])
        inverse = np.linalg.inv(self.factors + smallest)
        return np.asarray(inverse @ np.swapaxes(inverse, -1, -2))

    def spreads(self) -> Array:
        """The standard deviations of each column of the components, (n, K, D)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariances(), axis1=2, axis2=3)))

    def mean(self) -> Array:
        """The means, (n, D)."""
        return np.asarray(np.einsum("nk,nkd->nd", self.weights, self.means))

    def covariance(self) -> Array:
        """The covariances, (n, D, D): within the components and between their means."""
        apart = self.means - self.mean()[:, None, :]
        within = self.covariances() + apart[..., :, None] * apart[..., None, :]
        return np.asarray(np.einsum("nk,nkde->nde", self.weights, within))

    def sample(self, size: int, *, seed: int) -> Array:
        """``size`` draws from each density, (size, n, D); the same for the same seed."""
        rng = np.random.Generator(np.random.Philox(seed))
        n, _, D = self.means.shape
        edges = np.cumsum(self.weights, axis=1)
        drawn = rng.random((size, n, 1)) * edges[:, -1:]
        # The last edge is left out: rounding must not select a component that does not exist.
        chosen = (drawn >= edges[:, :-1]).sum(axis=2)
        rows = np.arange(n)
        noise = rng.standard_normal((size, n, D))
        spread = np.linalg.inv(self.factors)[rows, chosen]
        return np.asarray(self.means[rows, chosen] + np.einsum("mnij,mnj->mni", spread, noise))

    def mode(self) -> Array:
        r"""The modes: points of highest density, (n, D).

        From each component's mean the fixed point :math:`y = (\sum_k r_k P_k)^{-1} \sum_k r_k P_k \mu_k` is iterated,
        with :math:`r_k` the component's share of the density at ``y`` and :math:`P_k` its precision; the density never
        decreases. The highest of the ``K`` fixed points is returned (a density can have a mode that no start reaches).
        Carreira-Perpinan 2000, eq. 6.
        """
        precisions = np.swapaxes(self.factors, -1, -2) @ self.factors
        y = np.swapaxes(self.means, 0, 1)  # a start from each mean: (K, n, D)
        close = 4.0 * np.finfo(np.float64).eps * (np.abs(self.means) + self.spreads()).max(axis=1)
        for _ in range(STEPS_TO_MODE):
            parts = self._log_parts(y)
            share = np.exp(parts - parts.max(axis=-1, keepdims=True))
            share /= share.sum(axis=-1, keepdims=True)
            total = np.einsum("snk,nkde->snde", share, precisions)
            pull = np.einsum("snk,nkde,nke->snd", share, precisions, self.means)
            moved = np.linalg.solve(total, pull[..., None])[..., 0]
            y, step = moved, np.abs(moved - y)
            if np.all(step <= close):
                break
        best = np.argmax(self.log_density(y), axis=0)
        return np.asarray(y[best, np.arange(y.shape[1])])

    def cdf(self, y: Array) -> Array:
        """Marginal cumulative distribution function of each column at ``y``; shapes as for ``log_density``."""
        from scipy.special import ndtr  # SciPy takes long to import, and few programs need it

        y = np.asarray(y)
        at_most = ndtr((y[..., None, :] - self.means) / self.spreads())
        return np.asarray(np.einsum("nk,...nkd->...nd", self.weights, at_most))

    def quantiles(self, q: ArrayLike) -> Array:
        """Marginal quantiles of each column, (number of levels, n, D), by bisection of the distribution function.

        The quantile of a mixture lies between the smallest and the largest quantile of its components.
        """
        from scipy.special import ndtri

        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if levels.ndim != 1 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise ConfigError(f"q={q!r} must hold levels between 0 and 1, such as (0.1, 0.5, 0.9).")
        ends = self.means + self.spreads() * ndtri(levels)[:, None, None, None]
        low, high = ends.min(axis=2), ends.max(axis=2)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < levels[:, None, None]
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(0.5 * (low + high))
