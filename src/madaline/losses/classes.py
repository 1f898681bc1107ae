"""Base classes of losses whose targets are classes: indices, probabilities or binary labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ShapeError
from madaline.graph.shapes import Shape, show
from madaline.losses.loss import Loss, times
from madaline.losses.targets import (
    Target,
    check_classes,
    check_distribution,
    check_probabilities,
    check_rows,
    check_same_shape,
    columns,
    matched,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array


@description
class ClassLoss(Loss):
    """A loss whose rows belong to one of several classes, given by index, (n,), or by probabilities, (n, classes)."""

    out_activation: ClassVar[str] = "softmax"

    def n_classes(self, prediction_shape: Shape) -> int:
        """Number of classes for predictions of this shape."""
        return int(prediction_shape[-1]) if len(prediction_shape) == 2 else 1

    def n_outputs(self, target: Target) -> int:
        return target.classes(self.name)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        target = np.asarray(target)
        check_rows(prediction_shape, target.shape)
        n_classes = self.n_classes(prediction_shape)
        if n_classes < 2:
            raise ShapeError(
                f"prediction has shape {show(prediction_shape)}: {self.name} needs outputs for two classes or more. "
                "Give the net one output per class, or use binary_cross_entropy."
            )
        if target.ndim == 1:
            check_classes(target, n_classes)
        elif target.ndim == 2 and target.shape[1] == n_classes:
            check_distribution(target)
        else:
            raise ShapeError(
                f"target has shape {show(target.shape)}; {self.name} with {n_classes} classes takes (n,) for class "
                f"indices or (n, {n_classes}) for probabilities. Use y[:, 0] for one column of indices."
            )

    def classes(self, prediction_shape: Shape, target: Array) -> list[tuple[Any, int]]:
        return [(target, self.n_classes(prediction_shape))]


@description
class LabelLoss(Loss):
    """Base class of losses of independent binary labels (0 or 1); mean over the labels."""

    out_activation: ClassVar[str] = "sigmoid"

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        target = np.asarray(target)
        check_same_shape(prediction_shape, target.shape)
        check_probabilities(target)

    def classes(self, prediction_shape: Shape, target: Array) -> list[tuple[Any, int]]:
        return [(np.stack([1.0 - y, y], axis=1), 2) for y in labels(target)]


def labels(target: Array) -> list[Any]:
    """The columns of the target, each (n,)."""
    y = columns(target)
    return [y[:, d] for d in range(y.shape[1])]


def expected(target: Array, of_class: Any) -> Array:
    """The entry of each row's class, or the mean under the row's probabilities (where 0 times infinity is 0)."""
    if target.ndim == 1:
        return np.take_along_axis(of_class, target.astype(np.int64)[:, None], axis=1)[:, 0]
    _, p = matched(of_class, target)
    return np.sum(times(p, of_class), axis=1)
