"""Weight normalisation: weights as length and direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError
from madaline.graph.shapes import Shape
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.layer import Layer, Param

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class WeightNorm(Layer):
    r"""A layer whose weights are a direction times a length, :math:`w_j = g_j\,v_j/\lVert v_j\rVert` for each unit j.

    ``V`` is initialized like the layer's ``W``, ``g`` with the norms of its columns, so initially nothing changes.
    Salimans & Kingma 2016, eq. 2. Lecture rows C7, D5.

    Parameters
    ----------
    layer : Layer
        A layer with weights ``W``, such as :class:`~madaline.nn.layers.linear.Linear`.

    Examples
    --------
    >>> import madaline as md
    >>> list(md.nn.WeightNorm(md.Linear(4)).init(3).params)
    ['V', 'g', 'b']
    """

    name: ClassVar[str] = "weight_norm"

    layer: Layer

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.layer, Layer):
            raise ConfigError(f"WeightNorm({self.layer!r}) needs a layer, for example WeightNorm(Linear(64)).")
        if self.layer.takes != "floats":
            raise ConfigError(f"WeightNorm({self.layer!r}): a table of categories has no units to normalise.")

    def params(self, in_shape: Shape) -> dict[str, Param]:
        params = self.layer.params(in_shape)
        if "W" not in params:
            raise ConfigError(f"{self.layer!r} has no weights W to normalise.")
        W = params.pop("W")
        lengths = Param((W.shape[-1],), "ones")
        return {"V": Param(W.shape, W.init, W.decays), "g": lengths, **params}

    def state(self, in_shape: Shape) -> dict[str, Param]:
        return self.layer.state(in_shape)

    def start(self, p: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return p | {"g": np.sqrt(np.sum(p["V"] ** 2, axis=0))}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        V, g = p["V"], p["g"]
        W = V * (g / np.sqrt(np.sum(V * V, axis=0)))
        return self.layer(x, {**p, "W": W}, context)

    def sums(self, x: Array, p: Mapping[str, Array]) -> Array:
        return self.layer.sums(x, {**p, "W": p["V"]})

    def first_activation(self) -> ActivationFunction | None:
        return self.layer.first_activation()
