"""Columns of categories: a few as columns of 0 and 1, many as whole numbers for an embedding."""

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
"A plan with longer lists is refused."


@description
class Listed(ColumnPlan):
    """What columns of categories have in common: the list of those that training saw often enough."""

    role: ClassVar[str] = "category"
    _: KW_ONLY
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.categories)
        if count > MAX_CATEGORIES or len(set(self.categories)) != count:
            raise ConfigError(f"Column {self.column!r}: the {count} categories must differ, at most {MAX_CATEGORIES}.")


@description
class OneHot(Listed):
    """A few categories, one matrix column for each: 1 for the row's own, 0 for others.

    Two categories make one column, -1 for the first and 1 for the second. Rare ones have one column together, and so
    have missing ones, if there were any in training. A category that training did not know counts as a rare one; where
    there were none, and for a missing one that is new, all columns are 0.
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
    """Many categories: a whole number for each, of which the net learns a vector of ``width`` numbers.

    The numbers are the places in the list, then one for all others, then one for missing ones.
    """

    name: ClassVar[str] = "embedded"
    ranges: ClassVar[Mapping[str, str]] = {"width": "[1, 4096]"}
    _: KW_ONLY
    width: int = 8

    @property
    def n_codes(self) -> int:
        """How many numbers there are."""
        return len(self.categories) + 2

    def read(self, column: Column) -> np.ndarray:
        codes = column.codes(self.categories)
        codes[codes == UNSEEN] = len(self.categories)
        codes[codes == MISSING] = len(self.categories) + 1
        return codes
