"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.primitives.elementwise.base import POSITIVE, Elementwise


class Exp(Elementwise):
    """:math:`y = e^x`, :math:`dy/dx = y`."""

    name = "exp"
    ufunc = np.exp

    def derivative(self, x: Array, y: Array) -> Array:
        return y


class Exp2(Elementwise):
    r""":math:`y = 2^x`, :math:`dy/dx = y \log 2`."""

    name = "exp2"
    ufunc = np.exp2

    def derivative(self, x: Array, y: Array) -> Array:
        return y * float(np.log(2.0))


class Expm1(Elementwise):
    """:math:`y = e^x - 1`, exact near 0; :math:`dy/dx = y + 1`."""

    name = "expm1"
    ufunc = np.expm1

    def derivative(self, x: Array, y: Array) -> Array:
        return y + 1.0


class Log(Elementwise):
    r""":math:`y = \log x`."""

    name = "log"
    ufunc = np.log
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / x


class Log2(Elementwise):
    r""":math:`y = \log_2 x`."""

    name = "log2"
    ufunc = np.log2
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return float(1.0 / np.log(2.0)) / x


class Log10(Elementwise):
    r""":math:`y = \log_{10} x`."""

    name = "log10"
    ufunc = np.log10
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Array:
        return float(1.0 / np.log(10.0)) / x


class Log1p(Elementwise):
    r""":math:`y = \log(1 + x)`, exact near 0."""

    name = "log1p"
    ufunc = np.log1p
    domains = ((-0.5, 2.0),)

    def derivative(self, x: Array, y: Array) -> Array:
        return 1.0 / (1.0 + x)
