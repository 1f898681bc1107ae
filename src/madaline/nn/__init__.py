"""Layers, activations and initializers.

- Layers: ``Linear``, ``BatchNorm``, ``Dropout``, ``Residual``, ``Embedding``, ``Sequential`` ..., and one class for
  each activation: ``ReLU``, ``Swish`` ...; ``LAYERS`` holds the layers by name
- ``mlp``: a multilayer perceptron from a few arguments
- ``Layer``, ``Param``: to write a layer
- ``activation``, ``as_activation``, ``ACTIVATIONS``: custom activations, all activations by name
- ``activations``: activations as functions, such as ``md.nn.activations.relu``
- ``initializers``: initial weights, such as ``md.nn.initializers.Orthogonal()``

The classes of layers and activations are taken from the registries: a new one only needs to be defined.

For readers of the source: start with ``activations.py``, then ``layers/linear.py`` and ``network.py``.
"""

from madaline.nn import activations, initializers, layers  # noqa: F401 - layers fill their registry
from madaline.nn.activation_function import ACTIVATIONS, activation, as_activation
from madaline.nn.layer import LAYERS, Layer, Param
from madaline.nn.layers.activation import layer_class
from madaline.nn.layers.mlp import mlp

_CLASSES = {kind.__name__: kind for kind in LAYERS} | {a.title: layer_class(a.name) for a in ACTIVATIONS}
globals().update(_CLASSES)

__all__ = [
    "ACTIVATIONS",
    "LAYERS",
    "Layer",
    "Param",
    "activation",
    "activations",
    "as_activation",
    "initializers",
    "mlp",
]
__all__ += sorted(_CLASSES)  # noqa: PLE0605 - computed, so that a layer or activation is named in one place
