"""Periodic features of numbers, with which a net learns steps and bumps more easily."""

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
    r"""Every number together with waves of it, :math:`y = [x, \cos 2\pi(f_{jk} x_j + b_{jk})]`.

    Frequency f and phase b are learned. Nets learn functions with jumps slowly, and these are common in tables; waves
    of a column help.

    Parameters
    ----------
    n_waves : int, default 16
        Number of waves of each column, k = 1 ... n_waves.
    columns : sequence of int, optional
        Indices of the columns that get waves, in increasing order; all by default. Binary columns do not benefit.
    std : float, default 0.1
        Frequencies are drawn from N(0, std²), for columns of about unit scale; phases from U(-1/2, 1/2).

    Notes
    -----
    Gorishniy, Rubachev & Babenko 2022, "On embeddings for numerical features", eq. 4, with a phase in place of sine and
    cosine and the number itself kept, as in RealMLP (Holzmüller et al. 2024, section 3), but without its linear map for
    each column: the first layer of the net is one for all columns.

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
            raise ConfigError(f"Periodic: columns={short(self.columns)} must be column indices in increasing order.")
        object.__setattr__(self, "columns", tuple(int(j) for j in columns))

    def params(self, in_shape: Shape) -> dict[str, Param]:
        n_in = last_axis(in_shape)
        if self.columns is not None and self.columns[-1] >= n_in:
            raise ShapeError(f"columns contains {self.columns[-1]}, but the input has {n_in} columns, numbered from 0.")
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
