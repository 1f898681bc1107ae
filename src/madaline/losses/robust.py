"""Losses that are less sensitive to outliers than the squared error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.primitives.elementwise import softplus
from madaline.losses.loss import Loss
from madaline.losses.targets import matched

if TYPE_CHECKING:
    from madaline.graph.arrays import Array

LOG_2 = float(np.log(2.0))


@description
class MAE(Loss):
    r"""Absolute error, mean over the outputs, :math:`\ell = \frac1D \sum_d |z_d - y_d|`; derivative 0 at 0.

    Lecture row D2 (whose 1/2m is a misprint).
    """

    name: ClassVar[str] = "mae"

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        return np.mean(np.abs(z - y), axis=1)


@description
class Huber(Loss):
    r"""Quadratic near 0 and linear beyond ``delta``; mean over the outputs of

    .. math:: h(r) = \tfrac12 r^2 \text{ if } |r| \le \delta, \quad \delta (|r| - \tfrac12 \delta) \text{ beyond},
              \qquad r = z - y.

    Parameters
    ----------
    delta : float
        Residual beyond which the loss is linear, above 0; 1 by default.

    Huber 1964; lecture row D2; the same as PyTorch's ``huber_loss``.
    """

    name: ClassVar[str] = "huber"
    ranges: ClassVar[Mapping[str, str]] = {"delta": "(0, inf)"}
    _: KW_ONLY
    delta: float = 1.0

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        r = z - y
        near = np.abs(r) <= self.delta
        # Only small residuals are squared: a large one could overflow.
        return np.mean(
            np.where(near, 0.5 * np.square(np.where(near, r, 0.0)), self.delta * (np.abs(r) - 0.5 * self.delta)), axis=1
        )


@description
class LogCosh(Loss):
    r"""Smooth loss, quadratic near 0 and linear far from it,
    :math:`\ell = \frac1D \sum_d \log\cosh(z_d - y_d)`.

    Notes
    -----
    It is computed as :math:`\log(1 + 2\sinh^2(r/2))` for :math:`|r| < 1`, without loss of digits, and as
    :math:`|r| + \log(1+e^{-2|r|}) - \log 2` otherwise, without overflow. Lecture row D2 (there "Tanh-Cos", a misprint).
    """

    name: ClassVar[str] = "log_cosh"

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        r = z - y
        size = np.abs(r)
        near = size < 1.0
        s = np.sinh(0.5 * np.where(near, r, 0.0))
        return np.mean(np.where(near, np.log1p(2.0 * s * s), size + softplus(-2.0 * size) - LOG_2), axis=1)
