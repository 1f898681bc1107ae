"""Focal losses: cross-entropy with more weight on rows that are hard to classify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.primitives.elementwise import softplus
from madaline.losses.classes import ClassLoss, LabelLoss, expected
from madaline.losses.cross_entropy import negative_log_softmax
from madaline.losses.loss import times
from madaline.losses.targets import matched

if TYPE_CHECKING:
    from madaline.graph.arrays import Array


def focused(loss: Array, gamma: float) -> Array:
    r""":math:`(1-p)^\gamma \ell` for :math:`\ell = -\log p`."""
    # Above 0, so that the derivative of the power exists for gamma < 1 where the loss has rounded to 0.
    wrong = np.maximum(-np.expm1(-loss), float(np.finfo(loss.dtype).tiny))
    return wrong**gamma * loss


@description
class Focal(ClassLoss):
    r"""Cross-entropy with less weight on rows that are already classified well,
    :math:`\ell = -\sum_k y_k (1-p_k)^\gamma \log p_k`.

    Parameters
    ----------
    gamma : float
        Exponent, at least 0; 0 gives cross-entropy.

    Lin et al. 2017, eq. 4, over the softmax; their :math:`\alpha` is ``class_weight``.
    """

    name: ClassVar[str] = "focal"
    ranges: ClassVar[Mapping[str, str]] = {"gamma": "[0, inf)"}
    _: KW_ONLY
    gamma: float = 2.0

    def rows(self, prediction: Array, target: Array) -> Array:
        of_class = negative_log_softmax(prediction)
        if target.ndim == 1:  # only the entry of the true class is needed
            return focused(expected(target, of_class), self.gamma)
        return expected(target, focused(of_class, self.gamma))


@description
class BinaryFocal(LabelLoss):
    r"""Focal loss of binary labels, mean over the labels; with :math:`p_d = \sigma(z_d)`,

    .. math:: \ell = -\frac1D \sum_d \left[ y_d (1-p_d)^\gamma \log p_d + (1-y_d) p_d^\gamma \log(1-p_d) \right].

    Parameters
    ----------
    gamma : float
        Exponent, at least 0; 0 gives binary cross-entropy.

    Lin et al. 2017, eq. 4; their :math:`\alpha` is ``class_weight``.
    """

    name: ClassVar[str] = "binary_focal"
    ranges: ClassVar[Mapping[str, str]] = {"gamma": "[0, inf)"}
    _: KW_ONLY
    gamma: float = 2.0

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        holds, fails = focused(softplus(-z), self.gamma), focused(softplus(z), self.gamma)
        return np.mean(times(y, holds) + times(1.0 - y, fails), axis=1)
