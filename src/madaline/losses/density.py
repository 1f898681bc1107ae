"""Gaussian likelihoods, with a fixed variance or with one that the net predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ShapeError
from madaline.graph.primitives.elementwise import softplus
from madaline.graph.shapes import Shape, show
from madaline.losses.loss import Loss, as_floats
from madaline.losses.targets import Target, check_numbers, check_rows, columns, matched

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array

LOG_2_PI = float(np.log(2.0 * np.pi))
SCALES = ("log_variance", "softplus")


@description
class Gaussian(Loss):
    r"""Negative log-likelihood of a Gaussian with a fixed variance, mean over the outputs,

    .. math:: \ell = \frac{1}{2D} \sum_d \left[ \log(2\pi\sigma^2) + (y_d - z_d)^2 / \sigma^2 \right].

    Parameters
    ----------
    variance : float
        :math:`\sigma^2`, above 0; 1 by default.

    It has the same minimum as ``mse``; its value is a likelihood. Lecture row E5.
    """

    name: ClassVar[str] = "gaussian"
    ranges: ClassVar[Mapping[str, str]] = {"variance": "(0, inf)"}
    _: KW_ONLY
    variance: float = 1.0

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        constant = LOG_2_PI + float(np.log(self.variance))
        return 0.5 * (constant + np.mean(np.square(z - y), axis=1) / self.variance)


@description
class HeteroscedasticGaussian(Loss):
    r"""Negative log-likelihood of a Gaussian whose mean and variance are both predicted, mean over the targets,

    .. math:: \ell = \frac{1}{2D} \sum_d \left[ \log(2\pi v_d) + (y_d - \mu_d)^2 / v_d \right].

    Parameters
    ----------
    scale : {"log_variance", "softplus"}
        Meaning of the second half of the outputs, ``s``: :math:`v = v_0 + e^s`, or
        :math:`v = v_0 + \log(1+e^s)^2`.
    floor : float
        :math:`v_0`, the minimum variance, above 0; 1e-6 by default. Without it the likelihood is unbounded if a net
        predicts one target exactly. Choose it by the scale of the targets.

    Notes
    -----
    The outputs are the means of all target columns, then their scales. The floor is added, so the derivative does not
    vanish near it; PyTorch's ``gaussian_nll_loss`` clips instead. Nix & Weigend 1994; lecture row E5.
    """

    name: ClassVar[str] = "heteroscedastic_gaussian"
    ranges: ClassVar[Mapping[str, str]] = {"floor": "(0, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"scale": SCALES}
    out_activation: ClassVar[str] = "own"
    _: KW_ONLY
    scale: str = "log_variance"
    floor: float = 1e-6

    def rows(self, prediction: Array, target: Array) -> Array:
        y = columns(target)
        self._check_shapes(prediction.shape, y.shape)
        mean, s = prediction[:, : y.shape[1]], prediction[:, y.shape[1] :]
        log_v = log_variance(s, self.scale, self.floor)
        r = y.astype(mean.dtype) - mean
        return 0.5 * (LOG_2_PI + np.mean(log_v + r * r * np.exp(-log_v), axis=1))

    def n_outputs(self, target: Target) -> int:
        return 2 * target.width

    def predict(self, raw: Array | ArrayLike) -> Array:
        """The means."""
        raw = as_floats(raw)
        return raw[:, : raw.shape[1] // 2]

    def variance(self, raw: Array) -> Array:
        """The variances."""
        raw = as_floats(raw)
        return np.exp(log_variance(raw[:, raw.shape[1] // 2 :], self.scale, self.floor))

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        target = np.asarray(target)
        check_rows(prediction_shape, target.shape)
        self._check_shapes(prediction_shape, columns(target).shape)
        check_numbers(target)

    def _check_shapes(self, prediction: Shape, target: Shape) -> None:
        if len(prediction) != 2 or prediction[1] != 2 * target[1]:
            raise ShapeError(
                f"prediction has shape {show(prediction)}; a mean and a scale for each of {target[1]} target columns "
                f"need {2 * target[1]} outputs."
            )


def log_variance(s: Array, scale: str, floor: float) -> Array:
    """The logarithm of the variance, without overflow and never below that of the floor."""
    if scale == "log_variance":
        return np.logaddexp(s, float(np.log(floor)))
    return np.log(floor + np.square(softplus(s)))
