"""Linear layers one after another are one linear layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from madaline.functional.arrays import Array
from madaline.functional.model import Model
from madaline.functional.products import jvp
from madaline.nn.activations import identity
from madaline.nn.inputs import InputSpec
from madaline.nn.layer import Layer
from madaline.nn.layers.activation import Activation
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import BatchNorm
from madaline.nn.layers.reshape import Identity, Input
from madaline.nn.layers.residual import Residual
from madaline.nn.layers.sequential import Sequential
from madaline.nn.layers.standardize import Standardize
from madaline.nn.layers.weight_norm import WeightNorm
from madaline.nn.network import build

AFFINE = (Linear, BatchNorm, Standardize, Dropout, Identity, Input)
"Layers whose output, outside of training, is an affine map of their input."


def collapse(model: Model) -> Model:
    r"""The same function with each run of linear layers made one: :math:`x \mapsto (x W_1) W_2 = x (W_1 W_2)`.

    Batch norm, input scaling, dropout and skip connections around linear layers are affine maps once training is over,
    and go into the same matrix. A net without activations is thus one :class:`~madaline.nn.layers.linear.Linear`,
    however deep it is. Lecture row B3.

    Parameters
    ----------
    model : Model
        Of any net; only layers that stand one after another in its outermost Sequential are looked at. It is not
        changed.

    Notes
    -----
    An affine map is known by its value at 0, which is ``b``, and its Jacobian there, which is ``W``: both come from one
    pass of forward mode, in float64. A narrow layer between wide ones makes the one matrix larger than the two were.

    Examples
    --------
    >>> import madaline as md
    >>> deep = md.Sequential(md.Linear(50), md.BatchNorm(), md.Linear(20), "relu", md.Linear(9), md.Linear(3)).init(7)
    >>> md.functional.collapse(deep)
    Model(Sequential(Linear(20), ReLU(), Linear(3)), 223 parameters, float32)
    """
    if not isinstance(model.net, Sequential):
        return model
    layers: list[Layer] = []
    arrays: dict[str, Array] = {}
    for start, stop in _runs(model.net):
        at, run, part = len(layers), model.net[start:stop], model[start:stop]
        has_columns = isinstance(part.network.inputs, InputSpec) and len(part.network.inputs.shape) == 1
        if len(run) > 1 and has_columns and any(map(_has_weights, run)):
            W, b = _affine_map(part)
            layers.append(Linear(W.shape[1]))
            arrays |= {f"{at}.W": W, f"{at}.b": b}
        else:
            layers += run
            for position in range(len(run)):
                one = model[start + position]
                arrays |= {f"{at + position}.{name}": one.params[name] for name in one.params}
                arrays |= {f"{at + position}.{name}": one.state[name] for name in one.state}
    network = build(Sequential(*layers), model.network.inputs, dtype=model.network.dtype)
    return Model.from_arrays(network, arrays)


def _runs(net: Sequential) -> Iterator[tuple[int, int]]:
    """Start and end of each run of affine layers; any other layer is a run of one."""
    start = 0
    for position, layer in enumerate(net):
        if not _is_affine(layer):
            if start < position:
                yield start, position
            yield position, position + 1
            start = position + 1
    if start < len(net):
        yield start, len(net)


def _is_affine(layer: Layer) -> bool:
    if isinstance(layer, (Sequential, Residual)):
        norm = layer.norm if isinstance(layer, Residual) else None
        return all(map(_is_affine, layer.layers)) and (norm is None or _is_affine(norm))
    if isinstance(layer, WeightNorm):
        return _is_affine(layer.layer)
    return isinstance(layer, AFFINE) or (isinstance(layer, Activation) and layer.function == identity)


def _has_weights(layer: Layer) -> bool:
    """Whether a matrix is there already, which the others can go into."""
    if isinstance(layer, (Sequential, Residual)):
        return any(map(_has_weights, layer.layers))
    return isinstance(layer, (Linear, WeightNorm))


def _affine_map(part: Model) -> tuple[Array, Array]:
    """``W`` and ``b`` of a part of a model."""
    network = replace(part.network, dtype=np.dtype(np.float64))
    params, state = part.params.flat.astype(np.float64), part.state.flat.astype(np.float64)
    n_in = part.network.inputs.shape[-1]

    def outputs(x: Any) -> Any:
        return network.run(params, state, x).outputs[""]

    # Rows do not meet: the derivative of row i in the direction e_i is row i of W.
    at_0, slopes = jvp(outputs, (np.zeros((n_in + 1, n_in)),), (np.eye(n_in + 1, n_in),))
    return slopes[:-1], at_0[-1]
