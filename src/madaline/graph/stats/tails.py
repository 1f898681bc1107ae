"""More continuous distributions: waiting times, extremes and heavy tails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from madaline.graph.stats.continuous import Continuous, special


class Uniform(Continuous):
    r"""Uniform distribution between 0 and 1."""

    support = (0.0, 1.0)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return 0.0 * z

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return 1.0 * z

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return 1.0 * q


class Cauchy(Continuous):
    r"""Cauchy distribution, :math:`p = 1 / (\pi (1 + z^2))`."""

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -np.log1p(np.square(z)) - math.log(math.pi)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        # Without cancellation for large negative z, where arctan is close to -pi / 2.
        return np.arctan2(1.0, -z) / math.pi

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return np.arctan2(1.0, z) / math.pi

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return np.tan(math.pi * (q - 0.5))


class WeibullMin(Continuous):
    r"""Weibull distribution of shape ``c``, :math:`p = c z^{c-1} e^{-z^c}`."""

    shapes = ("c",)
    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        (c,) = shapes
        return np.log(c) + special().xlogy(c - 1.0, z) - np.power(z, c)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(self.standard_logsf(z, *shapes))

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return np.exp(self.standard_logsf(z, *shapes))

    def standard_logsf(self, z: Any, *shapes: Any) -> Any:
        return -np.power(z, shapes[0])

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return np.power(-np.log1p(-q), 1.0 / shapes[0])


class Halfnorm(Continuous):
    r"""The absolute value of a normal number, :math:`p = \sqrt{2/\pi}\, e^{-z^2/2}`."""

    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -0.5 * np.square(z) + 0.5 * math.log(2.0 / math.pi)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().erf(z * math.sqrt(0.5))

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return 2.0 * special().ndtr(-z)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return special().ndtri(0.5 + 0.5 * q)


class Invgamma(Continuous):
    r"""Inverse gamma distribution, :math:`p = z^{-a-1} e^{-1/z} / \Gamma(a)`."""

    shapes = ("a",)
    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        (a,) = shapes
        return -(a + 1.0) * np.log(z) - 1.0 / z - special().gammaln(a)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return special().gammaincc(shapes[0], 1.0 / z)

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return special().gammainc(shapes[0], 1.0 / z)


class GumbelR(Continuous):
    r"""Gumbel distribution of largest values, :math:`F = e^{-e^{-z}}`."""

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return -z - np.exp(-z)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return np.exp(-np.exp(-z))

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(-np.exp(-z))

    def standard_logcdf(self, z: Any, *shapes: Any) -> Any:
        return -np.exp(-z)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return -np.log(-np.log(q))


class Pareto(Continuous):
    r"""Pareto distribution, :math:`p = b z^{-b-1}` for :math:`z \ge 1`."""

    shapes = ("b",)
    support = (1.0, math.inf)
    inside = 2.0

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        (b,) = shapes
        return np.log(b) - (b + 1.0) * np.log(z)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(self.standard_logsf(z, *shapes))

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return np.exp(self.standard_logsf(z, *shapes))

    def standard_logsf(self, z: Any, *shapes: Any) -> Any:
        return -shapes[0] * np.log(z)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return np.exp(-np.log1p(-q) / shapes[0])


class Rayleigh(Continuous):
    r"""Rayleigh distribution, :math:`p = z e^{-z^2/2}`."""

    support = (0.0, math.inf)

    def standard_logpdf(self, z: Any, *shapes: Any) -> Any:
        return np.log(z) - 0.5 * np.square(z)

    def standard_cdf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(-0.5 * np.square(z))

    def standard_sf(self, z: Any, *shapes: Any) -> Any:
        return np.exp(-0.5 * np.square(z))

    def standard_logsf(self, z: Any, *shapes: Any) -> Any:
        return -0.5 * np.square(z)

    def standard_ppf(self, q: Any, *shapes: Any) -> Any:
        return np.sqrt(-2.0 * np.log1p(-q))


cauchy, gumbel_r, halfnorm, invgamma = Cauchy(), GumbelR(), Halfnorm(), Invgamma()
pareto, rayleigh, uniform, weibull_min = Pareto(), Rayleigh(), Uniform(), WeibullMin()
