"""Pinball loss for one or several quantiles of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import Shape, show
from madaline.losses.loss import Loss
from madaline.losses.targets import Target, check_numbers, check_rows, columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array


@description
class Quantile(Loss):
    r"""Pinball loss, whose minimum is at the ``q`` quantile of the target,

    .. math:: \ell = \frac{1}{DQ} \sum_{d,j} \max\left(q_j r,\ (q_j - 1) r\right),\qquad r = y_d - z_{dj}.

    Parameters
    ----------
    q : float or sequence of floats
        Levels between 0 and 1, in increasing order; (0.1, 0.5, 0.9) by default.

    Notes
    -----
    The net has one output for each target column and level, ordered by column, then by level. At ``r = 0`` the
    derivative is the mean of the left and right derivatives. Predictions are the raw outputs: quantiles that cross are
    not reordered. Koenker & Bassett 1978.
    """

    name: ClassVar[str] = "quantile"
    _: KW_ONLY
    q: Sequence[float] | float = (0.1, 0.5, 0.9)

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = tuple(float(level) for level in np.atleast_1d(self.q))
        if not levels or not all(0.0 < level < 1.0 for level in levels) or list(levels) != sorted(set(levels)):
            raise ConfigError(f"q={self.q!r} must hold increasing levels between 0 and 1, such as (0.1, 0.5, 0.9).")
        object.__setattr__(self, "q", levels)

    @property
    def levels(self) -> np.ndarray[Any, Any]:
        """The levels as an array."""
        return np.asarray(self.q, dtype=np.float64)

    def rows(self, prediction: Array, target: Array) -> Array:
        z, y = columns(prediction), columns(target)
        self._check_shapes(z.shape, y.shape)
        r = np.repeat(y.astype(z.dtype), len(self.levels), axis=1) - z
        q = np.tile(self.levels, y.shape[1]).astype(z.dtype)
        return np.mean(np.maximum(q * r, (q - 1.0) * r), axis=1)

    def n_outputs(self, target: Target) -> int:
        return target.width * len(self.levels)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        target = np.asarray(target)
        check_rows(prediction_shape, target.shape)
        self._check_shapes(prediction_shape, columns(target).shape)
        check_numbers(target)

    def _check_shapes(self, prediction: Shape, target: Shape) -> None:
        wanted = target[1] * len(self.levels)
        if (prediction[1] if len(prediction) > 1 else 1) != wanted:
            raise ShapeError(
                f"prediction has shape {show(prediction)}; {len(self.levels)} quantiles of {target[1]} target columns "
                f"need {wanted} outputs."
            )
