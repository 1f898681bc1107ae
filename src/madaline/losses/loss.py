"""The base class of losses: a frozen description with a formula for one row; weights and reductions are shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.errors import ConfigError, ShapeError
from madaline.graph.node import Node
from madaline.graph.numpy_api.reduce import logsumexp_of_shifted
from madaline.graph.primitives.elementwise import sigmoid, stop_gradient
from madaline.graph.shapes import Shape
from madaline.losses.targets import Target, check_numbers, check_same_shape
from madaline.losses.weights import as_class_weights, check_weights, for_each_label
from madaline.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array

LOSSES: Registry[type[Loss]] = Registry("loss")
"The class of every loss by name."

REDUCTIONS = ("mean", "sum", "none")


@description
class Loss(Description):
    r"""Base class of losses: one number for each row, and their weighted mean,

    .. math:: L = \frac{\sum_i w_i\,\ell(z_i, y_i)}{\sum_i w_i}.

    A loss takes the raw outputs ``z`` of the net (logits, log-rates), from which it is computed without overflow;
    ``predict`` turns them into values or probabilities. A subclass defines ``name``, its parameters and ``rows``;
    everything else follows, including the conversion to plain data and back:

    >>> from madaline.losses.robust import Huber
    >>> Huber(delta=2.0).to_dict()
    {'kind': 'loss', 'name': 'huber', 'delta': 2.0}

    Notes
    -----
    The mean over no rows, or over rows whose weights are all 0, is NaN, as in PyTorch.
    """

    registry: ClassVar[Registry[Any]] = LOSSES
    out_activation: ClassVar[str] = "identity"
    "Conversion of raw outputs to predictions: identity, sigmoid, softmax, exp, or own (a formula in ``predict``)."

    def rows(self, prediction: Array, target: Array) -> Array:
        """The loss of each row, for arrays and traced values: (n, outputs) and (n, columns) or (n,) give (n,)."""
        raise NotImplementedError

    def __call__(
        self,
        prediction: Array | ArrayLike,
        target: Array | ArrayLike,
        weight: Array | ArrayLike | None = None,
        *,
        class_weight: Any = None,
        reduction: str = "mean",
    ) -> Array:
        """The loss of a batch.

        Parameters
        ----------
        prediction : array, (n, outputs)
            Raw outputs of the net; (n,) is one output.
        target : array, (n, columns) or (n,)
            Targets; they are checked if they are not traced.
        weight : array of shape (n,), optional
            Row weights: 0 leaves a row out, 2 counts it twice.
        class_weight : dict, array or "balanced", or a list of them for each label, optional
            Class weights: the weight of each row is multiplied by that of its class, or by those of all its labels.
        reduction : {"mean", "sum", "none"}
            Weighted mean (divided by the sum of the weights), weighted sum, or the weighted loss of each row.
        """
        if reduction not in REDUCTIONS:
            raise ConfigError(f"reduction={reduction!r} is not known. Use 'mean', 'sum' or 'none'.")
        prediction, target = as_floats(prediction), as_array(target)
        if not isinstance(target, Node):
            self.check(prediction.shape, target)
        with np.errstate(over="ignore"):  # an infinite loss is a valid result for an extreme prediction
            loss = self.rows(prediction, target)
        weight = None if weight is None else row_weights(weight, loss)
        if class_weight is not None:
            of_class = self.class_rows(class_weight, prediction, target).astype(loss.dtype)
            weight = of_class if weight is None else weight * of_class
        return reduced(loss, weight, reduction)

    def n_outputs(self, target: Target) -> int:
        """Number of outputs that the net needs for these targets."""
        return target.width

    def predict(self, raw: Array | ArrayLike) -> Array:
        """Convert raw outputs to values or probabilities."""
        with np.errstate(over="ignore"):
            return OUT_ACTIVATIONS[self.out_activation](as_floats(raw))

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        """Raise an error if the loss is not defined for these shapes or targets."""
        target = np.asarray(target)
        check_same_shape(prediction_shape, target.shape)
        check_numbers(target)

    def classes(self, prediction_shape: Shape, target: Array) -> list[tuple[Any, int]]:
        """Class of each row, as index (n,) or probabilities (n, classes), and number of classes; one item per label."""
        return []

    def class_rows(self, class_weight: Any, prediction: Array, target: Array) -> Array:
        """The class weight of each row; for several labels, the product of their weights."""
        found = self.classes(prediction.shape, target)
        if not found:
            raise ConfigError(
                f"class_weight={class_weight!r} cannot be used with {self.name}, whose targets are not classes. "
                "Pass weight, one number per row."
            )
        rows: Any = 1.0
        for given, (y, n_classes) in zip(for_each_label(class_weight, len(found), self.name), found, strict=True):
            weights = as_class_weights(given, y, n_classes)
            rows = rows * (np.take_along_axis(weights, y.astype(np.int64), axis=0) if y.ndim == 1 else y @ weights)
        return rows


def as_array(x: Array | ArrayLike) -> Array:
    """Convert lists to arrays; traced values are unchanged."""
    return x if isinstance(x, Node) else np.asarray(x)


def as_floats(x: Array | ArrayLike) -> Array:
    """Convert to an array of floats; integers become float64."""
    x = as_array(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def row_weights(weight: Any, loss: Any) -> Any:
    """One weight per row, in the type of the loss."""
    weight = as_array(weight)
    if weight.ndim != 1:
        raise ShapeError(f"weight has shape {weight.shape}; it must have shape (n,), one number per row.")
    if not isinstance(weight, Node):
        if not isinstance(loss, Node) and weight.shape != loss.shape:
            raise ShapeError(f"weight has {len(weight)} numbers for {len(loss)} rows; it must have one per row.")
        check_weights("weight", weight)
    return weight.astype(loss.dtype)


def reduced(loss: Array, weight: Array | None, reduction: str) -> Array:
    """The weighted mean, the weighted sum, or the weighted rows."""
    weighted = loss if weight is None else times(weight, loss)  # a weight of 0 removes an infinite loss, too
    if reduction == "none":
        return weighted
    if reduction == "sum":
        return np.sum(weighted)
    with np.errstate(invalid="ignore"):  # no rows: NaN
        return np.sum(weighted) / (loss.shape[0] if weight is None else np.sum(weight))


def times(p: Any, x: Array) -> Array:
    """``p x``, and 0 where ``p = 0`` even if ``x`` is infinite."""
    return p * np.where(p == 0.0, 0.0, x)


def softmax(z: Array) -> Array:
    """Class probabilities along the last axis."""
    z = below_largest(z)
    return np.exp(z - logsumexp_of_shifted(z, axis=-1, keepdims=True))


def below_largest(z: Array) -> Array:
    """Logits minus the largest of their row: probabilities stay the same, and large logits lose no digits."""
    return z - stop_gradient(np.max(z, axis=-1, keepdims=True))


OUT_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda z: z,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "exp": np.exp,
}
"""Output functions by the names of activations."""
