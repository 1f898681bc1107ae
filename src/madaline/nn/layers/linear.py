"""Affine maps: Linear, and Maxout, the maximum of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from madaline.description import description
from madaline.graph.shapes import Shape
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.activations import identity, maxout, relu
from madaline.nn.initializers import Initializer, auto_bias
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Linear(Layer):
    r"""Affine map of the last axis, :math:`y = x W + b`; ``W`` is (n_in, n_out). Lecture rows A2, C1.

    Parameters
    ----------
    n_out : int
        Number of units.
    bias : bool, default True
        Whether to add a bias ``b``.
    init : str or Initializer, default "auto"
        Initializer of ``W``. ``"auto"`` depends on the activation that follows (He for rectifiers, Xavier for
        saturating units). The field is ``weight_init``, since ``init`` is the method that makes a model.
    bias_init : str or Initializer, default "auto"
        Initializer of ``b``. ``"auto"`` is 0, except for units with at most 12 inputs and an activation after them,
        whose hinges are spread (:func:`~madaline.nn.initializers.auto_bias`).

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> model = md.Linear(2).init(3)
    >>> model.params["W"][...] = 1.0
    >>> model(np.array([[1.0, 2.0, 3.0]]))
    array([[6., 6.]], dtype=float32)
    """

    name: ClassVar[str] = "linear"
    counts: ClassVar[tuple[str, ...]] = ("n_out",)

    n_out: int
    bias: bool = True
    weight_init: str | Initializer = "auto"
    bias_init: str | Initializer = "auto"

    def __init__(
        self,
        n_out: int,
        *,
        bias: bool = True,
        init: str | Initializer = "auto",
        bias_init: str | Initializer = "auto",
        trainable: bool = True,
    ) -> None:
        weight_init = self._initializer("init", init)
        bias_init = self._initializer("bias_init", bias_init)
        self._set(n_out=n_out, bias=bias, weight_init=weight_init, bias_init=bias_init, trainable=trainable)

    def params(self, in_shape: Shape) -> dict[str, Param]:
        params = {"W": Param(matrix(in_shape, self.n_out), self.weight_init, decays=True)}
        return params | {"b": Param((self.n_out,), self.bias_init, n_in=last_axis(in_shape))} if self.bias else params

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return self.sums(x, p)

    def sums(self, x: Array, p: Mapping[str, Array]) -> Array:
        return affine(x, p)

    def first_activation(self) -> ActivationFunction | None:
        return identity


@description
class Maxout(Layer):
    r"""Maximum of ``k`` affine maps for each unit, :math:`y_j = \max_i\,(x W + b)_{ij}`, i = 1 .. k.

    A unit can learn any convex piecewise linear function with ``k`` pieces; no activation is needed after it.
    Goodfellow et al. 2013, section 2. Lecture row B5.

    Parameters
    ----------
    n_out : int
        Number of units; ``W`` is (n_in, k * n_out), the ``k`` pieces of a unit side by side.
    k : int, default 2
        Number of pieces.
    bias, init, bias_init
        See :class:`Linear`; the default of ``init`` is ``"he_normal"``.
    """

    name: ClassVar[str] = "maxout"
    counts: ClassVar[tuple[str, ...]] = ("n_out", "k")

    n_out: int
    k: int = 2
    bias: bool = True
    weight_init: str | Initializer = "he_normal"
    bias_init: str | Initializer = "auto"

    def __init__(
        self,
        n_out: int,
        k: int = 2,
        *,
        bias: bool = True,
        init: str | Initializer = "he_normal",
        bias_init: str | Initializer = "auto",
        trainable: bool = True,
    ) -> None:
        weight_init = self._initializer("init", init)
        bias_init = self._initializer("bias_init", bias_init)
        self._set(n_out=n_out, k=k, bias=bias, weight_init=weight_init, bias_init=bias_init, trainable=trainable)

    def params(self, in_shape: Shape) -> dict[str, Param]:
        n_pieces = self.k * self.n_out
        params = {"W": Param(matrix(in_shape, n_pieces), self.weight_init, decays=True)}
        # The maximum is an activation: pieces need different hinges, whatever follows the layer.
        bias_init = auto_bias(relu, last_axis(in_shape)) if self.bias_init == "auto" else self.bias_init
        return params | {"b": Param((n_pieces,), bias_init)} if self.bias else params

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return maxout(self.sums(x, p), self.k)

    def sums(self, x: Array, p: Mapping[str, Array]) -> Array:
        return affine(x, p)

    def first_activation(self) -> ActivationFunction | None:
        return identity


def affine(x: Array, p: Mapping[str, Array]) -> Array:
    """Weighted sums, plus the bias if there is one."""
    y = x @ p["W"]
    return y + p["b"] if "b" in p else y


def matrix(in_shape: Shape, n_out: int) -> tuple[int, int]:
    """The shape of weights for these inputs."""
    return last_axis(in_shape), n_out
