"""Losses for positive targets (counts, durations, costs), from the predicted logarithm of the mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.shapes import Shape
from madaline.losses.loss import Loss, times
from madaline.losses.targets import matched, refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array


@description
class Poisson(Loss):
    r"""Negative log-likelihood of counts, from log-rates, :math:`\ell = \frac1D \sum_d (e^{z_d} - y_d z_d)`.

    The constant :math:`\log y!` is left out, as in PyTorch's ``poisson_nll_loss``.
    """

    name: ClassVar[str] = "poisson"
    out_activation: ClassVar[str] = "exp"

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        return np.mean(np.exp(z) - times(y, z), axis=1)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        super().check(prediction_shape, target)
        target = np.asarray(target)
        refuse(target, target < 0, "must not be negative", "Counts start at 0; use mse for signed targets")


@description
class Gamma(Loss):
    r"""Negative log-likelihood of gamma-distributed targets (spread proportional to the mean), from log-means,
    :math:`\ell = \frac1D \sum_d (z_d + y_d e^{-z_d})`.

    Half the gamma deviance, up to terms of ``y`` alone. With shape 1 it is the likelihood of the exponential
    distribution.
    """

    name: ClassVar[str] = "gamma"
    out_activation: ClassVar[str] = "exp"

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        return np.mean(z + y * np.exp(-z), axis=1)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        super().check(prediction_shape, target)
        target = np.asarray(target)
        refuse(target, target <= 0, "must be positive", "Use tweedie if some targets are 0")


@description
class Tweedie(Loss):
    r"""Negative log-likelihood between Poisson and gamma, for targets with many zeros and a long tail, from log-means,

    .. math:: \ell = \frac1D \sum_d \left[ \frac{e^{(2-p) z_d}}{2-p} - y_d \frac{e^{(1-p) z_d}}{1-p} \right].

    Parameters
    ----------
    power : float
        Exponent ``p``: the variance is proportional to the mean to this power. Above 1 (Poisson) and below 2 (gamma).

    Half the Tweedie deviance, up to terms of ``y`` alone. Jorgensen 1987.
    """

    name: ClassVar[str] = "tweedie"
    ranges: ClassVar[Mapping[str, str]] = {"power": "(1, 2)"}
    out_activation: ClassVar[str] = "exp"
    _: KW_ONLY
    power: float = 1.5

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        p = self.power
        return np.mean(np.exp((2.0 - p) * z) / (2.0 - p) - times(y, np.exp((1.0 - p) * z)) / (1.0 - p), axis=1)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        super().check(prediction_shape, target)
        target = np.asarray(target)
        refuse(target, target < 0, "must not be negative", "Use mse for signed targets")
