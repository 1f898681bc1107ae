"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.primitives.elementwise.base import POSITIVE, REAL, Elementwise, stop_gradient


class Sin(Elementwise):
    r""":math:`y = \sin x`."""

    name = "sin"
    ufunc = np.sin

    def derivative(self, x: Array, y: Array) -> Array:
        return np.cos(x)


class Cos(Elementwise):
    r""":math:`y = \cos x`."""

    name = "cos"
    ufunc = np.cos

    def derivative(self, x: Array, y: Array) -> Array:
        return -np.sin(x)


class Tan(Elementwise):
    r""":math:`y = \tan x`, :math:`dy/dx = 1 + y^2`."""

    name = "tan"
    ufunc = np.tan
    domains = ((-1.2, 1.2),)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 + y * y


class Arcsin(Elementwise):
    r""":math:`y = \arcsin x`, :math:`dy/dx = 1/\sqrt{1-x^2}`."""

    name = "arcsin"
    ufunc = np.arcsin
    domains = ((-0.8, 0.8),)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / np.sqrt(1.0 - x * x)


class Arccos(Elementwise):
    r""":math:`y = \arccos x`, :math:`dy/dx = -1/\sqrt{1-x^2}`."""

    name = "arccos"
    ufunc = np.arccos
    domains = ((-0.8, 0.8),)

    def derivative(self, x: Array, y: Array) -> Array:
        return -1.0 / np.sqrt(1.0 - x * x)


class Arctan(Elementwise):
    r""":math:`y = \arctan x`, :math:`dy/dx = 1/(1+x^2)`."""

    name = "arctan"
    ufunc = np.arctan

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / (1.0 + x * x)


class Arctan2(Elementwise):
    r"""The angle of the point :math:`(x, s)`: :math:`y = \mathrm{atan2}(s, x)`."""

    name = "arctan2"
    ufunc = np.arctan2
    domains = (REAL, POSITIVE)

    def derivative(self, s: Array, x: Array, y: Array) -> tuple[Array | float | None, ...]:
        # Scaled, so that no square over- or underflows; the result does not depend on the scale.
        scale = stop_gradient(np.maximum(np.abs(s), np.abs(x)))
        s, x = s / scale, x / scale
        squared = (s * s + x * x) * scale
        return x / squared, -s / squared


class Sinh(Elementwise):
    r""":math:`y = \sinh x`."""

    name = "sinh"
    ufunc = np.sinh

    def derivative(self, x: Array, y: Array) -> Array:
        return np.cosh(x)


class Cosh(Elementwise):
    r""":math:`y = \cosh x`."""

    name = "cosh"
    ufunc = np.cosh

    def derivative(self, x: Array, y: Array) -> Array:
        return np.sinh(x)


class Tanh(Elementwise):
    r"""Hyperbolic tangent, :math:`y=\tanh x`, :math:`dy/dx = 1-y^2`. Only ``y`` is kept."""

    name = "tanh"
    ufunc = np.tanh

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 - y * y


class Arcsinh(Elementwise):
    r""":math:`y = \mathrm{arsinh}\,x`, :math:`dy/dx = 1/\sqrt{1+x^2}`."""

    name = "arcsinh"
    ufunc = np.arcsinh

    def derivative(self, x: Array, y: Array) -> Array:
        scale = stop_gradient(np.maximum(np.abs(x), 1.0))
        small, scaled = 1.0 / scale, x / scale
        return small / np.sqrt(small * small + scaled * scaled)


class Arccosh(Elementwise):
    r""":math:`y = \mathrm{arcosh}\,x`, :math:`dy/dx = 1/\sqrt{x^2-1}`."""

    name = "arccosh"
    ufunc = np.arccosh
    domains = ((1.3, 3.0),)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


class Arctanh(Elementwise):
    r""":math:`y = \mathrm{artanh}\,x`, :math:`dy/dx = 1/(1-x^2)`."""

    name = "arctanh"
    ufunc = np.arctanh
    domains = ((-0.8, 0.8),)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / (1.0 - x * x)
