"""A multilayer perceptron from a few arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from madaline.errors import ConfigError
from madaline.nn.initializers import Initializer
from madaline.nn.layer import Layer
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import BatchNorm, as_norm
from madaline.nn.layers.reshape import Input
from madaline.nn.layers.residual import Residual
from madaline.nn.layers.sequential import Sequential, as_layer
from madaline.nn.layers.standardize import Standardize

ActivationLike = str | Layer | Callable[[Any], Any]


def mlp(
    *widths: int,
    activation: ActivationLike | Sequence[ActivationLike] = "relu",
    norm: str | Layer | None = None,
    dropout: float | Sequence[float] = 0.0,
    input_dropout: float = 0.0,
    residual: bool = False,
    bias: bool = True,
    init: str | Initializer = "auto",
    standardize: bool = False,
    n_in: int | None = None,
) -> Sequential:
    """A multilayer perceptron: hidden layers of Linear, norm, activation, dropout, then a Linear.

    Parameters
    ----------
    *widths : int
        Units of each hidden layer, then the number of outputs: ``mlp(256, 128, 10)``.
    activation : str, callable or layer, or one for each hidden layer
        ``"relu"``, ``np.tanh``, ``md.nn.PReLU()`` ... Each hidden layer gets its own copy of a layer or norm.
    norm : str or layer, optional
        ``"batch"``, ``"layer"``, ``"rms"``, ``"group"`` or a layer, between Linear and activation.
    dropout : float, or one for each hidden layer
        Drop probability of the units of hidden layers.
    input_dropout : float
        Drop probability of the inputs.
    residual : bool
        Whether each hidden layer after the first has a skip connection.
    bias : bool
        Whether Linear layers have a bias. A layer before a batch norm never has one, since the norm would remove it.
    init : str or Initializer
        Initializer of all weights.
    standardize : bool
        Whether to scale inputs to mean 0 and standard deviation 1 on the training data.
    n_in : int, optional
        Number of inputs. By default it is taken from the data.

    Examples
    --------
    >>> import madaline as md
    >>> md.mlp(64, 3, activation="tanh", dropout=0.1)
    Sequential(Linear(64), Tanh(), Dropout(p=0.1), Linear(3))
    """
    if not widths:
        raise ConfigError("mlp() needs at least the number of outputs: mlp(64, 64, 10) has two hidden layers.")
    hidden, n_out = widths[:-1], widths[-1]
    activations = _for_each("activation", activation, len(hidden))
    drops = _for_each("dropout", dropout, len(hidden))
    layers: list[Layer] = [] if n_in is None else [Input(n_in)]
    layers += [Standardize()] if standardize else []
    layers += [Dropout(input_dropout)] if input_dropout else []
    for position, (width, function, drop) in enumerate(zip(hidden, activations, drops, strict=True)):
        normed = deepcopy(as_norm(norm))
        block: list[Layer] = [Linear(width, bias=bias and not isinstance(normed, BatchNorm), init=init)]
        block += [] if normed is None else [normed]
        block += [as_layer(function)]
        block += [Dropout(drop)] if drop else []
        layers += [Residual(*block)] if residual and position else block
    return Sequential(*layers, Linear(n_out, bias=bias, init=init))


def _for_each(name: str, given: Any, count: int) -> list[Any]:
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ConfigError(f"{name} has {len(given)} items for {count} hidden layers. Pass one for each, or one.")
        return list(given)
    return [deepcopy(given) for _ in range(count)]
