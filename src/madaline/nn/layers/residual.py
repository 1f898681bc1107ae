"""Skip connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from madaline.description import description
from madaline.errors import ShapeError
from madaline.graph.shapes import show
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.activations import identity
from madaline.nn.layer import Layer
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import as_norm
from madaline.nn.layers.sequential import LayerLike, Sequential

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Residual(Layer):
    r"""Layers with a skip connection, :math:`y = x + f(x)`; with a norm, :math:`y = x + f(\mathrm{norm}(x))`.

    If ``f`` changes the width, the skip connection is a linear map, :math:`y = x W_s + f(x)`. He et al. 2016, eq. 1 and
    2; pre-norm: Xiong et al. 2020. Lecture rows C9, D9.

    Parameters
    ----------
    *layers : Layer, str or callable
        The layers of ``f``, as for :class:`~madaline.nn.layers.sequential.Sequential`.
    norm : str or Layer, optional
        Norm of the input of ``f`` (pre-norm): ``"batch"``, ``"layer"``, ``"rms"`` ... or a layer.
    projection : {"auto", "always", "never"}
        Whether the skip connection is a linear map without bias, at the path ``projection``; "auto" if widths differ.

    Examples
    --------
    >>> import madaline as md
    >>> block = md.Residual(md.Linear(8), "relu", md.Linear(8), norm="layer")
    >>> list(block.init(8).params)
    ['norm.weight', 'norm.bias', '0.W', '0.b', '2.W', '2.b']
    """

    name: ClassVar[str] = "residual"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"projection": ("auto", "always", "never")}

    layers: tuple[Layer, ...]
    norm: Layer | None = None
    projection: Literal["auto", "always", "never"] = "auto"

    def __init__(
        self,
        *layers: LayerLike,
        norm: str | Layer | None = None,
        projection: Literal["auto", "always", "never"] = "auto",
        trainable: bool = True,
    ) -> None:
        body = Sequential(*layers).layers
        self._set(layers=body, norm=as_norm(norm), projection=projection, trainable=trainable)

    @classmethod
    def rebuilt(cls, **values: Any) -> Self:
        return cls(*values.pop("layers", ()), **values)

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Any:
        inside = x
        if self.norm is not None:
            inside = context.run("norm", self.norm, inside)
        y = Sequential(*self.layers)(inside, {}, context)
        if self.projection == "always" or (self.projection == "auto" and y.shape != x.shape):
            x = context.run("projection", Linear(y.shape[-1], bias=False), x, following=identity)
        if x.shape != y.shape:
            raise ShapeError(f"The layers inside return {show(y.shape)}, which cannot be added to {show(x.shape)}.")
        return x + y

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        return (*(() if self.norm is None else (("norm", self.norm),)), *Sequential(*self.layers).parts())

    def first_activation(self) -> ActivationFunction | None:
        return identity

    def __repr__(self) -> str:
        shown = [repr(layer) for layer in self.layers]
        shown += [] if self.norm is None else [f"norm={self.norm!r}"]
        shown += [] if self.projection == "auto" else [f"projection={self.projection!r}"]
        shown += [] if self.trainable else ["trainable=False"]
        return f"Residual({', '.join(shown)})"
