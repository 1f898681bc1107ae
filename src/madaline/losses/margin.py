"""Margin losses: 0 beyond a margin of 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ShapeError
from madaline.graph.primitives.elementwise import relu
from madaline.graph.shapes import Shape, show
from madaline.losses.classes import ClassLoss, labels
from madaline.losses.targets import Target, check_classes, check_rows, check_same_shape, columns, n_columns, refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array


@description
class Hinge(ClassLoss):
    r"""Hinge loss, the amount by which the margin falls short of 1, :math:`\ell = \max(0, 1 - m)`.

    Notes
    -----
    One output: :math:`m = \pm z`, with plus for class 1. Several outputs and class indices: Crammer & Singer's
    :math:`m = z_y - \max_{k \ne y} z_k` (2001, eq. 2). Several outputs and a target column for each: the mean of the
    losses of the labels. Predictions are the raw outputs: a margin is not a probability. The derivative is 0 at
    ``m = 1``. Lecture row D2.
    """

    name: ClassVar[str] = "hinge"
    out_activation: ClassVar[str] = "identity"

    def rows(self, prediction: Array, target: Array) -> Array:
        z = columns(prediction)
        if target.ndim == 1 and z.shape[1] > 1:
            is_target = np.arange(n_columns(z)) == target[:, None]
            own = np.sum(np.where(is_target, z, 0.0), axis=1)
            return self.shortfall(1.0 - (own - np.max(np.where(is_target, -np.inf, z), axis=1)))
        y = columns(target)
        check_same_shape(z.shape, y.shape)
        return np.mean(self.shortfall(1.0 - np.where(y > 0, z, -z)), axis=1)

    def shortfall(self, short: Array) -> Array:
        """The loss as a function of the shortfall, ``1 - m`` or 0."""
        return relu(short)

    def n_outputs(self, target: Target) -> int:
        if target.n_classes is None:
            return target.width
        return 1 if target.n_classes <= 2 else target.n_classes

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        target = np.asarray(target)
        n_outputs = prediction_shape[1] if len(prediction_shape) > 1 else 1
        if target.ndim == 1 and n_outputs != 1:
            check_rows(prediction_shape, target.shape)
            check_classes(target, n_outputs)
            return
        if target.ndim > 2:
            raise ShapeError(f"target has shape {show(target.shape)}; {self.name} takes (n,) or (n, labels).")
        check_same_shape(prediction_shape, target.shape)
        refuse(target, ~np.isin(target, (-1, 0, 1)), "must be 0 or 1 (or -1 and 1)", "Number the classes 0 and 1")

    def classes(self, prediction_shape: Shape, target: Array) -> list[tuple[Any, int]]:
        n_outputs = self.n_classes(prediction_shape)
        if n_outputs > 1 and target.ndim == 1:
            return [(target, n_outputs)]
        return [((y > 0).astype(np.int64), 2) for y in labels(target)]


@description
class SquaredHinge(Hinge):
    r"""Square of the hinge loss, :math:`\ell = \max(0, 1 - m)^2`, which is smooth at ``m = 1``.

    The margins are those of ``hinge``.
    """

    name: ClassVar[str] = "squared_hinge"

    def shortfall(self, short: Array) -> Array:
        return np.square(relu(short))
