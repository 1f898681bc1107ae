"""The inputs of a model as fields of a form: numbers with ranges, categories, dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from madaline.data.categories import Listed
from madaline.data.plans import Dropped, Flag, Moment, Number
from madaline.data.words import Words

SPREAD = 2.0
"A number without a known range is shown from this many scales below its centre to as many above."


@dataclass(frozen=True)
class Field:
    """One input of a model.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"number", "boolean", "category", "date", "text"}
    low, high : float or None
        The smallest and the largest number in training, if known.
    shown : (float, float) or None
        The range of a slider; None if it is not a number.
    is_whole : bool
        Whether the training table had only whole numbers.
    categories : tuple of str
    default : float, str or None
        A typical value: of a number, or of a date as days since 1970-01-01.
    has_time : bool
        Whether the times of day of dates are used.
    """

    name: str
    kind: str
    low: float | None = None
    high: float | None = None
    shown: tuple[float, float] | None = None
    is_whole: bool = False
    categories: tuple[str, ...] = ()
    default: float | str | None = None
    has_time: bool = False

    def to_plain(self) -> dict[str, Any]:
        """The field as plain data, for JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "low": self.low,
            "high": self.high,
            "shown": self.shown,
            "isWhole": self.is_whole,
            "categories": self.categories,
            "default": self.default,
            "hasTime": self.has_time,
        }


def fields_of(estimator: Any) -> tuple[Field, ...]:
    """The fields of a fitted estimator: the columns that it uses, or the elements of its rows."""
    plan = getattr(estimator, "table_plan_", None)
    if plan is not None:
        return tuple(_field(column) for column in plan.columns if not isinstance(column, Dropped))
    count = int(estimator.n_features_in_)
    names = getattr(estimator, "feature_names_in_", None)
    texts = [f"x{k}" for k in range(count)] if names is None else [str(name) for name in names]
    return tuple(Field(text, "number", shown=(-SPREAD, SPREAD), default=0.0) for text in texts)


def _field(column: Any) -> Field:
    if isinstance(column, Number):
        around = (column.centre - SPREAD * column.scale, column.centre + SPREAD * column.scale)
        known = None if column.low is None or column.high is None else (column.low, column.high)
        shown = known if known is not None and known[0] < known[1] else around
        default = float(round(column.fill)) if column.is_whole else column.fill
        return Field(column.column, "number", column.low, column.high, shown, column.is_whole, default=default)
    if isinstance(column, Flag):
        return Field(column.column, "boolean", default=0.0)
    if isinstance(column, Moment):
        days = dict(zip(column.parts, column.centres, strict=True)).get("days", 0.0)
        return Field(column.column, "date", default=float(int(days)), has_time="hour" in column.parts)
    if isinstance(column, Words):
        return Field(column.column, "text", default="")
    assert isinstance(column, Listed)
    return Field(column.column, "category", categories=column.categories, default=(column.categories or ("",))[0])
