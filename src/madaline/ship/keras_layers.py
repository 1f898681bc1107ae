"""The layers of a Keras ``Sequential``, from its JSON description."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from madaline.errors import FileFormatError
from madaline.nn.layer import Layer
from madaline.nn.layers.activation import Activation, PReLU
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.embedding import Embedding
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import BatchNorm, LayerNorm
from madaline.nn.layers.reshape import Flatten, Identity

ACTIVATIONS = {
    "hard_shrink": "hardshrink",
    "hard_silu": "hard_swish",
    "linear": "identity",
    "silu": "swish",
    "soft_shrink": "softshrink",
    **{
        name: name
        for name in (
            "celu", "elu", "gelu", "hard_sigmoid", "hard_swish", "hard_tanh", "log_sigmoid", "log_softmax", "mish",
            "relu", "relu6", "selu", "sigmoid", "softmax", "softplus", "softsign", "swish", "tanh", "tanh_shrink",
        )
    },
}  # fmt: skip
"Our names for the activations of Keras."


@dataclass(frozen=True)
class KerasLayer:
    """One layer of Keras and the layers that replace it."""

    name: str
    "Name of the layer in Keras."
    layers: tuple[Layer, ...] = ()
    arrays: tuple[str, ...] = ()
    "Names of its arrays in the first of our layers, in the order of Keras."
    constants: Mapping[str, float] | None = None
    "Arrays that Keras does not save, and their value."
    inputs: tuple[int, ...] | None = None
    "The shape of a row, if the layer defines it."
    key: str = ""
    "Name of its group in the file of weights."

    @property
    def n_arrays(self) -> int:
        """The number of its arrays in the file."""
        return len(self.arrays)

    def named(self, values: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Its arrays by our names."""
        found = dict(zip(self.arrays, values, strict=True))
        like = next(iter(found.values()), None)
        for name, value in (self.constants or {}).items():
            assert like is not None
            found[name] = np.full(like.shape, value, like.dtype)
        return found


def keras_layers(document: Any) -> list[KerasLayer]:
    """Convert a description to layers.

    Raises
    ------
    FileFormatError
        If it does not describe a Sequential of supported layers.
    """
    if not isinstance(document, Mapping) or document.get("class_name") != "Sequential":
        kind = document.get("class_name") if isinstance(document, Mapping) else type(document).__name__
        raise FileFormatError(f"The model is a {kind!r}; a Sequential is needed.")
    found: list[KerasLayer] = []
    n_of_kind: dict[str, int] = {}
    for entry in document["config"]["layers"]:
        kind, config = str(entry["class_name"]), entry["config"]
        if kind not in LAYERS:
            raise FileFormatError(f"The layer {kind} is not supported. Supported: {', '.join(sorted(LAYERS))}.")
        if not isinstance(config["name"], str):
            raise FileFormatError(f"The name of the layer {len(found)} ({kind}) is not a string.")
        try:
            found.append(replace(LAYERS[kind](config), key=_key(kind, n_of_kind.get(kind, 0))))
        except FileFormatError as error:
            raise FileFormatError(f"The layer {config.get('name')!r} ({kind}): {error}") from None
        n_of_kind[kind] = n_of_kind.get(kind, 0) + 1
    for layer, following in pairwise([*found, KerasLayer("")]):
        flat = bool(following.layers) and isinstance(following.layers[0], Flatten)
        if layer.layers and isinstance(layer.layers[0], Embedding) and not flat:
            raise FileFormatError("An Embedding must be followed by Flatten: here its vectors are concatenated.")
    return found


