"""Distributions of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.functional.stats.continuous import special


class Poisson:
    r"""Poisson distribution, :math:`P(k) = \mu^k e^{-\mu} / k!`."""

    def logpmf(self, k: Any, mu: Any, loc: Any = 0) -> Any:
        """Logarithm of the probability of ``k``."""
        n = k - loc
        valid = np.greater_equal(n, 0) & np.equal(n, np.floor(n))
        count = np.where(valid, n, 0.0)
        return np.where(valid, special().xlogy(count, mu) - mu - special().gammaln(count + 1.0), -np.inf)

    def pmf(self, k: Any, mu: Any, loc: Any = 0) -> Any:
        """Probability of ``k``."""
        return np.exp(self.logpmf(k, mu, loc))

    def cdf(self, k: Any, mu: Any, loc: Any = 0) -> Any:
        """Probability of at most ``k``."""
        n = np.floor(k - loc)
        return np.where(np.less(n, 0.0), 0.0, special().gammaincc(np.maximum(n, 0.0) + 1.0, mu))


poisson = Poisson()
