"""Layers without parameters that change at most the shape: Input, Identity, Flatten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import show
from madaline.nn.layer import Layer

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Identity(Layer):
    """Return the input, :math:`y = x`."""

    name: ClassVar[str] = "identity"
    takes_several: ClassVar[bool] = True
    takes: ClassVar[str] = "anything"

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return x


@description
class Input(Layer):
    """Return the input, :math:`y = x`, and declare the shape of a row, so that ``net.init()`` needs no data.

    Examples
    --------
    >>> import madaline as md
    >>> md.Sequential(md.nn.Input(20), md.Linear(3)).init().params["1.W"].shape
    (20, 3)
    """

    name: ClassVar[str] = "input"
    takes: ClassVar[str] = "anything"

    shape: tuple[int, ...]

    def __init__(self, *shape: int, trainable: bool = True) -> None:
        sizes = tuple(shape)
        if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0 for size in sizes):
            raise ConfigError(f"Input{sizes} needs the shape of one row: Input(20), Input(28, 28).")
        self._set(shape=tuple(int(size) for size in sizes), trainable=trainable)

    @classmethod
    def rebuilt(cls, **values: Any) -> Self:
        return cls(*values.pop("shape", ()), **values)

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        if x.shape[1:] != self.shape:
            raise ShapeError(f"A row must have shape {self.shape}, but has shape {show(x.shape[1:])}.")
        return x

    def own_inputs(self) -> Any:
        return self.shape

    def __repr__(self) -> str:
        return f"Input({', '.join(map(str, self.shape))})"


@description
class Flatten(Layer):
    r"""Flatten all axes of a row, :math:`y = \mathrm{vec}(x)`: (n, 28, 28) becomes (n, 784).

    Examples
    --------
    >>> import madaline as md
    >>> md.nn.Flatten().init((28, 28)).network.out_shape
    (n, 784)
    """

    name: ClassVar[str] = "flatten"
    takes: ClassVar[str] = "anything"

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Any:
        return x.reshape((x.shape[0], int(np.prod(x.shape[1:], dtype=int))))
