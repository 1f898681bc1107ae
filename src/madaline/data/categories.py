"""Categories: few as columns of 0 and 1, many as integers for an embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from madaline.data.column import MISSING, UNSEEN, Column
from madaline.data.plans import ColumnPlan
from madaline.description import description
from madaline.errors import ConfigError

MAX_CATEGORIES = 1 << 20
"Largest number of categories of a plan."


@description
class Listed(ColumnPlan):
    """A column of categories, with the list of those that were frequent in training."""

    role: ClassVar[str] = "category"
    _: KW_ONLY
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.categories)
        if count > MAX_CATEGORIES or len(set(self.categories)) != count:
            raise ConfigError(
                f"Column {self.column!r}: the {count} categories must be different, and at most {MAX_CATEGORIES}."
            )


@description
class OneHot(Listed):
    """Few categories, one matrix column for each: 1 for the category of the row, 0 for others.

    Two categories share one column, -1 for the first and 1 for the second. Rare categories have one column together,
    and so have missing values, if the training table had any. A category that is not in the list counts as rare. If
    there is no column for it, and for a missing value without a column, all columns are 0.
    """

    name: ClassVar[str] = "one_hot"
    _: KW_ONLY
    has_other: bool = False
    has_missing: bool = False

    @property
    def is_pair(self) -> bool:
        """Whether two categories share a column."""
        return len(self.categories) == 2 and not self.has_other

    def features(self) -> tuple[str, ...]:
        known = self.categories[1:] if self.is_pair else self.categories
        names = [f"{self.column}={category}" for category in known]
        names += [f"{self.column} other"] if self.has_other else []
        names += [f"{self.column} missing"] if self.has_missing else []
        return tuple(names)

    def read(self, column: Column) -> np.ndarray:
        return column.codes(self.categories)

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        if self.is_pair:
            out[:, 0] = np.where(x >= 0, 2 * x - 1, 0)
        else:
            out[:, : len(self.categories)] = x[:, None] == np.arange(len(self.categories))
        if self.has_other:
            out[:, len(self.categories)] = x == UNSEEN
        if self.has_missing:
            out[:, -1] = x == MISSING


@description
class Embedded(Listed):
    """Many categories: an integer for each, for which the net learns a vector of ``width`` numbers.

    The integers are positions in the list, followed by one for all other categories and one for missing values.
    """

    name: ClassVar[str] = "embedded"
    ranges: ClassVar[Mapping[str, str]] = {"width": "[1, 4096]"}
    _: KW_ONLY
    width: int = 8

    @property
    def n_codes(self) -> int:
        """Number of integers."""
        return len(self.categories) + 2

    def read(self, column: Column) -> np.ndarray:
        codes = column.codes(self.categories)
        codes[codes == UNSEEN] = len(self.categories)
        codes[codes == MISSING] = len(self.categories) + 1
        return codes
