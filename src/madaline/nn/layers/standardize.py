"""Fixed scaling of the inputs, learned from data before training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.data.scale import centre_and_scale
from madaline.description import description
from madaline.errors import ConfigError, InputError, ShapeError
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Constant
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Standardize(Layer):
    r"""Scale every column to mean 0 and standard deviation 1 on the data, :math:`y = (x - \mu)/\sigma`.

    :math:`\mu` and :math:`\sigma` (of the population, divided by n) are computed from the data passed to ``init`` or
    ``fit`` and do not change afterwards. A constant column is only centred. Lecture rows B10, D6.

    Parameters
    ----------
    mean, std : sequence of float, optional
        Known values. By default they are computed from data.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.array([[2.0], [4.0], [6.0], [8.0], [10.0]])
    >>> md.nn.Standardize().init(X)(X)[:, 0].round(3)
    array([-1.414, -0.707,  0.   ,  0.707,  1.414], dtype=float32)
    """

    name: ClassVar[str] = "standardize"
    learns_from_data: ClassVar[bool] = True

    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None

    def __init__(
        self, mean: Sequence[float] | None = None, std: Sequence[float] | None = None, *, trainable: bool = True
    ) -> None:
        if (mean is None) != (std is None):
            raise ConfigError(f"Standardize: mean={mean!r} and std={std!r} must both be given, or neither.")
        means, stds = (None if given is None else _numbers(given) for given in (mean, std))
        if means is not None and stds is not None:
            if len(means) != len(stds):
                raise ConfigError(f"Standardize: mean has {len(means)} numbers and std {len(stds)}.")
            if not np.isfinite(means).all() or not np.isfinite(stds).all() or min(stds, default=1.0) <= 0.0:
                raise ConfigError(f"Standardize: mean={mean!r} must be finite, std={std!r} finite and above 0.")
        self._set(mean=means, std=stds, trainable=trainable)

    def state(self, in_shape: Shape) -> dict[str, Param]:
        width = last_axis(in_shape)
        if self.mean is not None and len(self.mean) != width:
            raise ShapeError(f"mean has {len(self.mean)} numbers for {width} columns.")
        return {"mean": Param((width,), Constant(0.0)), "std": Param((width,), Constant(1.0))}

    def state_of(self, x: np.ndarray | None) -> dict[str, np.ndarray]:
        """Mean and standard deviation, given or computed from the data."""
        if self.mean is not None and self.std is not None:
            return {"mean": np.array(self.mean), "std": np.array(self.std)}
        if x is None:
            raise ConfigError("it needs data. Pass the data to init, as net.init(X), or mean and std to the layer.")
        rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
        if not len(rows):
            raise InputError("there are no rows to compute mean and standard deviation from.")
        missing = np.argwhere(~np.isfinite(rows))
        if len(missing):
            row, column = missing[0]
            raise InputError(
                f"{rows[row, column]} in row {row} of column {column} cannot be used in a mean. Impute missing values, "
                "or drop those rows."
            )
        mean, std = centre_and_scale(rows, "standard")
        return {"mean": mean, "std": std}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return (x - context.state("mean")) / context.state("std")


def _numbers(given: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in given)
    except (TypeError, ValueError):
        raise ConfigError(f"Standardize: {given!r} must be a sequence of numbers, one for each column.") from None
