"""How a column is encoded: one class for each kind of column. Plans are frozen and plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from madaline.data.calendar import PARTS, part, part_names
from madaline.data.column import Column
from madaline.data.dates import check_pattern
from madaline.data.scale import CLIPS, limited
from madaline.description import Description, description
from madaline.errors import ConfigError, InputError
from madaline.registry import Registry

COLUMN_PLANS: Registry[type[ColumnPlan]] = Registry("column plan")


@description
class ColumnPlan(Description):
    """How one column is encoded.

    Parameters
    ----------
    column : str
        Name of the column.
    reason : str
        Why the column is used in this way, in a few words.
    """

    registry: ClassVar[Registry[Any]] = COLUMN_PLANS
    role: ClassVar[str]
    "The role of the column: number, category, date ..."

    column: str
    _: KW_ONLY
    reason: str = ""

    def features(self) -> tuple[str, ...]:
        """Names of its matrix columns; none if it is embedded or left out."""
        return ()

    def read(self, column: Column) -> np.ndarray:
        """The values of the column as an array, without a copy where possible."""
        raise NotImplementedError

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        """Write the matrix columns, of shape (n_rows, len(features)), of some values that were read."""
        raise NotImplementedError


@description
class Number(ColumnPlan):
    r"""A number, :math:`y = (x - c)/s`, limited as ``clip`` says; missing values become ``fill`` before.

    If the training table had missing values, a second matrix column is 1 for a missing value and 0 for others. ``low``
    and ``high`` are the smallest and the largest value in training, and ``is_whole`` says whether all were whole
    numbers. They do not change the encoding: forms and warnings about values outside of the range use them.
    """

    name: ClassVar[str] = "number"
    role: ClassVar[str] = "number"
    ranges: ClassVar[Mapping[str, str]] = {
        "centre": "(-inf, inf)",
        "scale": "(0, inf)",
        "fill": "(-inf, inf)",
        "low": "(-inf, inf)",
        "high": "(-inf, inf)",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"clip": CLIPS}
    _: KW_ONLY
    centre: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    clip: str = "none"
    has_gaps: bool = False
    low: float | None = None
    high: float | None = None
    is_whole: bool = False

    def features(self) -> tuple[str, ...]:
        return (self.column, f"{self.column} missing") if self.has_gaps else (self.column,)

    def read(self, column: Column) -> np.ndarray:
        return column.numbers()

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        x = np.ascontiguousarray(x, dtype=x.dtype if x.dtype in (np.float32, np.float64) else np.float64)
        finite = np.isfinite(x)
        if self.has_gaps:
            out[:, 1] = 0.0
        if not finite.all():
            missing = np.isnan(x)
            if not (finite | missing).all():
                raise _TooLarge(int(np.flatnonzero(~finite & ~missing)[0]))
            x = np.where(missing, self.fill, x)
            if self.has_gaps:
                out[:, 1] = missing
        with np.errstate(over="ignore"):
            y = (x - self.centre) / self.scale
            out[:, 0] = limited(y, self.clip)
        if self.clip != "smooth" and not np.isfinite(out[:, 0]).all():
            raise _TooLarge(int(np.flatnonzero(~np.isfinite(out[:, 0]))[0]))


@description
class Flag(ColumnPlan):
    """True and false as 1 and -1; 0 if missing."""

    name: ClassVar[str] = "flag"
    role: ClassVar[str] = "boolean"

    def features(self) -> tuple[str, ...]:
        return (self.column,)

    def read(self, column: Column) -> np.ndarray:
        return column.booleans()

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        out[:, 0] = np.nan_to_num(2.0 * x - 1.0, nan=0.0)


@description
class Moment(ColumnPlan):
    """Dates and times as their parts: year and days are scaled, parts that repeat are sine and cosine.

    If the date is missing, all parts are 0. If the training table had missing dates, a last matrix column is 1 for a
    missing date and 0 for others. ``pattern`` is the format of dates that are text.
    """

    name: ClassVar[str] = "moment"
    role: ClassVar[str] = "date"
    _: KW_ONLY
    pattern: str = ""
    parts: tuple[str, ...] = PARTS
    centres: tuple[float, ...] = (0.0,) * len(PARTS)
    scales: tuple[float, ...] = (1.0,) * len(PARTS)
    has_gaps: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pattern(self.pattern)
        numbers = (*self.centres, *self.scales)
        if len(set(self.parts)) != len(self.parts) or not set(self.parts) <= set(PARTS):
            raise ConfigError(f"Column {self.column!r}: parts={self.parts!r} must be some of {', '.join(PARTS)}.")
        if not len(self.parts) == len(self.centres) == len(self.scales) or not all(map(math.isfinite, numbers)):
            raise ConfigError(f"Column {self.column!r}: every part needs a finite centre and a finite scale.")
        if min(self.scales, default=1.0) <= 0.0:
            raise ConfigError(f"Column {self.column!r}: scales={self.scales!r} must be positive.")

    def features(self) -> tuple[str, ...]:
        names = [f"{self.column} {name}" for each in self.parts for name in part_names(each)]
        return (*names, f"{self.column} missing") if self.has_gaps else tuple(names)

    def read(self, column: Column) -> np.ndarray:
        return column.dates(self.pattern)

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        missing = np.isnat(x)
        given = np.where(missing, np.datetime64(0, "us"), x)
        place = 0
        for name, centre, scale in zip(self.parts, self.centres, self.scales, strict=True):
            values = (part(given, name) - centre) / scale
            out[:, place : place + values.shape[1]] = np.where(missing[:, None], 0.0, values)
            place += values.shape[1]
        if self.has_gaps:
            out[:, place] = missing


@description
class Dropped(ColumnPlan):
    """A column that is left out; ``why`` is its role, ``reason`` a few words."""

    name: ClassVar[str] = "dropped"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"why": ("ignored", "constant", "id", "leak", "unusable")}
    _: KW_ONLY
    why: str = "ignored"

    @property
    def role(self) -> str:  # type: ignore[override]  # of each object, not of the class
        """The role."""
        return self.why


def write_rows(plan: ColumnPlan, column: Column, x: np.ndarray, out: np.ndarray, start: int) -> None:
    """Write some rows, starting with row ``start`` of the column; an error names column, row and value."""
    try:
        plan.write(x, out)
    except _TooLarge as error:
        raise InputError(
            f"Column {plan.column!r}: row {column.row(start + error.row)} holds {x[error.row]}, which is too large to "
            "compute with. Correct the value or leave it empty.",
            column=plan.column,
            row=column.row(start + error.row),
        ) from None


class _TooLarge(Exception):  # noqa: N818 - always caught
    """A number is infinite, or becomes so by scaling."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row
