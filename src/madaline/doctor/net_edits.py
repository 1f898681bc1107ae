"""Changed copies of nets: other activations, initializers, dropout or scaling; the original stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from madaline.nn.layer import Layer
from madaline.nn.layers.activation import Activation
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import BatchNorm, LayerNorm
from madaline.nn.layers.reshape import Identity
from madaline.nn.layers.residual import Residual
from madaline.nn.layers.sequential import Sequential
from madaline.nn.layers.standardize import Standardize

Edit = Callable[[Layer], Sequence[Layer]]
"What a layer is replaced by: one layer, none or several."


def chain(net: Layer) -> list[Layer]:
    """The layers of a net in order, with those inside of sequences and residual blocks in their place."""
    if isinstance(net, (Sequential, Residual)):
        return [inner for layer in net.layers for inner in chain(layer)]
    return [net]


def edited(net: Layer, edit: Edit) -> Layer:
    """A copy of the net in which every simple layer is replaced."""
    if isinstance(net, Sequential):
        return Sequential(*_edited(net.layers, edit), trainable=net.trainable)
    if isinstance(net, Residual):
        body = _edited(net.layers, edit)
        return Residual(*body, norm=net.norm, projection=net.projection, trainable=net.trainable)
    found = list(edit(net))
    return found[0] if len(found) == 1 else Sequential(*found)


def _edited(layers: Sequence[Layer], edit: Edit) -> Iterator[Layer]:
    for layer in layers:
        if isinstance(layer, (Sequential, Residual)):
            yield edited(layer, edit)
        else:
            yield from edit(layer)


def last_activation(net: Layer) -> Activation | None:
    """The activation after the last linear layer, if there is one that changes the output."""
    last = chain(net)[-1]
    return last if isinstance(last, Activation) and last.function.name != "identity" else None


def without_last_activation(net: Layer) -> Layer:
    """The net without the activation of its output."""
    last = last_activation(net)
    return edited(net, lambda layer: [] if layer is last else [layer])


def hidden_activations(net: Layer) -> list[Activation]:
    """The activations before the last linear layer."""
    layers = chain(net)
    end = max((number for number, layer in enumerate(layers) if isinstance(layer, Linear)), default=0)
    return [layer for layer in layers[:end] if isinstance(layer, Activation)]


def with_activation(net: Layer, name: str) -> Layer:
    """The net with another activation in all hidden layers, and weights that fit it."""
    hidden = {id(layer) for layer in hidden_activations(net)}
    return with_default_init(edited(net, lambda layer: [Activation(name)] if id(layer) in hidden else [layer]))


def with_nonlinearities(net: Layer, name: str = "relu") -> Layer:
    """The net with an activation between any two linear layers that have none between them."""
    layers = chain(net)
    insert: set[int] = set()
    replaced: set[int] = set()
    previous: Layer | None = None
    found = False
    for layer in layers:
        if _is_identity(layer):
            replaced.add(id(layer))
            found = True
        elif isinstance(layer, Activation):
            found = True
        elif isinstance(layer, Linear):
            if previous is not None and not found:
                insert.add(id(previous))
            previous, found = layer, False

    def edit(layer: Layer) -> Sequence[Layer]:
        if id(layer) in replaced:
            return [Activation(name)]
        return [layer, Activation(name)] if id(layer) in insert else [layer]

    return edited(net, edit)


def is_linear(net: Layer) -> bool:
    """Whether the net has several linear layers and nothing nonlinear between them."""
    layers = chain(net)
    only = all(
        isinstance(layer, (Linear, Dropout, Standardize, BatchNorm)) or _is_identity(layer) for layer in layers[:-1]
    )
    return only and sum(isinstance(layer, Linear) for layer in layers) > 1


def _is_identity(layer: Layer) -> bool:
    """Whether a layer stands where an activation would, and changes nothing."""
    return isinstance(layer, Identity) or (isinstance(layer, Activation) and layer.function.name == "identity")


def with_default_init(net: Layer) -> Layer:
    """The net with initializers that fit the activations."""

    def edit(layer: Layer) -> Sequence[Layer]:
        if isinstance(layer, Linear):
            return [Linear(layer.n_out, bias=layer.bias, trainable=layer.trainable)]
        return [layer]

    return edited(net, edit)


def with_zero_output(net: Layer) -> Layer:
    """The net with a last linear layer that starts at 0, so that the first prediction is the same for every row."""
    linears = [layer for layer in chain(net) if isinstance(layer, Linear)]

    def edit(layer: Layer) -> Sequence[Layer]:
        return [Linear(layer.n_out, bias=layer.bias, init="zeros")] if layer is linears[-1] else [layer]

    return edited(net, edit) if linears else net


def with_width(net: Layer, width: int) -> Layer:
    """The net with hidden layers of at least this width."""
    linears = [layer for layer in chain(net) if isinstance(layer, Linear)]

    def edit(layer: Layer) -> Sequence[Layer]:
        if isinstance(layer, Linear) and layer is not linears[-1] and layer.n_out < width:
            return [Linear(width, bias=layer.bias, init=layer.weight_init)]
        return [layer]

    return edited(net, edit)


def with_dropout(net: Layer, p: float) -> Layer:
    """The net with at most this dropout; 0 removes it."""

    def edit(layer: Layer) -> Sequence[Layer]:
        if isinstance(layer, Dropout) and layer.p > p:
            return [replace(layer, p=p)] if p else []
        return [layer]

    return edited(net, edit)


def most_dropout(net: Layer) -> float:
    """The largest drop probability of the net."""
    return max((layer.p for layer in chain(net) if isinstance(layer, Dropout)), default=0.0)


def with_layer_norm(net: Layer) -> Layer:
    """The net with layer norms in place of batch norms."""
    return edited(net, lambda layer: [LayerNorm()] if isinstance(layer, BatchNorm) else [layer])


def with_usual_momentum(net: Layer) -> Layer:
    """The net with batch norms that average their statistics at the default speed."""
    usual = BatchNorm().momentum
    return edited(net, lambda layer: [replace(layer, momentum=usual)] if isinstance(layer, BatchNorm) else [layer])


def trainable(net: Layer) -> Layer:
    """The net with every layer trainable."""
    if isinstance(net, (Sequential, Residual)):
        net = replace_trainable(net)
    return edited(net, lambda layer: [layer if layer.trainable else replace_trainable(layer)])


def replace_trainable(layer: Layer) -> Layer:
    """A copy of a layer that is trained."""
    if isinstance(layer, Sequential):
        return Sequential(*layer.layers)
    if isinstance(layer, Residual):
        return Residual(*layer.layers, norm=layer.norm, projection=layer.projection)
    if isinstance(layer, Linear):
        return Linear(layer.n_out, bias=layer.bias, init=layer.weight_init, bias_init=layer.bias_init)
    return layer


def scaled_inputs(net: Layer, front: Sequence[Any] = ()) -> Layer:
    """The net after a scaling of its inputs, by default to mean 0 and standard deviation 1.

    It replaces a scaling with fixed numbers that the net begins with.
    """
    layers = net.layers if isinstance(net, Sequential) else (net,)
    if layers and isinstance(layers[0], Standardize) and layers[0].mean is not None:
        layers = layers[1:]
    return Sequential(*(front or (Standardize(),)), *layers)


def scaled_output(net: Layer, mean: Sequence[float], std: Sequence[float]) -> Layer:
    """The net followed by the map from standardised targets to targets in their own units."""
    back = Standardize(mean=[-m / s for m, s in zip(mean, std, strict=True)], std=[1.0 / s for s in std])
    return Sequential(*(net.layers if isinstance(net, Sequential) else (net,)), back)


def scales_inputs(net: Layer) -> bool:
    """Whether the first layer brings the columns to one scale, whatever they are."""
    first = chain(net)[0]
    return isinstance(first, BatchNorm) or (isinstance(first, Standardize) and first.mean is None)


def after_scaling(net: Layer, X: np.ndarray) -> np.ndarray:
    """Columns as the net gets them after a scaling with fixed numbers that it begins with."""
    first = chain(net)[0]
    if isinstance(first, Standardize) and first.mean is not None and len(first.mean) == X.shape[1]:
        return np.asarray((X - np.array(first.mean)) / np.array(first.std))
    return X
