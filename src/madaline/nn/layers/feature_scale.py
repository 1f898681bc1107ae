"""A learned factor for each input, which learns faster than the weights behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from madaline.description import description
from madaline.graph.arrays import Array
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Constant
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.nn.context import Context


@description
class FeatureScale(Layer):
    r"""A learned factor for each column, :math:`y_j = r\,u_j x_j`, with :math:`u_j = 1/r` before training.

    An optimizer whose steps do not depend on the size of the gradient, such as Adam, changes the factor
    :math:`r\,u` by :math:`r` times its learning rate, so that the net soon finds out which columns matter.

    Parameters
    ----------
    rate : float, default 6
        The :math:`r`, by which the learning rate of the factors is multiplied.

    Notes
    -----
    The scaling layer of RealMLP (Holzmüller, Grinsztajn & Steinwart 2024, section 3), which has a separate learning
    rate in place of the :math:`r`.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.nn.FeatureScale().init(2)(np.array([[1.0, 2.0]])).round(6)
    array([[1., 2.]], dtype=float32)
    """

    name: ClassVar[str] = "feature_scale"
    ranges: ClassVar[Mapping[str, str]] = {"rate": "(0, inf)"}

    rate: float = 6.0

    def params(self, in_shape: Shape) -> dict[str, Param]:
        return {"u": Param((last_axis(in_shape),), Constant(1.0 / self.rate), decays=True)}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return x * (self.rate * p["u"])
