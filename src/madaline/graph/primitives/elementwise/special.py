"""Special functions, computed by ``scipy.special`` between native programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import PRIMITIVES, Sample
from madaline.graph.primitives.elementwise.base import POSITIVE, Domain, Elementwise

UNIT: Domain = (0.1, 0.9)


class SpecialFunction(Elementwise):
    """A ufunc of ``scipy.special``, of the same name unless ``scipy_name`` says another."""

    library = True
    scipy_name: ClassVar[str] = ""

    def value(self, *args: Any, **params: Any) -> Any:
        from scipy import special  # SciPy takes long to import, and few programs need it

        return getattr(special, self.scipy_name or self.name)(*params.values(), *args)


class Polygamma(SpecialFunction):
    r"""The ``n``-th derivative of the digamma function :math:`\psi`, which is that for ``n = 0``. Parameter: ``n``."""

    name = "polygamma"
    domains = (POSITIVE,)

    def value(self, x: Any, *, n: int) -> Any:
        from scipy import special

        return np.asarray(special.digamma(x) if n == 0 else special.polygamma(n, x)).astype(np.asarray(x).dtype)

    def jvp(self, x: Array, y: Array, x_dot: Tangent, *, n: int) -> Tangent:
        return x_dot * polygamma(x, n=n + 1)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, n: int) -> tuple[Array]:
        return (y_bar * polygamma(x, n=n + 1),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for n in (0, 1, 3):
            yield (rng.uniform(*POSITIVE, size=(5, 3)),), {"n": n}


class Gammaln(SpecialFunction):
    r""":math:`\log |\Gamma(x)|`; :math:`dy/dx = \psi(x)`."""

    name = "gammaln"
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return polygamma(x, n=0)


class Gamma(SpecialFunction):
    r""":math:`\Gamma(x)`; :math:`dy/dx = y\,\psi(x)`."""

    name = "gamma"
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return y * polygamma(x, n=0)


class Betaln(SpecialFunction):
    r""":math:`\log B(a, b)`; :math:`\partial y/\partial a = \psi(a) - \psi(a + b)`."""

    name = "betaln"
    domains = (POSITIVE, POSITIVE)

    def derivative(self, a: Array, b: Array, y: Array) -> tuple[Array | float | None, ...]:
        both = polygamma(a + b, n=0)
        return polygamma(a, n=0) - both, polygamma(b, n=0) - both


class Erfc(SpecialFunction):
    r""":math:`1 - \mathrm{erf}(x)` without cancellation; :math:`dy/dx = -\frac{2}{\sqrt\pi} e^{-x^2}`."""

    name = "erfc"

    def derivative(self, x: Array, y: Array) -> Array:
        return float(-2.0 / np.sqrt(np.pi)) * np.exp(-x * x)


class Erfcx(SpecialFunction):
    r""":math:`e^{x^2} \mathrm{erfc}(x)`; :math:`dy/dx = 2 x y - 2/\sqrt\pi`."""

    name = "erfcx"

    def derivative(self, x: Array, y: Array) -> Array:
        return 2.0 * x * y - float(2.0 / np.sqrt(np.pi))


class Erfinv(SpecialFunction):
    r"""The inverse of erf; :math:`dy/dx = \frac{\sqrt\pi}{2} e^{y^2}`."""

    name = "erfinv"
    domains = ((-0.9, 0.9),)

    def derivative(self, x: Array, y: Array) -> Array:
        return float(np.sqrt(np.pi) / 2.0) * np.exp(y * y)


class Ndtr(SpecialFunction):
    r"""The normal distribution function :math:`\Phi(x)`; its derivative is the density."""

    name = "ndtr"

    def derivative(self, x: Array, y: Array) -> Array:
        return float(1.0 / np.sqrt(2.0 * np.pi)) * np.exp(-0.5 * x * x)


class LogNdtr(SpecialFunction):
    r""":math:`\log \Phi(x)`; :math:`dy/dx = e^{-x^2/2 - y} / \sqrt{2\pi}`."""

    name = "log_ndtr"

    def derivative(self, x: Array, y: Array) -> Array:
        return float(1.0 / np.sqrt(2.0 * np.pi)) * np.exp(-0.5 * x * x - y)


class Ndtri(SpecialFunction):
    r"""The inverse of :math:`\Phi`; :math:`dy/dx = \sqrt{2\pi}\, e^{y^2/2}`."""

    name = "ndtri"
    domains = (UNIT,)

    def derivative(self, x: Array, y: Array) -> Array:
        return float(np.sqrt(2.0 * np.pi)) * np.exp(0.5 * y * y)


class Gammainc(SpecialFunction):
    r"""The regularised lower incomplete gamma function :math:`P(a, x)`; the derivative in ``a`` is not known.

    :math:`\partial y/\partial x = x^{a-1} e^{-x} / \Gamma(a)`.
    """

    name = "gammainc"
    domains = (POSITIVE, POSITIVE)
    without_derivative = (0,)

    def derivative(self, a: Array, x: Array, y: Array) -> tuple[Array | float | None, ...]:
        return None, np.exp((a - 1.0) * np.log(x) - x - gammaln(a))


class Gammaincc(Gammainc):
    r"""The upper incomplete gamma function :math:`1 - P(a, x)`; the derivative in ``a`` is not known."""

    name = "gammaincc"

    def derivative(self, a: Array, x: Array, y: Array) -> tuple[Array | float | None, ...]:
        return None, -np.exp((a - 1.0) * np.log(x) - x - gammaln(a))


class Betainc(SpecialFunction):
    r"""The regularised incomplete beta function :math:`I_x(a, b)`; derivatives in ``a`` and ``b`` are not known.

    :math:`\partial y/\partial x = x^{a-1} (1-x)^{b-1} / B(a, b)`.
    """

    name = "betainc"
    domains = (POSITIVE, POSITIVE, UNIT)
    without_derivative = (0, 1)

    def derivative(self, a: Array, b: Array, x: Array, y: Array) -> tuple[Array | float | None, ...]:
        return None, None, np.exp((a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - betaln(a, b))


class Stdtr(SpecialFunction):
    r"""Student's distribution function with ``df`` degrees of freedom; the derivative in ``df`` is not known.

    :math:`\partial y/\partial x = (1 + x^2/\nu)^{-(\nu+1)/2} / (\sqrt\nu\,B(\nu/2, 1/2))`.
    """

    name = "stdtr"
    domains = (POSITIVE, (-2.0, 2.0))
    without_derivative = (0,)

    def derivative(self, df: Array, x: Array, y: Array) -> Any:
        scale = 0.5 * np.log(df) + betaln(0.5 * df, 0.5 * np.ones_like(df))
        return None, np.exp(-0.5 * (df + 1.0) * np.log1p(x * x / df) - scale)


def _below(order: float) -> float:
    """The order below, for functions that are even in an integer order."""
    return abs(order - 1) if order == int(order) else order - 1


class _Bessel(SpecialFunction):
    """A Bessel function of a plain number ``order``, whose derivative is made of its neighbours."""

    def value(self, x: Any, *, order: float) -> Any:
        from scipy import special

        return np.asarray(getattr(special, self.scipy_name)(order, x)).astype(np.asarray(x).dtype)

    def slope(self, x: Array, y: Array, order: float) -> Array:
        """The derivative."""
        raise NotImplementedError

    def jvp(self, x: Array, y: Array, x_dot: Tangent, *, order: float) -> Tangent:
        return x_dot * self.slope(x, y, order)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, order: float) -> tuple[Array]:
        return (y_bar * self.slope(x, y, order),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for order in (0, 1, 3, 0.5)[: 4 if self.domains[0][0] > 0 else 3]:
            yield (rng.uniform(*self.domains[0], size=(5, 3)),), {"order": order}


class BesselI(_Bessel):
    r"""The modified Bessel function :math:`I_n(x)`; :math:`dy/dx = (I_{n-1} + I_{n+1})/2`."""

    name = "bessel_i"
    scipy_name = "iv"

    def slope(self, x: Array, y: Array, order: float) -> Array:
        return 0.5 * (self(x, order=_below(order)) + self(x, order=order + 1))


class ScaledBesselI(_Bessel):
    r""":math:`e^{-|x|} I_n(x)`; :math:`dy/dx = (y_{n-1} + y_{n+1})/2 - \mathrm{sign}(x)\,y_n`."""

    name = "scaled_bessel_i"
    scipy_name = "ive"

    def slope(self, x: Array, y: Array, order: float) -> Array:
        return 0.5 * (self(x, order=_below(order)) + self(x, order=order + 1)) - np.sign(x) * y


class BesselJ(_Bessel):
    r"""The Bessel function of the first kind :math:`J_n(x)`; :math:`dy/dx = (J_{n-1} - J_{n+1})/2`."""

    name = "bessel_j"
    scipy_name = "jv"

    def slope(self, x: Array, y: Array, order: float) -> Array:
        if order == 0:
            return -self(x, order=1)
        return 0.5 * (self(x, order=order - 1) - self(x, order=order + 1))


class BesselY(BesselJ):
    r"""The Bessel function of the second kind :math:`Y_n(x)`; :math:`dy/dx = (Y_{n-1} - Y_{n+1})/2`."""

    name = "bessel_y"
    scipy_name = "yv"
    domains = (POSITIVE,)


class BesselK(_Bessel):
    r"""The modified Bessel function :math:`K_n(x)`; :math:`dy/dx = -(K_{n-1} + K_{n+1})/2`."""

    name = "bessel_k"
    scipy_name = "kv"
    domains = (POSITIVE,)

    def slope(self, x: Array, y: Array, order: float) -> Array:
        return -0.5 * (self(x, order=_below(order)) + self(x, order=order + 1))


polygamma = PRIMITIVES["polygamma"]
gammaln = PRIMITIVES["gammaln"]
betaln = PRIMITIVES["betaln"]
