"""Periodic features of numbers, with which a net learns steps and bumps more easily."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Normal, Uniform
from madaline.nn.layer import Layer, Param
from madaline.nn.layers.columns import Columns, as_columns, chosen, n_chosen, with_features

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
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
    columns: Columns | None = None
    std: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "columns", as_columns("Periodic", self.columns))

    def params(self, in_shape: Shape) -> dict[str, Param]:
        shape = (n_chosen(self.columns, in_shape), self.n_waves)
        return {"frequency": Param(shape, Normal(self.std)), "phase": Param(shape, Uniform(-0.5, 0.5))}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        numbers = chosen(x, self.columns)
        angle = numbers.reshape((*numbers.shape, 1)) * p["frequency"] + p["phase"]
        return with_features(x, np.cos(2.0 * np.pi * angle))
