"""Fixed scaling of the inputs, learned from data before training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import Shape
from madaline.nn.context import need_array
from madaline.nn.initializers import Constant
from madaline.nn.layer import Layer, Param

if TYPE_CHECKING:
    from madaline.nn.context import Context


@dataclass(frozen=True, init=False, repr=False)
class Standardize(Layer):
    r"""Every column brought to mean 0 and standard deviation 1 of the data, :math:`y = (x - \mu)/\sigma`.

    :math:`\mu` and :math:`\sigma` (of the population, divided by n) are taken from the data given to ``init`` or
    ``fit``, and stay as they are. A column that does not vary is only centred. Lecture rows B10, D6.

    Parameters
    ----------
    mean, std : sequence of float, optional
        If they are known already.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.array([[2.0], [4.0], [6.0], [8.0], [10.0]])
    >>> md.Standardize().init(X)(X)[:, 0].round(3)
    array([-1.414, -0.707,  0.   ,  0.707,  1.414], dtype=float32)
    """

    name: ClassVar[str] = "standardize"
    learns_from_data: ClassVar[bool] = True

    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None

    def __init__(
        self, mean: Sequence[float] | None = None, std: Sequence[float] | None = None, *, trainable: bool = True
    ) -> None:
        if (mean is None) != (std is None) or (mean is not None and std is not None and len(mean) != len(std)):
            raise ConfigError(
                f"Standardize: mean={mean!r} and std={std!r} must both be given, equally long, or neither."
            )
        if std is not None and not all(np.isfinite(value) and value > 0 for value in std):
            raise ConfigError(f"Standardize: std={std!r} must be positive numbers.")
        self._set(
            mean=None if mean is None else tuple(float(value) for value in mean),
            std=None if std is None else tuple(float(value) for value in std),
            trainable=trainable,
        )

    def state(self, in_shape: Shape) -> dict[str, Param]:
        width = in_shape[-1]
        assert isinstance(width, int)
        if self.mean is not None and len(self.mean) != width:
            raise ShapeError(f"mean has {len(self.mean)} numbers for {width} columns.")
        return {"mean": Param((width,), Constant(0.0)), "std": Param((width,), Constant(1.0))}

    def state_of(self, x: np.ndarray | None) -> dict[str, np.ndarray]:
        """Mean and standard deviation, as given or as of the data."""
        if self.mean is not None and self.std is not None:
            return {"mean": np.array(self.mean), "std": np.array(self.std)}
        if x is None:
            raise ConfigError("Standardize learns from data: give init the data, as net.init(X), or mean and std.")
        rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
        mean, std = rows.mean(axis=0), rows.std(axis=0)
        return {"mean": mean, "std": np.where(std > 0.0, std, 1.0)}

    def __call__(self, x: Any, p: Mapping[str, Any], context: Context) -> Any:
        return (need_array(x, self) - context.state("mean")) / context.state("std")
