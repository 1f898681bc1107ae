"""Squared losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.losses.loss import Loss
from madaline.losses.targets import matched

if TYPE_CHECKING:
    from madaline.graph.arrays import Array


@description
class MSE(Loss):
    r"""Squared error, mean over the outputs, :math:`\ell = \frac1D \sum_d (z_d - y_d)^2`. No factor 1/2.

    Lecture rows A4, D2.

    Examples
    --------
    >>> float(MSE()(np.array([[1.0], [3.0]]), np.array([0.0, 1.0])))
    2.5
    """

    name: ClassVar[str] = "mse"

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        return np.mean(np.square(z - y), axis=1)


@description
class HalfMSE(Loss):
    r"""Half the squared error, :math:`\ell = \frac{1}{2D} \sum_d (z_d - y_d)^2`: its gradient is the residual.

    The :math:`1/2m` form of lecture row D2.
    """

    name: ClassVar[str] = "half_mse"

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = matched(prediction, target)
        return 0.5 * np.mean(np.square(z - y), axis=1)
