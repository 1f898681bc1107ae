"""The net of an estimator: built from its parameters, with the initial weights and attributes of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.estimators.parameters import NetParameters
from madaline.functional.model import Model
from madaline.nn.initializers import DataDependent, as_initializer
from madaline.nn.layer import Layer
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.mlp import mlp
from madaline.nn.layers.sequential import Sequential

OUR_NAMES = {"logistic": "sigmoid"}
"Activations that have another name in scikit-learn."


def hidden_widths(given: Any) -> list[int]:
    """The widths of the hidden layers; errors are those of scikit-learn."""
    widths = list(given) if hasattr(given, "__iter__") else [given]
    if not all(isinstance(width, Integral) and not isinstance(width, bool) for width in widths):
        raise ConfigError(f"hidden_layer_sizes={given!r} must be whole numbers, one for each hidden layer: (100, 50).")
    if any(width <= 0 for width in widths):
        raise ValueError(f"hidden_layer_sizes must be > 0, got {widths}.")
    return [int(width) for width in widths]


def network(settings: NetParameters, n_outputs: int, front: Layer | None = None) -> Sequential:
    """The net that the parameters describe, after an optional layer for tables."""
    activation: Any = settings.activation
    if isinstance(activation, str):
        activation = OUR_NAMES.get(activation, activation)
    elif isinstance(activation, Iterable):
        activation = [OUR_NAMES.get(one, one) if isinstance(one, str) else one for one in activation]
    dropout = settings.dropout
    net = mlp(
        *hidden_widths(settings.hidden_layer_sizes),
        n_outputs,
        activation=activation,
        norm=settings.norm,
        dropout=list(dropout) if isinstance(dropout, Iterable) else float(dropout),
        input_dropout=float(settings.input_dropout),
        residual=bool(settings.residual),
        init="auto" if settings.init is None else settings.init,
    )
    return net if front is None else Sequential(front, *net.layers)


def looks_at_rows(init: Any) -> bool:
    """Whether the initializer depends on data."""
    return init is not None and isinstance(as_initializer(init), DataDependent)


def linear_paths(model: Model) -> list[str]:
    """Paths of the Linear layers in order, without projections of residual connections."""
    found = [row.path for row in model.network.rows if isinstance(row.layer, Linear)]
    return [path for path in found if path.rpartition(".")[2] != "projection"]


def draw_as_scikit_learn(model: Model, rng: np.random.RandomState, *, logistic: bool) -> None:
    r"""Initialize weights and biases with the same random numbers as scikit-learn.

    Uniform between :math:`\pm\sqrt{f/(n_{in}+n_{out})}`, with f = 6, or 2 for logistic units; Glorot & Bengio 2010, eq.
    16, except for the factor 2 and the random biases.
    """
    for path in linear_paths(model):
        W = model.params[f"{path}.W"]
        bound = np.sqrt((2.0 if logistic else 6.0) / sum(W.shape))
        W[...] = rng.uniform(-bound, bound, W.shape)
        if f"{path}.b" in model.params:
            model.params[f"{path}.b"][...] = rng.uniform(-bound, bound, W.shape[1])


class Views(list[np.ndarray]):
    """Arrays of a model; assigning to an item of the list writes into the model."""

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            for view, new in zip(self[index], value, strict=True):
                view[...] = new
        else:
            self[index][...] = value

    def __reduce__(self) -> Any:
        return list, (list(self),)  # a copy is not connected to a model


def coefs(model: Model) -> Views:
    """The weights of the Linear layers, as writable views."""
    return Views(model.params[f"{path}.W"] for path in linear_paths(model))


def intercepts(model: Model) -> Views:
    """The biases of the Linear layers; read-only zeros for a layer without biases, such as before a batch norm."""
    found = Views()
    for path in linear_paths(model):
        if f"{path}.b" in model.params:
            found.append(model.params[f"{path}.b"])
        else:
            zeros = np.zeros(model.params[f"{path}.W"].shape[1], model.network.dtype)
            zeros.flags.writeable = False
            found.append(zeros)
    return found
