"""Numbers as waves: what lets a net see steps and bumps in a column."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description, short
from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Normal, Uniform
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.nn.context import Context


@description
class Periodic(Layer):
    r"""Every number beside waves of it, :math:`y = [x, \cos 2\pi(f_{jk} x_j + b_{jk})]`.

    Frequency f and phase b are learned. Nets are slow to learn functions that jump, as those of tables do; waves of a
    column make them easy.

    Parameters
    ----------
    n_waves : int, default 16
        Waves of each column, k = 1 ... n_waves.
    columns : sequence of int, optional
        The columns that get waves, in rising order; all unless told. Columns of 0 and 1 gain nothing by them.
    std : float, default 0.1
        The frequencies start from N(0, std²), for columns of about unit size; the phases from U(-1/2, 1/2).

    Notes
    -----
    Gorishniy, Rubachev & Babenko 2022, "On embeddings for numerical features", eq. 4, with a phase in place of sine and
    cosine and the number itself kept, as of RealMLP (Holzmüller et al. 2024, section 3), and without the linear map for
    each column that follows there: the first layer of the net is one for all.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.nn.Periodic(4).init(3)(np.ones((2, 3))).shape
    (2, 15)
    """

    name: ClassVar[str] = "periodic"
    counts: ClassVar[tuple[str, ...]] = ("n_waves",)
    ranges: ClassVar[Mapping[str, str]] = {"std": "(0, inf)"}

    n_waves: int = 16
    _: KW_ONLY
    columns: tuple[int, ...] | None = None
    std: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.columns is None:
            return
        columns = tuple(self.columns)
        rising = all(isinstance(j, (int, np.integer)) and j > i for i, j in itertools.pairwise((-1, *columns)))
        if not columns or not rising:
            raise ConfigError(f"Periodic: columns={short(self.columns)} must be places of columns in rising order.")
        object.__setattr__(self, "columns", tuple(int(j) for j in columns))

    def params(self, in_shape: Shape) -> dict[str, Param]:
        n_in = last_axis(in_shape)
        if self.columns is not None and self.columns[-1] >= n_in:
            raise ShapeError(f"column {self.columns[-1]} is to get waves, and {n_in} columns come in, from 0 on.")
        shape = (n_in if self.columns is None else len(self.columns), self.n_waves)
        return {"frequency": Param(shape, Normal(self.std)), "phase": Param(shape, Uniform(-0.5, 0.5))}

    def __call__(self, x: Any, p: Mapping[str, Any], context: Context) -> Any:
        numbers = x if self.columns is None else np.concatenate([x[..., run] for run in self._runs()], axis=-1)
        angle = numbers.reshape((*numbers.shape, 1)) * p["frequency"] + p["phase"]
        waves = np.cos(2.0 * np.pi * angle)
        return np.concatenate([x, waves.reshape((*waves.shape[:-2], waves.shape[-2] * waves.shape[-1]))], axis=-1)

    def _runs(self) -> list[slice]:
        """The columns as runs of neighbours."""
        runs: list[slice] = []
        for j in self.columns or ():
            if runs and runs[-1].stop == j:
                runs[-1] = slice(runs[-1].start, j + 1)
            else:
                runs.append(slice(j, j + 1))
        return runs
