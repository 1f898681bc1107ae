"""Pieces of activations and losses that need numerical care: sigmoid, softplus, relu, erf."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import PRIMITIVES, Zero
from madaline.graph.primitives.elementwise.base import Elementwise


class Sigmoid(Elementwise):
    r"""Logistic function, :math:`y = 1/(1+e^{-x})`, :math:`dy/dx = y(1-y)`. Never overflows."""

    name = "sigmoid"

    def value(self, x: Any) -> Any:
        small = np.exp(-np.abs(x))
        return np.where(x >= 0, 1, small) / (1 + small)

    def derivative(self, x: Array, y: Array) -> Array:
        return y * (1.0 - y)


class Softplus(Elementwise):
    r""":math:`y = \log(1+e^x)`, computed as :math:`\max(x,0) + \log(1+e^{-|x|})`; :math:`dy/dx = \sigma(x)`."""

    name = "softplus"

    def value(self, x: Any) -> Any:
        return np.logaddexp(x, np.zeros((), dtype=np.asarray(x).dtype))

    def derivative(self, x: Array, y: Array) -> Array:
        return sigmoid(x)


class Relu(Elementwise):
    r""":math:`y = \max(x, 0)`; derivative 0 at ``x = 0``, NaN stays NaN.

    A primitive of its own because its derivative needs ``y`` alone.
    """

    name = "relu"
    types = "number"

    def value(self, x: Any) -> Any:
        return np.maximum(x, 0)

    def jvp(self, x: Array, y: Array, x_dot: Tangent) -> Tangent:
        return x_dot if isinstance(x_dot, Zero) else np.where(y > 0.0, x_dot, 0.0)

    def vjp(self, x: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (np.where(y > 0.0, y_bar, 0.0),)


class Erf(Elementwise):
    r"""Error function, :math:`dy/dx = \frac{2}{\sqrt\pi} e^{-x^2}`."""

    name = "erf"

    def value(self, x: Any) -> Any:
        from scipy.special import erf  # SciPy takes long to import, and few programs need it

        return erf(x)

    def derivative(self, x: Array, y: Array) -> Array:
        return float(2.0 / np.sqrt(np.pi)) * np.exp(-x * x)


sigmoid = PRIMITIVES["sigmoid"]
softplus = PRIMITIVES["softplus"]
relu = PRIMITIVES["relu"]
erf = PRIMITIVES["erf"]
