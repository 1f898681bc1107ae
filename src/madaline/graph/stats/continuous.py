"""Continuous distributions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from madaline.errors import TraceError

LOG_2PI = math.log(2.0 * math.pi)


def special() -> Any:
    """``scipy.special``, imported when it is first used."""
    from scipy import special  # SciPy takes long to import

    return special


class Continuous:
    """A continuous distribution. A subclass has the formulas for ``loc=0`` and ``scale=1``."""

    shapes: ClassVar[tuple[str, ...]] = ()
    "The shape parameters, which come before ``loc`` and ``scale``."
    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    inside: ClassVar[float] = 0.5
    "A point of the support, at which formulas are evaluated for values outside of it."

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        """The logarithm of the standardised density."""
        raise NotImplementedError

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        """The standardised distribution function."""
        raise NotImplementedError

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        """The standardised survival function, :math:`1 - F(z)`."""
        return 1.0 - self.standard_cdf(z, *shapes)

    def standard_logcdf(self, z: Any, *shapes: Any) -> Any:
        """The logarithm of the standardised distribution function."""
        return np.log(self.standard_cdf(z, *shapes))

    def standard_logsf(self, z: Any, *shapes: Any) -> Any:
        """The logarithm of the standardised survival function."""
        return np.log(self.standard_sf(z, *shapes))

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        """The standardised quantile function, the inverse of the distribution function."""
        raise TraceError(
            f"{type(self).__name__.lower()}.ppf has no formula, so it has no derivative. Use the distribution "
            "function, or a distribution such as norm, expon, logistic or weibull_min."
        )

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Logarithm of the density."""
        z, scale, shapes = self._standard(x, args, kwargs)
        return self._within(z, lambda inner: self.standard_logpdf(inner, *shapes), -np.inf, -np.inf) - np.log(scale)

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Density."""
        return np.exp(self.logpdf(x, *args, **kwargs))

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Probability of a value of at most ``x``."""
        z, _, shapes = self._standard(x, args, kwargs)
        return self._within(z, lambda inner: self.standard_cdf(inner, *shapes), 0.0, 1.0)

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Probability of a value above ``x``."""
        z, _, shapes = self._standard(x, args, kwargs)
        return self._within(z, lambda inner: self.standard_sf(inner, *shapes), 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Logarithm of ``cdf``."""
        z, _, shapes = self._standard(x, args, kwargs)
        return self._within(z, lambda inner: self.standard_logcdf(inner, *shapes), -np.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Logarithm of ``sf``."""
        z, _, shapes = self._standard(x, args, kwargs)
        return self._within(z, lambda inner: self.standard_logsf(inner, *shapes), 0.0, -np.inf)

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """Quantile: the value whose ``cdf`` is ``q``."""
        loc, scale, shapes = self._parameters(args, kwargs)
        return self.standard_ppf(q, *shapes) * scale + loc

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """Upper quantile: the value whose ``sf`` is ``q``."""
        return self.ppf(1.0 - q, *args, **kwargs)

    def _standard(self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, list[Any]]:
        loc, scale, shapes = self._parameters(args, kwargs)
        return (x - loc) / scale, scale, shapes

    def _parameters(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, list[Any]]:
        names = (*self.shapes, "loc", "scale")
        given = {"loc": 0.0, "scale": 1.0, **dict(zip(names, args, strict=False)), **kwargs}
        if len(args) > len(names) or set(given) != set(names):
            raise TypeError(
                f"{type(self).__name__.lower()} takes x, {', '.join(names)}; {', '.join(given)} were given."
            )
        return given["loc"], given["scale"], [given[name] for name in self.shapes]

    def _within(self, z: Any, formula: Callable[[Any], Any], below: float, above: float) -> Any:
        low, high = self.support
        if (low, high) == (-math.inf, math.inf):
            return formula(z)
        is_below, is_above = np.less(z, low), np.greater(z, high)
        found = formula(np.where(is_below | is_above, self.inside, z))
        return np.where(is_below, below, np.where(is_above, above, found))


class Norm(Continuous):
    r"""Normal distribution, :math:`\log p = -z^2/2 - \log\sqrt{2\pi}`."""

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -0.5 * np.square(z) - 0.5 * LOG_2PI

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().ndtr(z)

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return special().ndtr(-z)

    def standard_logcdf(self, z: Any, *shapes: Any) -> Any:
        return special().log_ndtr(z)

    def standard_logsf(self, z: Any, *shapes: Any) -> Any:
        return special().log_ndtr(-z)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return special().ndtri(q)


class Lognorm(Continuous):
    r"""Log-normal distribution of shape ``s``: :math:`\log z` is normal with deviation ``s``."""

    shapes = ("s",)
    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return norm.logpdf(np.log(z), 0.0, shapes[0]) - np.log(z)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return norm.cdf(np.log(z), 0.0, shapes[0])

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return np.exp(shapes[0] * special().ndtri(q))


class Expon(Continuous):
    r"""Exponential distribution, :math:`p = e^{-z}`."""

    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -z

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(-z)

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return np.exp(-z)

    def standard_logsf(self, z: Any, *shapes: Any) -> Any:
        return -z

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return -np.log1p(-q)


class Laplace(Continuous):
    r"""Laplace distribution, :math:`p = e^{-|z|}/2`."""

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -np.abs(z) - math.log(2.0)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(np.less(z, 0.0), tail, 1.0 - tail)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return np.where(np.less(q, 0.5), np.log(2.0 * q), -np.log(2.0 - 2.0 * q))


class Logistic(Continuous):
    r"""Logistic distribution, :math:`F = 1/(1 + e^{-z})`."""

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -z - 2.0 * np.logaddexp(0.0, -z)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().expit(z)

    def standard_logcdf(self, z: Any, *shapes: Any) -> Any:
        return -np.logaddexp(0.0, -z)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return special().logit(q)


class Gamma(Continuous):
    r"""Gamma distribution of shape ``a``, :math:`p = z^{a-1} e^{-z} / \Gamma(a)`."""

    shapes = ("a",)
    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return special().xlogy(shapes[0] - 1.0, z) - z - special().gammaln(shapes[0])

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().gammainc(shapes[0], z)

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return special().gammaincc(shapes[0], z)


class Chi2(Gamma):
    r"""Chi-squared distribution with ``df`` degrees of freedom: the gamma distribution of shape ``df/2``, scale 2."""

    shapes = ("df",)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return super().standard_logpdf(0.5 * z, 0.5 * shapes[0]) - math.log(2.0)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return super().standard_cdf(0.5 * z, 0.5 * shapes[0])

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return super().standard_sf(0.5 * z, 0.5 * shapes[0])


class Beta(Continuous):
    r"""Beta distribution, :math:`p = z^{a-1} (1-z)^{b-1} / B(a, b)`."""

    shapes = ("a", "b")
    support = (0.0, 1.0)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        a, b = shapes
        return special().xlogy(a - 1.0, z) + special().xlog1py(b - 1.0, -z) - special().betaln(a, b)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().betainc(*shapes, z)


class T(Continuous):
    r"""Student's distribution, :math:`p \propto (1 + z^2/\nu)^{-(\nu+1)/2}`, with :math:`\nu` = ``df``."""

    shapes = ("df",)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        (df,) = shapes
        gammaln = special().gammaln
        scale = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(df * math.pi)
        return scale - 0.5 * (df + 1.0) * np.log1p(np.square(z) / df)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().stdtr(shapes[0], z)

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return special().stdtr(shapes[0], -z)


norm, lognorm, expon, laplace, logistic = Norm(), Lognorm(), Expon(), Laplace(), Logistic()
gamma, chi2, beta, t = Gamma(), Chi2(), Beta(), T()
