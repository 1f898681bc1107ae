"""Distributions of integers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.stats.continuous import special


class Discrete:
    """A distribution of integers. A subclass has the formulas for ``loc=0``."""

    shapes: ClassVar[tuple[str, ...]] = ()
    "The shape parameters, which come before ``loc``."
    lowest: ClassVar[float] = 0.0

    def highest(self, *shapes: Any) -> Any:
        """The largest possible value."""
        return np.inf

    def standard_logpmf(self, n: Any, *shapes: Any) -> Any:
        """The logarithm of the probability of a possible value."""
        raise NotImplementedError

    def standard_cdf(self, n: Any, *shapes: Any) -> Any:
        """The probability of at most ``n``, a possible value below the largest one."""
        raise NotImplementedError

    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> Array:
        """Logarithm of the probability of ``k``."""
        n, shapes = self._standard(k, args, kwargs)
        valid = np.greater_equal(n, self.lowest) & np.equal(n, np.floor(n)) & np.less_equal(n, self.highest(*shapes))
        return np.where(valid, self.standard_logpmf(np.where(valid, n, self.lowest), *shapes), -np.inf)

    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> Array:
        """Probability of ``k``."""
        return np.exp(self.logpmf(k, *args, **kwargs))

    def cdf(self, k: Any, *args: Any, **kwargs: Any) -> Array:
        """Probability of at most ``k``."""
        n, shapes = self._standard(k, args, kwargs)
        n = np.floor(n)
        below, above = np.less(n, self.lowest), np.greater_equal(n, self.highest(*shapes))
        found = self.standard_cdf(np.where(below | above, self.lowest, n), *shapes)
        return np.where(below, 0.0, np.where(above, 1.0, found))

    def sf(self, k: Any, *args: Any, **kwargs: Any) -> Array:
        """Probability of more than ``k``."""
        return 1.0 - self.cdf(k, *args, **kwargs)

    def logcdf(self, k: Any, *args: Any, **kwargs: Any) -> Array:
        """Logarithm of ``cdf``."""
        return np.log(self.cdf(k, *args, **kwargs))

    def logsf(self, k: Any, *args: Any, **kwargs: Any) -> Array:
        """Logarithm of ``sf``."""
        return np.log(self.sf(k, *args, **kwargs))

    def _standard(self, k: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        names = (*self.shapes, "loc")
        given = {"loc": 0, **dict(zip(names, args, strict=False)), **kwargs}
        if len(args) > len(names) or set(given) != set(names):
            raise TypeError(
                f"{type(self).__name__.lower()} takes k, {', '.join(names)}; {', '.join(given)} were given."
            )
        return k - given["loc"], [given[name] for name in self.shapes]


class Poisson(Discrete):
    r"""Poisson distribution, :math:`P(k) = \mu^k e^{-\mu} / k!`."""

    shapes = ("mu",)

    def standard_logpmf(self, n: Any, *shapes: Any) -> Any:
        (mu,) = shapes
        return special().xlogy(n, mu) - mu - special().gammaln(n + 1.0)

    def standard_cdf(self, n: Any, *shapes: Any) -> Any:
        return special().gammaincc(n + 1.0, shapes[0])


class Binom(Discrete):
    r"""Binomial distribution, :math:`P(k) = \binom{n}{k} p^k (1-p)^{n-k}`."""

    shapes: ClassVar[tuple[str, ...]] = ("n", "p")

    def highest(self, *shapes: Any) -> Any:
        return shapes[0]

    def standard_logpmf(self, n: Any, *shapes: Any) -> Any:
        count, p = shapes
        gammaln = special().gammaln
        ways = gammaln(count + 1.0) - gammaln(n + 1.0) - gammaln(count - n + 1.0)
        return ways + special().xlogy(n, p) + special().xlog1py(count - n, -p)

    def standard_cdf(self, n: Any, *shapes: Any) -> Any:
        count, p = shapes
        return special().betainc(np.maximum(count - n, 0.5), n + 1.0, 1.0 - p)


class Bernoulli(Binom):
    r"""Bernoulli distribution: 1 with probability ``p``, otherwise 0."""

    shapes = ("p",)

    def highest(self, *shapes: Any) -> Any:
        return 1.0

    def standard_logpmf(self, n: Any, *shapes: Any) -> Any:
        return super().standard_logpmf(n, 1.0, *shapes)

    def standard_cdf(self, n: Any, *shapes: Any) -> Any:
        return 1.0 - shapes[0] + 0.0 * n


class Nbinom(Discrete):
    r"""Negative binomial distribution: failures before success ``n``, of probability ``p`` each."""

    shapes = ("n", "p")

    def standard_logpmf(self, n: Any, *shapes: Any) -> Any:
        count, p = shapes
        gammaln = special().gammaln
        ways = gammaln(n + count) - gammaln(n + 1.0) - gammaln(count)
        return ways + count * np.log(p) + special().xlog1py(n, -p)

    def standard_cdf(self, n: Any, *shapes: Any) -> Any:
        return special().betainc(shapes[0], n + 1.0, shapes[1])


class Geom(Discrete):
    r"""Geometric distribution, :math:`P(k) = (1-p)^{k-1} p` for :math:`k \ge 1`."""

    shapes = ("p",)
    lowest = 1.0

    def standard_logpmf(self, n: Any, *shapes: Any) -> Any:
        (p,) = shapes
        return special().xlog1py(n - 1.0, -p) + np.log(p)

    def standard_cdf(self, n: Any, *shapes: Any) -> Any:
        return -np.expm1(n * np.log1p(-shapes[0]))


bernoulli, binom, geom, nbinom, poisson = Bernoulli(), Binom(), Geom(), Nbinom(), Poisson()
