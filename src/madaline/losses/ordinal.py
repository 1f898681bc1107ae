"""Loss for ordered classes: cumulative logits."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.primitives.elementwise import sigmoid, softplus
from madaline.graph.shapes import Shape
from madaline.losses.classes import ClassLoss, expected
from madaline.losses.loss import as_floats
from madaline.losses.targets import Target, columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array


@description
class Ordinal(ClassLoss):
    r"""Log-loss of ordered classes, from :math:`K-1` outputs for :math:`K` classes,

    .. math:: P(y \le k) = \sigma(c_k),\quad c_0 = z_0,\quad c_k = c_{k-1} + \log(1 + e^{z_k}),\qquad
              \ell = -\log P(y).

    The cut points ``c`` increase by construction, so no class can have a negative probability.

    Notes
    -----
    The probability between two cut points is computed as
    :math:`\sigma(c_k) - \sigma(c_{k-1}) = \sigma(c_k)\,\sigma(-c_{k-1})\,\sigma(z_k)`, whose logarithm is a sum of
    three log-sigmoids without cancellation. Targets are class indices or probabilities; ``predict`` returns the
    probability of each class. Cumulative logits: McCullagh 1980, eq. 2.3. There one output shifts all cut points
    together; here each cut point can depend on the input.
    """

    name: ClassVar[str] = "ordinal"
    out_activation: ClassVar[str] = "own"

    def rows(self, prediction: Array, target: Array) -> Array:
        z = columns(prediction)
        c = cuts(z)
        none = np.zeros_like(z[:, :1])
        below = np.concatenate([softplus(-c), none], axis=1)
        above = np.concatenate([none, softplus(c)], axis=1)
        apart = np.concatenate([none, softplus(-z[:, 1:]), none], axis=1)
        return expected(target, below + above + apart)

    def n_classes(self, prediction_shape: Shape) -> int:
        return super().n_classes(prediction_shape) + 1

    def n_outputs(self, target: Target) -> int:
        return target.classes(self.name) - 1

    def predict(self, raw: Array | ArrayLike) -> Array:
        z = columns(as_floats(raw))
        c = cuts(z)
        one = np.ones_like(z[:, :1])
        below = np.concatenate([sigmoid(c), one], axis=1)
        above = np.concatenate([one, sigmoid(-c)], axis=1)
        return below * above * np.concatenate([one, sigmoid(z[:, 1:]), one], axis=1)


def cuts(z: Array) -> Array:
    """The increasing cut points."""
    return np.cumsum(np.concatenate([z[:, :1], softplus(z[:, 1:])], axis=1), axis=1)
