"""Several nets as one, whose output is the average of theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError, ShapeError
from madaline.graph.primitives.elementwise import stop_gradient
from madaline.graph.shapes import show
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.activations import log_sigmoid, log_softmax
from madaline.nn.layer import Layer
from madaline.nn.layers.sequential import LayerLike, as_layer

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Ensemble(Layer):
    r"""The average of several nets with the same input, :math:`y = g^{-1}\big(\sum_i w_i\, g(f_i(x))\big)`.

    ``g`` turns raw outputs into what is averaged. The output is raw again, so an ensemble takes the place of a net:
    with ``average="softmax"`` its outputs are logits whose probabilities are the mean probabilities of the nets.

    Parameters
    ----------
    *layers : Layer
        The nets. An object that occurs twice shares its parameters.
    weights : sequence of float, optional
        The weights :math:`w_i`, not negative; they are divided by their sum. By default all are equal.
    average : {"identity", "softmax", "sigmoid", "exp"}, or dict of them
        The function ``g``: the outputs themselves, probabilities of classes, of labels, or exponentials, as for rates.
        For nets with named outputs, a dict.
    temperature : float, default 1
        Divides the logits of "softmax" and "sigmoid" averages: above 1, probabilities become less certain.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> model = md.nn.Ensemble(md.Linear(2), md.Linear(2)).init(3)
    >>> bool(np.allclose(model(np.ones(3)), (model.params["0.W"] + model.params["1.W"]).sum(axis=0) / 2))
    True
    """

    name: ClassVar[str] = "ensemble"
    takes_several: ClassVar[bool] = True
    takes: ClassVar[str] = "anything"

    layers: tuple[Layer, ...]
    weights: tuple[float, ...] | None = None
    average: str | dict[str, str] = "identity"
    temperature: float = 1.0

    def __init__(
        self,
        *layers: LayerLike,
        weights: Sequence[float] | None = None,
        average: str | Mapping[str, str] = "identity",
        temperature: float = 1.0,
        trainable: bool = True,
    ) -> None:
        if not layers:
            raise ConfigError("Ensemble needs at least one layer.")
        kinds = average.values() if isinstance(average, Mapping) else [average]
        if wrong := [kind for kind in kinds if kind not in AVERAGES]:
            raise ConfigError(f"Ensemble: average={wrong[0]!r} must be one of {', '.join(map(repr, AVERAGES))}.")
        if not 0.0 < temperature < math.inf:
            raise ConfigError(f"Ensemble: temperature={temperature!r} must be a number above 0.")
        self._set(
            layers=tuple(as_layer(layer) for layer in layers),
            weights=None if weights is None else _checked(weights, len(layers)),
            average=dict(average) if isinstance(average, Mapping) else average,
            temperature=float(temperature),
            trainable=trainable,
        )

    @classmethod
    def rebuilt(cls, **values: Any) -> Self:
        return cls(*values.pop("layers", ()), **values)

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        outputs = [context.run(name, layer, x) for name, layer in self.parts()]
        return averaged(self.average, outputs, self.weights or (1.0,) * len(outputs), self.temperature)

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        return tuple((str(position), layer) for position, layer in enumerate(self.layers))

    def first_activation(self) -> ActivationFunction | None:
        return self.layers[0].first_activation()

    def own_inputs(self) -> Any:
        return self.layers[0].own_inputs()

    def __repr__(self) -> str:
        shown = [repr(layer) for layer in self.layers]
        shown += [] if self.weights is None else [f"weights={self.weights!r}"]
        shown += [] if self.average == "identity" else [f"average={self.average!r}"]
        shown += [] if self.temperature == 1.0 else [f"temperature={self.temperature!r}"]
        return f"Ensemble({', '.join(shown + ([] if self.trainable else ['trainable=False']))})"


def _checked(weights: Sequence[float], count: int) -> tuple[float, ...]:
    found = tuple(map(float, weights))
    if len(found) != count:
        raise ConfigError(f"Ensemble: weights has {len(found)} numbers for {count} layers.")
    if not all(0.0 <= weight < math.inf for weight in found) or not any(found):
        raise ConfigError(f"Ensemble: weights={found!r} must be numbers of at least 0, not all of them 0.")
    return found


def averaged(
    average: str | dict[str, str], outputs: Sequence[Any], weights: Sequence[float], temperature: float = 1.0
) -> Any:
    """The output of an ensemble, from those of its nets, which may be arrays or traced values."""
    if isinstance(average, dict):
        if any(not isinstance(output, dict) or set(output) != set(average) for output in outputs):
            raise ShapeError(f"average is for outputs named {', '.join(average)}; the layers have others.")
        return {
            name: averaged(kind, [output[name] for output in outputs], weights, temperature)
            for name, kind in average.items()
        }
    if any(isinstance(output, (dict, tuple)) for output in outputs):
        raise ShapeError("The layers have several outputs. Name them, and give average as a dict by name.")
    for output in outputs:
        if output.shape != outputs[0].shape:
            raise ShapeError(f"Outputs of shapes {show(outputs[0].shape)} and {show(output.shape)} cannot be averaged.")
    total = math.fsum(weights)
    kept = [(output, weight / total) for output, weight in zip(outputs, weights, strict=True) if weight > 0.0]
    found = AVERAGES[average]([output for output, _ in kept], [weight for _, weight in kept])
    return found / temperature if average in HAVE_LOGITS and temperature != 1.0 else found


def _mean(outputs: list[Any], weights: list[float]) -> Array:
    terms = [weight * output for weight, output in zip(weights, outputs, strict=True)]
    return sum(terms[1:], terms[0])


def _log_mean(logs: list[Any], weights: list[float]) -> Array:
    """The logarithm of the mean of exponentials, without overflow."""
    largest = logs[0]
    for item in logs[1:]:
        largest = np.maximum(largest, item)
    largest = stop_gradient(largest)
    return np.log(_mean([np.exp(item - largest) for item in logs], weights)) + largest


def _log_mean_softmax(outputs: list[Any], weights: list[float]) -> Array:
    return _log_mean([log_softmax(output) for output in outputs], weights)


def _logit_of_mean(outputs: list[Any], weights: list[float]) -> Array:
    present = _log_mean([log_sigmoid(output) for output in outputs], weights)
    return present - _log_mean([log_sigmoid(-output) for output in outputs], weights)


AVERAGES: dict[str, Callable[[list[Any], list[float]], Any]] = {
    "identity": _mean,
    "softmax": _log_mean_softmax,
    "sigmoid": _logit_of_mean,
    "exp": _log_mean,
}
"How outputs are averaged, by the function that turns raw outputs into predictions."

HAVE_LOGITS = ("softmax", "sigmoid")
"Averages whose outputs are logits, which a temperature divides."
