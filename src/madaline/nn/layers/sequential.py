"""A sequence of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

from madaline.description import description
from madaline.errors import ConfigError
from madaline.nn import activation_function as formulas
from madaline.nn.layer import Layer
from madaline.nn.layers.activation import Activation

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context

LayerLike = Layer | str | Callable[[Any], Any]
"A layer, the name of an activation, or a function of one array."


def as_layer(thing: LayerLike) -> Layer:
    """Convert a layer, the name of an activation or a function of one array to a layer."""
    if isinstance(thing, Layer):
        return thing
    if isinstance(thing, type) and issubclass(thing, Layer):
        raise ConfigError(f"{thing.__name__} is a class. Pass a layer: {thing.__name__}(...).")
    return Activation(thing)


@description
class Sequential(Layer):
    r"""A sequence of layers, :math:`y = f_k(\dots f_2(f_1(x)))`: each takes the output of the one before.

    Parameters
    ----------
    *layers : Layer, str or callable
        Strings and functions are activations. Layer ``k`` has the path ``"k"``; its weights have the path ``"k.W"``.

    Examples
    --------
    >>> import madaline as md
    >>> net = md.Sequential(md.Linear(64), "relu", md.Linear(10))
    >>> len(net), net[1], net[:2]
    (3, ReLU(), Sequential(Linear(64), ReLU()))
    >>> print(net.table(784))
    layer  kind        output   parameters    flops
    0      Linear(64)  (n, 64)      50,240  100,416
    1      ReLU()      (n, 64)           0       64
    2      Linear(10)  (n, 10)         650    1,290
    total                           50,890  101,770
    """

    name: ClassVar[str] = "sequential"
    takes_several: ClassVar[bool] = True
    takes: ClassVar[str] = "anything"

    layers: tuple[Layer, ...]

    def __init__(self, *layers: LayerLike, trainable: bool = True) -> None:
        self._set(layers=tuple(as_layer(layer) for layer in layers), trainable=trainable)

    @classmethod
    def rebuilt(cls, **values: Any) -> Self:
        return cls(*values.pop("layers", ()), **values)

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Any:
        met: list[formulas.ActivationFunction | None] = [None]  # by the output of each layer, the last one first
        for layer in reversed(self.layers[1:]):
            met.append(layer.first_activation() or met[-1])
        for position, layer in enumerate(self.layers):
            x = context.run(str(position), layer, x, following=met[len(self.layers) - 1 - position])
        return x

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        return tuple((str(position), layer) for position, layer in enumerate(self.layers))

    def first_activation(self) -> formulas.ActivationFunction | None:
        return first_activation(self.layers)

    def own_inputs(self) -> Any:
        return self.layers[0].own_inputs() if self.layers else None

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Layer:
        if isinstance(index, slice):
            return Sequential(*self.layers[index], trainable=self.trainable)
        return self.layers[index]

    def __repr__(self) -> str:
        shown = [repr(layer) for layer in self.layers] + ([] if self.trainable else ["trainable=False"])
        return f"Sequential({', '.join(shown)})"


def first_activation(layers: tuple[Layer, ...]) -> formulas.ActivationFunction | None:
    """The first activation in a sequence of layers."""
    return next((found for layer in layers if (found := layer.first_activation()) is not None), None)
