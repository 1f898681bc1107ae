"""The McCulloch-Pitts neuron: a unit that fires if its weighted sum reaches a threshold, and nets of such units."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.errors import ConfigError, ShapeError
from madaline.estimators.classical.units import UnitClassifier
from madaline.functional.model import Model
from madaline.nn.layers.activation import Activation
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.sequential import Sequential

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Array = np.ndarray[Any, Any]
MOST_INPUTS = 16
"Maximum number of inputs of a Boolean function; its truth table has 2 to the power of this many rows."


class ThresholdLogicUnit(UnitClassifier):
    r"""A unit with fixed weights, :math:`f(x) = 1\{\sum_i w_i x_i + b \ge 0\}`.

    Parameters
    ----------
    weights : float or array of shape (n_features,), default 1.0
        Weight of each input. A single number is used for all inputs.
    bias : float, default -0.5
        Bias. With the default weights and bias the unit computes the *or* of its inputs.

    Notes
    -----
    McCulloch & Pitts 1943. Nothing is learned: ``fit`` only stores the two classes, and the second one is predicted if
    the unit fires. A unit can also be called as a function of its inputs, so that units can be composed;
    ``threshold_net`` returns a net for any Boolean function. Lecture row E1.

    Examples
    --------
    >>> OR, AND, NOT = ThresholdLogicUnit([1, 1], -0.5), ThresholdLogicUnit([1, 1], -1.5), ThresholdLogicUnit(-1, 0.5)
    >>> a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> AND(OR(a, b), NOT(AND(a, b)))
    array([0, 1, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"weights": [Real, "array-like"], "bias": [Real]}

    def __init__(self, weights: ArrayLike = 1.0, bias: float = -0.5) -> None:
        self.weights = weights
        self.bias = bias

    def __call__(self, *inputs: Any) -> Array:
        """Return 1 where the unit fires, else 0. Inputs are numbers or arrays of the same shape."""
        w = self._weights_for(len(inputs))
        total = sum((w_i * np.asarray(x_i) for w_i, x_i in zip(w, inputs, strict=True)), start=np.float64(self.bias))
        return np.asarray(np.asarray(total) >= 0).astype(int)

    def _learn(self, X: Array, fires: Array) -> None:
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported, but y has {len(self.classes_)} classes.")
        self.coef_ = self._weights_for(X.shape[1])[None, :]
        self.intercept_ = np.array([self.bias], dtype=np.float64)

    def _weights_for(self, n_inputs: int) -> Array:
        w = np.asarray(self.weights, dtype=np.float64)
        if w.ndim == 0:
            return np.full(n_inputs, float(w))
        if w.shape != (n_inputs,):
            raise ShapeError(
                f"weights has shape {w.shape} for {n_inputs} inputs. Pass one weight per input, or a single number."
            )
        return w

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


def threshold_net(function: Callable[..., Any], n_inputs: int) -> Model:
    r"""A net of two layers of threshold units that computes a Boolean function in disjunctive normal form.

    There is one hidden unit for each row of the truth table in which the function is true. The unit of the row
    (1, 0, 1) is :math:`a` and (not :math:`b`) and :math:`c`, computed as :math:`1\{a - b + c - 1.5 \ge 0\}`.

    Parameters
    ----------
    function : callable
        Function of ``n_inputs`` Boolean values.
    n_inputs : int
        Number of inputs, from 1 to 16.

    Examples
    --------
    >>> import madaline as md
    >>> md.classical.threshold_net(lambda a, b: a != b, 2)([[0, 0], [0, 1], [1, 0], [1, 1]]).ravel()
    array([0., 1., 1., 0.], dtype=float32)
    """
    if not 1 <= n_inputs <= MOST_INPUTS:
        raise ConfigError(
            f"n_inputs={n_inputs!r} must be from 1 to {MOST_INPUTS}, because the truth table is enumerated."
        )
    rows = [row for row in product((False, True), repeat=n_inputs) if function(*row)]
    # A function that is never true has one hidden unit, which never fires.
    W = 2.0 * np.array(rows).T - 1.0 if rows else np.zeros((n_inputs, 1))
    b = 0.5 - np.sum(rows, axis=1) if rows else [-0.5]
    model = Sequential(Linear(W.shape[1]), Activation("step"), Linear(1), Activation("step")).init(n_inputs)
    model.params["0.W"], model.params["0.b"] = W, b
    model.params["2.W"], model.params["2.b"] = np.ones((W.shape[1], 1)), [-0.5]
    return model
