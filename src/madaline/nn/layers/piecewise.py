"""Piecewise linear features of numbers, with which a net learns thresholds of a column at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError, InputError
from madaline.graph.arrays import Array
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Constant
from madaline.nn.layer import Layer, Param
from madaline.nn.layers.columns import Columns, as_columns, chosen, n_chosen, with_features

if TYPE_CHECKING:
    from madaline.nn.context import Context


MOST_ROWS = 100_000
"Quantiles are computed from at most this many rows, at equal distances in the data."


def sampled(n_rows: int) -> slice:
    """At most :data:`MOST_ROWS` of some rows, at equal distances."""
    return slice(None, None, max(-(-n_rows // MOST_ROWS), 1))


def bin_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Edges of at most ``n_bins`` bins with about the same number of rows, in increasing order.

    A value that more rows share than a bin should have is an edge; the other edges are quantiles of the remaining
    rows. Otherwise a column that is zero in most rows would have one bin for all others.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= n_bins + 1:
        return distinct
    is_common = np.zeros(len(distinct), dtype=bool)
    for _ in range(n_bins):  # without common values, the others share more bins
        left = counts[~is_common].sum() / max(n_bins - is_common.sum(), 1)
        more = ~is_common & (counts > left)
        if not more.any() or is_common.sum() + more.sum() >= n_bins:
            break
        is_common |= more
    others = np.repeat(distinct[~is_common], counts[~is_common])
    shares = np.linspace(0.0, 1.0, n_bins + 1 - int(is_common.sum()))
    return np.union1d(distinct[is_common], np.quantile(others, shares, method="inverted_cdf"))


@description
class Piecewise(Layer):
    r"""Every number with its place in bins, :math:`y = [x, \min(\max((x_j - l_{jk})\,s_{jk}, 0), 1)]`.

    A feature rises from 0 at the left edge of a bin, :math:`l`, to 1 at its right edge, :math:`l + 1/s`. The edges are
    quantiles of the data passed to ``init`` or ``fit``, and values that many rows share; they do not change afterwards.
    A linear map of these features is any continuous function that is linear within each bin, so that the net sees
    thresholds of a column as trees do.

    Parameters
    ----------
    n_bins : int, default 16
        Largest number of bins of each column. A column with fewer distinct values has fewer; the other features are 0.
    columns : sequence of int, optional
        Indices of the columns that get features, in increasing order; all by default.

    Notes
    -----
    Gorishniy, Rubachev & Babenko 2022, "On embeddings for numerical features", eq. 1 with quantiles. The first feature
    is also limited below and the last one above, since the number itself is kept.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0], [8.0]])
    >>> md.nn.Piecewise(2).init(X)(np.array([[1.0], [5.0]])).round(2)
    array([[1. , 0.5, 0. ],
           [5. , 1. , 0.5]], dtype=float32)
    """

    name: ClassVar[str] = "piecewise"
    counts: ClassVar[tuple[str, ...]] = ("n_bins",)
    learns_from_data: ClassVar[bool] = True

    n_bins: int = 16
    _: KW_ONLY
    columns: Columns | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "columns", as_columns("Piecewise", self.columns))

    def state(self, in_shape: Shape) -> dict[str, Param]:
        shape = (n_chosen(self.columns, in_shape), self.n_bins)
        return {"left": Param(shape, Constant(0.0)), "slope": Param(shape, Constant(0.0))}

    def state_of(self, x: np.ndarray | None) -> dict[str, np.ndarray]:
        """Left edges and slopes from the quantiles of the data."""
        if x is None:
            raise ConfigError("it needs data for its bins. Pass the data to init, as net.init(X).")
        rows = x.reshape(-1, x.shape[-1])
        rows = np.asarray(chosen(rows[sampled(len(rows))], self.columns), dtype=np.float64)
        if not len(rows):
            raise InputError("there are no rows to compute bins from.")
        if not np.isfinite(rows).all():
            raise InputError("its bins need finite numbers. Impute missing values, or drop those rows.")
        left, slope = np.zeros((rows.shape[1], self.n_bins)), np.zeros((rows.shape[1], self.n_bins))
        for column, each in enumerate(rows.T):
            # Values that differ only by rounding would have a slope without limit.
            distinct = bin_edges(each.astype(np.float32), self.n_bins).astype(np.float64)
            width = np.diff(distinct)
            kept = width > 1e-6 * max(distinct[-1] - distinct[0], 1e-30)
            left[column, : kept.sum()], slope[column, : kept.sum()] = distinct[:-1][kept], 1.0 / width[kept]
        return {"left": left, "slope": slope}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        numbers = chosen(x, self.columns)
        place = (numbers.reshape((*numbers.shape, 1)) - context.state("left")) * context.state("slope")
        return with_features(x, np.minimum(np.maximum(place, 0.0), 1.0))
