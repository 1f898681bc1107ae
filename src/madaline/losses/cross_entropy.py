"""Cross-entropies, from logits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.numpy_api.reduce import logsumexp_of_shifted
from madaline.graph.primitives.elementwise import softplus
from madaline.losses.classes import ClassLoss, LabelLoss, expected
from madaline.losses.loss import below_largest, times
from madaline.losses.targets import matched

if TYPE_CHECKING:
    from madaline.graph.arrays import Array


def negative_log_softmax(z: Array) -> Array:
    r""":math:`\log\sum_j e^{z_j} - z_k` for every class ``k``."""
    z = below_largest(z)
    return logsumexp_of_shifted(z, axis=1, keepdims=True) - z


@description
class CrossEntropy(ClassLoss):
    r"""Log-loss of several classes, from logits, :math:`\ell = \log\sum_j e^{z_j} - \sum_k p_k z_k`.

    Parameters
    ----------
    label_smoothing : float
        Share ``s`` of the target that is spread evenly over the classes, :math:`p \leftarrow (1-s) p + s/K`;
        from 0 to below 1.

    Notes
    -----
    Targets are class indices or probabilities. Class weights are row weights (the mean weight under the row's
    probabilities), also with label smoothing; PyTorch weights each term of the smoothed sum instead. Lecture rows A4,
    D2; smoothing: Szegedy et al. 2016, section 7.

    Examples
    --------
    >>> float(CrossEntropy()(np.array([[0.0, 0.0], [1e4, 0.0]]), [1, 0]).round(4))
    0.3466
    """

    name: ClassVar[str] = "cross_entropy"
    ranges: ClassVar[Mapping[str, str]] = {"label_smoothing": "[0, 1)"}
    _: KW_ONLY
    label_smoothing: float = 0.0

    def rows(self, prediction: Array, target: Array) -> Array:
        z = below_largest(prediction)
        s = self.label_smoothing
        own = expected(target, z)
        return logsumexp_of_shifted(z, axis=1) - ((1.0 - s) * own + s * np.mean(z, axis=1) if s else own)


@description
class BinaryCrossEntropy(LabelLoss):
    r"""Log-loss of binary labels, from logits, mean over the labels,

    .. math:: \ell = \frac1D \sum_d \left[ y_d \log(1+e^{-z_d}) + (1-y_d) \log(1+e^{z_d}) \right].

    Parameters
    ----------
    label_smoothing : float
        Share ``s`` of the target that is spread over 0 and 1, :math:`y \leftarrow (1-s) y + s/2`; from 0 to below 1.

    Notes
    -----
    One output means two classes; several outputs are multi-label. Targets are 0, 1 or probabilities. Each term is
    positive, so nothing cancels: a confident prediction keeps the digits of its small loss. Lecture rows A4, D2.
    """

    name: ClassVar[str] = "binary_cross_entropy"
    ranges: ClassVar[Mapping[str, str]] = {"label_smoothing": "[0, 1)"}
    _: KW_ONLY
    label_smoothing: float = 0.0

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        s = self.label_smoothing
        y = (1.0 - s) * y + 0.5 * s if s else y
        return np.mean(times(y, softplus(-z)) + times(1.0 - y, softplus(z)), axis=1)


@description
class KLDivergence(ClassLoss):
    r"""Divergence of the predicted probabilities from the target's, :math:`\ell = \sum_k p_k \log(p_k / q_k)`, with
    :math:`q` the softmax of the outputs.

    Cross-entropy minus the entropy of the target: the gradients are equal, and it is 0 for a perfect prediction.
    Targets are probabilities, one column per class, or class indices.
    """

    name: ClassVar[str] = "kl_divergence"

    def rows(self, prediction: Array, target: Array) -> Array:
        if target.ndim == 1:  # a certain class has no entropy
            return expected(target, negative_log_softmax(prediction))
        z, p = matched(prediction, target)
        log_p = np.log(np.where(p == 0.0, 1.0, p))
        return np.sum(times(p, log_p + negative_log_softmax(z)), axis=1)
