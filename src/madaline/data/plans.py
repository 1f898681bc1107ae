"""How each column goes into the net: fitted once, frozen, plain data. One class for each way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from madaline.data.calendar import PARTS, part, part_names
from madaline.data.column import Column
from madaline.data.scale import smooth_clip
from madaline.description import Description, description
from madaline.errors import ConfigError, InputError
from madaline.registry import Registry

COLUMN_PLANS: Registry[type[ColumnPlan]] = Registry("column plan")


@description
class ColumnPlan(Description):
    """What becomes of one column.

    Parameters
    ----------
    column : str
        Its name.
    reason : str
        Why it is used so, in a few words.
    """

    registry: ClassVar[Registry[Any]] = COLUMN_PLANS
    role: ClassVar[str]
    "What people call it: number, category, date ..."

    column: str
    _: KW_ONLY
    reason: str = ""

    def features(self) -> tuple[str, ...]:
        """The names of the matrix columns it becomes; none if it is embedded or left out."""
        return ()

    def read(self, column: Column) -> np.ndarray:
        """The column's values as an array, without a copy where that can be."""
        raise NotImplementedError

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        """Write its part of the matrix, of shape (n_rows, len(features)), for some rows that were read."""
        raise NotImplementedError


@description
class Number(ColumnPlan):
    r"""A number, :math:`y = (x - c)/s`, clipped smoothly if asked; missing ones become ``fill`` before.

    If the training data had gaps, a second matrix column says where: 1 for a missing number, 0 for others.
    """

    name: ClassVar[str] = "number"
    role: ClassVar[str] = "number"
    ranges: ClassVar[Mapping[str, str]] = {"centre": "(-inf, inf)", "scale": "(0, inf)", "fill": "(-inf, inf)"}
    _: KW_ONLY
    centre: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    clip: bool = False
    has_gaps: bool = False

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
            out[:, 0] = smooth_clip(y) if self.clip else y
        if not self.clip and not np.isfinite(out[:, 0]).all():
            raise _TooLarge(int(np.flatnonzero(~np.isfinite(out[:, 0]))[0]))


@description
class Flag(ColumnPlan):
    """True and false as 1 and -1; 0 where it is missing."""

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
    """Dates and times as their parts: those that only grow are scaled, those that come round are sine and cosine.

    Where the date is missing, all parts are 0; if there were gaps in training, a last column says where.
    """

    name: ClassVar[str] = "moment"
    role: ClassVar[str] = "date"
    _: KW_ONLY
    parts: tuple[str, ...] = PARTS
    centres: tuple[float, ...] = (0.0,) * len(PARTS)
    scales: tuple[float, ...] = (1.0,) * len(PARTS)
    has_gaps: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = (*self.centres, *self.scales)
        if len(set(self.parts)) != len(self.parts) or not set(self.parts) <= set(PARTS):
            raise ConfigError(f"Column {self.column!r}: parts={self.parts!r} must be some of {', '.join(PARTS)}.")
        if not len(self.parts) == len(self.centres) == len(self.scales) or not all(map(math.isfinite, numbers)):
            raise ConfigError(f"Column {self.column!r}: every part needs a finite centre and a finite scale.")
        if min(self.scales, default=1.0) <= 0.0:
            raise ConfigError(f"Column {self.column!r}: scales={self.scales!r} must be above 0.")

    def features(self) -> tuple[str, ...]:
        names = [f"{self.column} {name}" for each in self.parts for name in part_names(each)]
        return (*names, f"{self.column} missing") if self.has_gaps else tuple(names)

    def read(self, column: Column) -> np.ndarray:
        return column.dates()

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
    """A column that is left out; ``why`` is one word for it, ``reason`` a sentence."""

    name: ClassVar[str] = "dropped"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"why": ("ignored", "constant", "id", "leak", "unusable")}
    _: KW_ONLY
    why: str = "ignored"

    @property
    def role(self) -> str:  # type: ignore[override]
        """The word."""
        return self.why


def write_rows(plan: ColumnPlan, column: Column, x: np.ndarray, out: np.ndarray, start: int) -> None:
    """Write some rows, the first being row ``start`` of the column; an error names column, row and value."""
    try:
        plan.write(x, out)
    except _TooLarge as error:
        raise InputError(
            f"Column {plan.column!r}: row {column.row(start + error.row)} holds {x[error.row]}, which is too large to "
            "compute with. Correct the value or leave it empty."
        ) from None


class _TooLarge(Exception):  # noqa: N818 - never seen by a user
    """The row whose number is infinite, or is so after scaling."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row
