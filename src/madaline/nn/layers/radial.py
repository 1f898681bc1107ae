"""Radial units, whose output depends on the distance to a centre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Normal
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context

LEAST = 1e-4
"""Added to squared distances, so that the derivative at a centre is 0 instead of undefined, and rounding of a squared
distance near 0 changes the output little."""


@description
class Radial(Layer):
    r"""Radial units, :math:`y_j = \exp(-\sqrt{|x - c_j|^2 + \varepsilon}\,/\,r)`; the centres ``c`` are (n_in, n_out).

    A unit is close to 1 near its centre and fades with the distance. A ``Linear`` layer after it makes a radial basis
    function network, which learns local structure that other nets smooth out; a ``Linear`` layer before it learns in
    which directions distances count.

    Parameters
    ----------
    n_out : int
        Number of units.
    radius : float, default 1
        The distance at which a unit has fallen to 1/e.
    std : float, default 1
        Standard deviation of the centres before training, for columns of about unit scale.

    Notes
    -----
    Moody & Darken 1989, "Fast learning in networks of locally-tuned processing units", with the exponential of the
    distance (the Laplace kernel) in place of that of its square. Distances are computed by a matrix product,
    :math:`|x|^2 - 2 x c + |c|^2`, and :math:`\varepsilon = 10^{-4}`. Lecture row C3.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> model = md.nn.Radial(2).init(1)
    >>> model.params["c"] = [[0.0, 2.0]]
    >>> model(np.array([[0.0], [1.0]])).round(2)
    array([[0.99, 0.14],
           [0.37, 0.37]], dtype=float32)
    """

    name: ClassVar[str] = "radial"
    counts: ClassVar[tuple[str, ...]] = ("n_out",)
    ranges: ClassVar[Mapping[str, str]] = {"radius": "(0, inf)", "std": "[0, inf)"}

    n_out: int = 16
    _: KW_ONLY
    radius: float = 1.0
    std: float = 1.0

    def params(self, in_shape: Shape) -> dict[str, Param]:
        return {"c": Param((last_axis(in_shape), self.n_out), Normal(self.std))}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        c = p["c"]
        size = np.sum(x * x, axis=-1, keepdims=True) + LEAST  # what can be done for a row is not done for each unit
        squared = (-2.0 * x) @ c + np.sum(c * c, axis=0) + size
        return np.exp(np.sqrt(np.maximum(squared, LEAST)) * (-1.0 / self.radius))
