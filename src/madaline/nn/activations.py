"""Activations as functions, each a formula over primitives. Lecture rows A3 (the twelve of the figure), B5, B6, D1.

Nothing overflows, and limits at plus and minus infinity are exact for values and slopes: where a product would be 0
times infinity, the formula is used near 0 and its limit beyond (:func:`_near`). NaN stays NaN. At a kink the slope is
that of PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.numpy_api.reduce import logsumexp_of_shifted
from madaline.graph.primitives import elementwise
from madaline.nn.activation_function import ACTIVATIONS, FLAT, activation

if TYPE_CHECKING:
    from madaline.graph.arrays import Array

inf = math.inf
_LOGIT = math.log(1.0 / FLAT - 1.0)
"Where the logistic function is 1 - FLAT."


def _near(x: Array, bound: float, formula: Callable[[Any], Any], limit: Callable[[Any], Any]) -> Array:
    """``formula`` where ``|x| < bound``, and ``limit`` beyond; each is only evaluated on its own range."""
    far = np.abs(x) >= bound
    return np.where(far, limit(x), formula(np.where(far, 0.0, x)))


def _clipped(x: Array, low: float, high: float) -> Array:
    """``x`` between two bounds, with slope 0 at both."""
    return np.where(x >= high, high, np.where(x <= low, low, x))


# Saturating


@activation(init="xavier_normal", saturation=(-4.585, 4.585), aliases=("logistic",))
def sigmoid(x: Array) -> Array:
    r"""Logistic function, :math:`y = 1/(1+e^{-x})`, slope :math:`y(1-y) \le 1/4`. Lecture rows A3, B6."""
    return elementwise.sigmoid(x)


@activation(init="xavier_normal", saturation=(-2.994, 2.994))
def tanh(x: Array) -> Array:
    r"""Hyperbolic tangent, :math:`y = \tanh x`, slope :math:`1-y^2`. LeCun et al. 1998, section 4.4. Lecture row A3."""
    return np.tanh(x)


@activation(init="xavier_normal", saturation=(-9.0, 9.0))
def softsign(x: Array) -> Array:
    r"""Softsign, :math:`y = x/(1+|x|)`, slope :math:`1/(1+|x|)^2`. Bergstra et al. 2009. Lecture row A3.

    Beyond 1 it is computed as :math:`\mathrm{sign}(x)\,(1 - 1/(1+|x|))`, whose slope does not cancel.
    """
    small = np.abs(x) < 1.0
    r = 1.0 / (1.0 + np.abs(x))
    return np.where(small, np.where(small, x, 0.0) * r, np.sign(x) * (1.0 - r))


@activation(init="xavier_normal", saturation=(0.0, 0.0))
def step(x: Array) -> Array:
    r"""Threshold unit, :math:`y = [x \ge 0]`, 1 or 0; the slope is 0 everywhere, so no gradient passes it.

    McCulloch & Pitts 1943. Lecture rows A3, E1 (the decks have both > and >=; here 1 at 0).
    """
    return np.floor(1.0 + 0.5 * np.sign(x))  # heaviside(x, 1), but NaN stays NaN without a branch


@activation(init="xavier_normal", saturation=(-3.0, 3.0))
def hard_sigmoid(x: Array) -> Array:
    r"""Piecewise linear approximation of sigmoid, :math:`y = \min(\max(x/6 + 1/2, 0), 1)`; slope 0 at both kinks.

    Courbariaux et al. 2015, with the slope 1/6 of PyTorch, JAX and Keras 3.
    """
    return _clipped(x / 6.0 + 0.5, 0.0, 1.0)


@activation(init="xavier_normal", saturation=(-1.0, 1.0))
def hard_tanh(x: Array) -> Array:
    r"""Piecewise linear tanh, :math:`y = \min(\max(x, -1), 1)`; slope 0 at both kinks. Collobert 2004."""
    return _clipped(x, -1.0, 1.0)


@activation(init="lecun_normal", saturation=(-97.6, 97.6))
def sinc(x: Array) -> Array:
    r"""Cardinal sine, :math:`y = \sin(x)/x`, 1 at 0. Lecture row A3.

    NumPy's ``sinc`` is :math:`\sin(\pi x)/(\pi x)`. Near 0 a series is used, because the slope of the quotient suffers
    from cancellation.
    """
    small, gone = np.abs(x) < 0.5, np.isinf(x)
    series: Any = 1.0
    square = np.where(small, x, 0.0) ** 2
    for k in range(7, 0, -1):
        series = 1.0 - series * square / (2 * k * (2 * k + 1))
    away = np.where(small | gone, 1.0, x)
    return np.where(small, series, np.where(gone, 0.0, np.sin(away) / away))


# Rectifiers


@activation(init="he_normal", saturation=(0.0, inf), title="ReLU")
def relu(x: Array) -> Array:
    r"""Rectifier, :math:`y = \max(x, 0)`; slope 0 at 0. Nair & Hinton 2010. Lecture rows A3, B6."""
    return elementwise.relu(x)


def prelu(x: Array, slope: Any) -> Array:
    r"""Parametric rectifier, :math:`y = x` where :math:`x > 0`, else :math:`a x`, with a learned slope ``a``.

    He et al. 2015, eq. 1. Lecture row B5. One slope for a layer, or one for each unit; the slope at 0 is ``a``.

    Examples
    --------
    >>> prelu(np.array([[-1.0, -1.0]]), np.array([0.5, 0.25]))
    array([[-0.5 , -0.25]])
    """
    return x * np.where(x > 0.0, 1.0, slope)


@activation(
    init="he_normal",
    saturation=lambda slope: (0.0, inf) if abs(slope) < FLAT else None,
    aliases=("lrelu",),
    title="LeakyReLU",
)
def leaky_relu(x: Array, *, slope: float = 0.01) -> Array:
    r"""Leaky rectifier, :math:`y = \max(x, s x)` with slope ``s`` between 0 and 1; the slope at 0 is ``s``.

    Maas et al. 2013. Lecture rows A3, B6 (which has 0.01 and 0.1).
    """
    return prelu(x, np.asarray(slope, x.dtype))


@activation(init="he_normal", saturation=(-1.0, inf), title="ShiftedReLU")
def shifted_relu(x: Array) -> Array:
    r"""Rectifier with its hinge shifted, :math:`y = \max(x, -1)`; slope 0 at -1.

    Clevert et al. 2016, section 4 (SReLU). Lecture row B5.
    """
    return np.where(x <= -1.0, -1.0, x)


def shifted_rectifier(x: Array, slope: Any, shift: Any) -> Array:
    r"""Rectifier with a learned hinge, :math:`y = c + \mathrm{prelu}(x - c, a)`: shift ``c`` and slope ``a``.

    With ``a = 0`` it is :math:`\max(x, c)`. Lecture row B5 ("how about shifting the hinge, the slope").

    Examples
    --------
    >>> shifted_rectifier(np.array([-3.0, 2.0]), 0.5, -1.0)
    array([-2.,  2.])
    """
    return shift + prelu(x - shift, slope)


def maxout(z: Array, k: int) -> Array:
    r"""Maximum of ``k`` linear pieces, :math:`y_j = \max_{i<k} z_{jk+i}`; equal pieces share the slope.

    The last axis of ``z`` holds the ``k`` pieces of the first unit, then those of the second, and so on.
    Goodfellow et al. 2013, eq. 1. Lecture row B5.

    Examples
    --------
    >>> maxout(np.array([[1.0, 2.0, 5.0, -5.0]]), 2)
    array([[2., 5.]])
    """
    n_in = z.shape[-1]
    if k < 1 or n_in % k:
        raise ShapeError(
            f"The {n_in} columns of z are not a multiple of k={k} pieces per unit. Pass k * n_out columns."
        )
    return np.max(np.reshape(z, (*z.shape[:-1], n_in // k, k)), axis=-1)


@activation(init="he_normal", saturation=(0.0, 6.0), title="ReLU6")
def relu6(x: Array) -> Array:
    r"""Rectifier with a ceiling, :math:`y = \min(\max(x, 0), 6)`; slope 0 at both kinks. Krizhevsky 2010."""
    return np.where(x >= 6.0, 6.0, elementwise.relu(x))


@activation(init="he_normal", saturation=lambda theta, value: (theta, inf))
def threshold(x: Array, *, theta: float = 1.0, value: float = 0.0) -> Array:
    r"""Thresholded rectifier, :math:`y = x [x > \theta] + v [x \le \theta]` with ``value`` v; slope 0 at the jump.

    Konda et al. 2015, eq. 3.
    """
    return np.where(x <= theta, value, x)


# Smooth rectifiers


@activation(init="he_normal", saturation=lambda beta: (-_LOGIT / beta, inf), positive=("beta",))
def softplus(x: Array, *, beta: float = 1.0) -> Array:
    r"""Softplus, :math:`y = \log(1+e^{\beta x})/\beta`, slope :math:`\sigma(\beta x)`. Dugas et al. 2001. Row A3."""
    return elementwise.softplus(beta * x) / beta


@activation(init="he_normal", saturation=(-inf, _LOGIT))
def log_sigmoid(x: Array) -> Array:
    r"""Logarithm of the logistic function, :math:`y = -\log(1+e^{-x})`, slope :math:`\sigma(-x)`. Lecture row A3."""
    return -elementwise.softplus(-x)


@activation(
    init="he_normal", saturation=lambda alpha: (min(math.log(FLAT / alpha), 0.0), inf), positive=("alpha",), title="ELU"
)
def elu(x: Array, *, alpha: float = 1.0) -> Array:
    r"""Exponential linear unit, :math:`y = \max(x, 0) + \min(\alpha(e^x-1), 0)`; slope alpha at 0.

    Clevert et al. 2016, eq. 15, alpha > 0. Lecture rows A3, B6.
    """
    return np.where(x > 0.0, x, alpha * np.expm1(np.where(x > 0.0, 0.0, x)))


@activation(init="he_normal", saturation=lambda alpha: (alpha * math.log(FLAT), inf), positive=("alpha",), title="CELU")
def celu(x: Array, *, alpha: float = 1.0) -> Array:
    r"""ELU with slope 1 at 0 for any alpha > 0, :math:`y = \max(x, 0) + \min(\alpha(e^{x/\alpha}-1), 0)`.

    Barron 2017, eq. 2.
    """
    return np.where(x > 0.0, x, alpha * np.expm1(np.where(x > 0.0, 0.0, x) / alpha))


_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


@activation(init="lecun_normal", saturation=(math.log(FLAT / _SELU_ALPHA / _SELU_SCALE), inf), title="SELU")
def selu(x: Array) -> Array:
    r"""Self-normalising unit, :math:`y = 1.0507\,\mathrm{elu}(x; 1.6733)`, which preserves mean 0 and variance 1.

    Klambauer et al. 2017, eq. 2; the slope at 0 is 1.7581.
    """
    return _SELU_SCALE * elu.formula(x, alpha=_SELU_ALPHA)


@activation(init="he_normal", saturation=lambda beta: (-6.262 / beta, inf), aliases=("silu",), positive=("beta",))
def swish(x: Array, *, beta: float = 1.0) -> Array:
    r"""Swish, :math:`y = x\,\sigma(\beta x)` with beta > 0; with beta 1 it is also called SiLU.

    Ramachandran et al. 2017, eq. 1; Hendrycks & Gimpel 2016. Lecture row A3.
    """
    return _near(x, 800.0 / beta, lambda x: x * elementwise.sigmoid(beta * x), elementwise.relu)


@activation(init="he_normal", saturation=(-6.264, inf))
def mish(x: Array) -> Array:
    r"""Mish, :math:`y = x \tanh(\log(1+e^x))`. Misra 2019, eq. 1. Lecture row A3."""
    return _near(x, 800.0, lambda x: x * np.tanh(elementwise.softplus(x)), elementwise.relu)


@activation(init="he_normal", saturation=(-3.068, inf), title="GELU")
def gelu(x: Array) -> Array:
    r"""Gaussian error linear unit, :math:`y = \tfrac12 x(1+\mathrm{erf}(x/\sqrt2))`. Hendrycks & Gimpel 2016."""
    return _near(x, 40.0, lambda x: 0.5 * x * (1.0 + elementwise.erf(x * math.sqrt(0.5))), elementwise.relu)


@activation(init="he_normal", saturation=(-3.053, inf), title="GELUTanh")
def gelu_tanh(x: Array) -> Array:
    r"""GELU without erf, :math:`y = \tfrac12 x\,(1+\tanh(\sqrt{2/\pi}\,(x + 0.044715\,x^3)))`.

    Hendrycks & Gimpel 2016, section 2. It differs from :func:`gelu` by less than 0.0005.
    """
    scale = math.sqrt(2.0 / math.pi)
    return _near(x, 40.0, lambda x: 0.5 * x * (1.0 + np.tanh(scale * x * (1.0 + 0.044715 * x * x))), elementwise.relu)


@activation(init="he_normal", saturation=(-3.0, inf))
def hard_swish(x: Array) -> Array:
    r"""Swish with a piecewise linear sigmoid, :math:`y = x \min(\max(x+3, 0), 6)/6`; slope 0 at -3, 1 at 3.

    Howard et al. 2019, section 5.2.
    """
    return _near(x, 3.0, lambda x: x * (x + 3.0) / 6.0, elementwise.relu)


# Others


@activation(init="xavier_normal", aliases=("linear",), title="IdentityActivation")
def identity(x: Array) -> Array:
    r"""The input itself, :math:`y = x`. Lecture row D1."""
    return x


@activation(init="xavier_normal")
def tanh_shrink(x: Array) -> Array:
    r"""Difference from tanh, :math:`y = x - \tanh x`, slope :math:`\tanh^2 x`: flat at 0, not at the ends."""
    return x - np.tanh(x)


@activation(init="xavier_normal", positive=("width",))
def softshrink(x: Array, *, width: float = 0.5) -> Array:
    r"""Soft threshold, :math:`y = \mathrm{sign}(x)\max(|x|-w, 0)` with ``width`` w; slope 0 at kinks. Donoho 1995."""
    return np.sign(x) * elementwise.relu(np.abs(x) - width)


@activation(init="xavier_normal", positive=("width",))
def hardshrink(x: Array, *, width: float = 0.5) -> Array:
    r"""Hard threshold, :math:`y = x [|x| > w]` with ``width`` w; slope 0 at the jumps. Donoho & Johnstone 1994."""
    return np.where(np.abs(x) <= width, 0.0, x)


@activation(init="xavier_normal", elementwise=False)
def softmax(x: Array, *, axis: int = -1) -> Array:
    r"""Probabilities that sum to 1, :math:`y_i = e^{x_i}/\sum_j e^{x_j}` along an axis. Bridle 1990.

    Lecture rows D1, E8. The deck of D1 has exp(-x), a misprint. Minus infinity gives 0; plus infinity, as in PyTorch,
    gives NaN.
    """
    return np.exp(log_softmax.formula(x, axis=axis))


@activation(init="xavier_normal", elementwise=False)
def log_softmax(x: Array, *, axis: int = -1) -> Array:
    r"""Logarithm of :func:`softmax`, :math:`y_i = x_i - \log\sum_j e^{x_j}`, computed without softmax."""
    z = x - elementwise.stop_gradient(np.max(x, axis=axis, keepdims=True))  # so that a large x does not round a small y
    return z - logsumexp_of_shifted(z, axis=axis, keepdims=True)


__all__ = ["ACTIVATIONS", "maxout", "prelu", "shifted_rectifier"]
__all__ += ACTIVATIONS.names()  # noqa: PLE0605 - computed, so that an activation is named in one place
