"""Parallel branches, and layers that join them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import show
from madaline.graph.tree import flatten
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.layer import Layer, last_axis
from madaline.nn.layers.sequential import LayerLike, as_layer

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Parallel(Layer):
    """Parallel branches, each with its own input or all with the same one, :math:`y_i = f_i(x_i)`.

    Parameters
    ----------
    *layers : Layer
        Branches by position; the output is a tuple.
    **named : Layer
        Branches by name; the output is a dict. Each branch takes the input of its name from a dict of inputs.

    Notes
    -----
    A single array is the input of every branch; a tuple or a dict is distributed. A net with several inputs begins with
    ``Parallel``, a net with several outputs ends with it.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> net = md.Sequential(md.Parallel(shop=md.Embedding(50, 4), numbers=md.nn.Identity()), md.Concat(), md.Linear(1))
    >>> model = net.init({"shop": np.array([3, 7]), "numbers": np.ones((2, 5))})
    >>> model({"shop": np.array([3, 7]), "numbers": np.ones((2, 5))}).shape
    (2, 1)
    """

    name: ClassVar[str] = "parallel"
    takes_several: ClassVar[bool] = True
    takes: ClassVar[str] = "anything"

    layers: tuple[Layer, ...]
    names: tuple[str, ...] = ()

    def __init__(self, /, *layers: LayerLike, trainable: bool = True, **named: LayerLike) -> None:
        if bool(layers) == bool(named):
            raise ConfigError(
                f"Parallel got {len(layers)} layers by position and {len(named)} by name. Pass all of them one way."
            )
        if wrong := [name for name in named if not name or "." in name]:
            raise ConfigError(f"Parallel: {wrong[0]!r} cannot be the name of a branch: dots separate paths.")
        branches = tuple(as_layer(layer) for layer in (*layers, *named.values()))
        self._set(layers=branches, names=tuple(named), trainable=trainable)

    @classmethod
    def rebuilt(cls, **values: Any) -> Self:
        layers, names = values.pop("layers", ()), values.pop("names", ())
        if names and len(names) != len(layers):
            raise ConfigError(f"Parallel has {len(layers)} layers and {len(names)} names.")
        return cls(**dict(zip(names, layers, strict=True)), **values) if names else cls(*layers, **values)

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Any:
        given = self._dealt(x)
        outputs = [context.run(name, layer, item) for (name, layer), item in zip(self.parts(), given, strict=True)]
        return dict(zip(self.names, outputs, strict=True)) if self.names else tuple(outputs)

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        names = self.names or tuple(str(position) for position in range(len(self.layers)))
        return tuple(zip(names, self.layers, strict=True))

    def _dealt(self, x: Any) -> list[Any]:
        if isinstance(x, dict):
            missing = [name for name in self.names if name not in x]
            if missing or not self.names or len(x) != len(self.names):
                raise ShapeError(
                    f"The inputs are named {', '.join(map(repr, x))}, the branches of Parallel "
                    f"{', '.join(map(repr, self.names)) or 'have no names'}. Give each branch the name of its input."
                )
            return [x[name] for name in self.names]
        if isinstance(x, (tuple, list)):
            if len(x) != len(self.layers):
                raise ShapeError(f"Parallel has {len(self.layers)} branches and got {len(x)} inputs.")
            return list(x)
        return [x] * len(self.layers)

    def first_activation(self) -> ActivationFunction | None:
        return self.layers[0].first_activation()

    def own_inputs(self) -> Any:
        inputs = [layer.own_inputs() for layer in self.layers]
        if any(item is None for item in inputs):
            return None
        return dict(zip(self.names, inputs, strict=True)) if self.names else tuple(inputs)

    def __repr__(self) -> str:
        shown = [f"{name}={layer!r}" if self.names else repr(layer) for name, layer in self.parts()]
        return f"Parallel({', '.join(shown + ([] if self.trainable else ['trainable=False']))})"


@description
class Concat(Layer):
    r"""Concatenate several inputs along the last axis, :math:`y = [x_1, \dots, x_k]`."""

    name: ClassVar[str] = "concat"
    takes_several: ClassVar[bool] = True

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Array:
        arrays = flatten(x)[0]
        for item in arrays:
            last_axis(item.shape)
        if any(item.shape[:-1] != arrays[0].shape[:-1] for item in arrays):
            shapes = ", ".join(show(item.shape) for item in arrays)
            raise ShapeError(f"Inputs of shapes {shapes} cannot be concatenated: all axes but the last must be equal.")
        return np.concatenate(arrays, axis=-1)


@description
class Add(Layer):
    r"""Add several inputs of equal shape, :math:`y = \sum_i x_i`."""

    name: ClassVar[str] = "add"
    takes_several: ClassVar[bool] = True

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Array:
        total, *rest = flatten(x)[0]
        for item in rest:
            if item.shape != total.shape:
                raise ShapeError(f"Inputs of shapes {show(total.shape)} and {show(item.shape)} cannot be added.")
            total = total + item
        return total