def _key(kind: str, number: int) -> str:
    """The name of the group of a layer, which Keras makes from its class and a number: ``dense``, ``dense_1``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", kind).lower()
    return f"{words}_{number}" if number else words


def _activation(name: Any, **parameters: Any) -> Layer:
    if name == "leaky_relu":
        return Activation("leaky_relu", slope=0.2)
    if not isinstance(name, str) or name not in ACTIVATIONS:
        known = ", ".join(sorted([*ACTIVATIONS, "leaky_relu"]))
        raise FileFormatError(f"the activation {name!r} is not supported. Supported: {known}.")
    return Activation(ACTIVATIONS[name], **parameters)


def _input(config: Any) -> KerasLayer:
    shape = config["batch_shape"][1:]
    if any(type(size) is not int for size in shape):
        raise FileFormatError(f"the shape of a row, {shape}, must be a list of integers.")
    return KerasLayer(config["name"], inputs=tuple(shape))


def _dense(config: Any) -> KerasLayer:
    layers: list[Layer] = [Linear(config["units"], bias=config["use_bias"])]
    if config["activation"] != "linear":
        layers.append(_activation(config["activation"]))
    return KerasLayer(config["name"], tuple(layers), ("W", "b") if config["use_bias"] else ("W",))


def _norm(config: Any, layer: Layer, kept: tuple[str, ...]) -> KerasLayer:
    has = {"weight": config["scale"], "bias": config["center"]}
    affine = any(has.values())
    arrays = tuple(name for name, there in has.items() if there)
    absent = {name: value for name, value in (("weight", 1.0), ("bias", 0.0)) if affine and not has[name]}
    return KerasLayer(config["name"], (layer,), (*arrays, *kept), absent)


def _batch_norm(config: Any) -> KerasLayer:
    if config["axis"] not in (-1, 1, [-1], [1]):
        raise FileFormatError(f"axis={config['axis']} must be the last axis.")
    affine = config["scale"] or config["center"]
    layer = BatchNorm(momentum=1.0 - config["momentum"], eps=config["epsilon"], affine=affine)
    return _norm(config, layer, ("mean", "variance"))


def _layer_norm(config: Any) -> KerasLayer:
    if config["axis"] not in (-1, [-1]) or config.get("rms_scaling"):
        raise FileFormatError(f"axis={config['axis']} must be the last axis, and rms_scaling is not supported.")
    affine = config["scale"] or config["center"]
    return _norm(config, LayerNorm(eps=config["epsilon"], affine=affine), ())


def _relu(config: Any) -> KerasLayer:
    top, slope, threshold = config.get("max_value"), config.get("negative_slope"), config.get("threshold")
    if threshold or (top not in (None, 6.0)) or (top and slope):
        raise FileFormatError(f"max_value={top}, negative_slope={slope}, threshold={threshold} are not supported.")
    return _plain(config, Activation("leaky_relu", slope=slope) if slope else Activation("relu6" if top else "relu"))


def _prelu(config: Any) -> KerasLayer:
    if config.get("shared_axes"):
        raise FileFormatError(f"shared_axes={config['shared_axes']} are not supported.")
    return KerasLayer(config["name"], (PReLU(),), ("slope",))


def _embedding(config: Any) -> KerasLayer:
    return KerasLayer(config["name"], (Embedding(config["input_dim"], config["output_dim"]),), ("W",))


def _plain(config: Any, *layers: Layer) -> KerasLayer:
    return KerasLayer(config["name"], layers)


LAYERS: dict[str, Callable[[Any], KerasLayer]] = {
    "Activation": lambda config: _plain(config, _activation(config["activation"])),
    "BatchNormalization": _batch_norm,
    "Dense": _dense,
    "Dropout": lambda config: _plain(config, Dropout(config["rate"])),
    "ELU": lambda config: _plain(config, Activation("elu", alpha=config["alpha"])),
    "Embedding": _embedding,
    "Flatten": lambda config: _plain(config, Flatten()),
    "Identity": lambda config: _plain(config, Identity()),
    "InputLayer": _input,
    "LayerNormalization": _layer_norm,
    "LeakyReLU": lambda config: _plain(config, Activation("leaky_relu", slope=config["negative_slope"])),
    "PReLU": _prelu,
    "ReLU": _relu,
    "Softmax": lambda config: _plain(config, Activation("softmax", axis=config["axis"])),
}
"Functions from the configuration of a Keras layer to ours, by the name of the layer."
