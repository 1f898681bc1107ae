"""The preprocessing of the columns of a table as formulas, which become part of the exported graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from madaline.data.calendar import LINEAR
from madaline.data.categories import Embedded, OneHot
from madaline.data.column import MISSING, UNSEEN
from madaline.data.encode import NUMBERS, TablePlan
from madaline.data.plans import ColumnPlan, Dropped, Flag, Moment, Number
from madaline.data.scale import limited
from madaline.data.words import Words
from madaline.errors import ConfigError
from madaline.graph.node import Node, new_input, topological_order
from madaline.graph.shapes import Rows


class TableColumns:
    """The inputs of a graph that takes the raw columns of a table.

    Parameters
    ----------
    plan : TablePlan
        The fitted plan.

    Attributes
    ----------
    inputs : list of Node
        One for each used column, of shape (n,).
    known : dict
        Kind, categories and position in the table of each column, by its name.
    layers : dict
        A description of each node of :meth:`encoded`, by id.
    """

    def __init__(self, plan: TablePlan) -> None:
        self._plan = plan
        self.inputs: list[Node] = []
        self.known: dict[str, Mapping[str, Any]] = {}
        self.layers: dict[int, str] = {}
        for place, column in enumerate(plan.columns):
            if isinstance(column, Dropped):
                continue
            if isinstance(column, Words):
                raise ConfigError(
                    f"Column {column.column!r} is text, and exported files cannot split text into words. Use the model "
                    "file (md.load, madaline predict, madaline serve), or train without the column."
                )
            is_category = isinstance(column, (OneHot, Embedded))
            kind = "category" if is_category else "date" if isinstance(column, Moment) else "number"
            dtype = np.int64 if is_category else np.float64
            self.inputs.append(new_input(len(self.inputs), (Rows(),), dtype, column.column))
            values = getattr(column, "categories", ())
            self.known[column.column] = {"kind": kind, "values": values, "place": place}

    def encoded(self) -> Any:
        """The traced result of :meth:`TablePlan.encode`: a matrix, or a dict with the categories to embed."""
        names = self._plan.inputs()
        embedded: dict[str, Any] = {}
        blocks: list[Any] = []
        for column, x in zip(self._plan.used(), self.inputs, strict=True):
            parts: list[Any]
            if isinstance(column, Embedded):
                count = len(column.categories)
                parts = [np.where(x == UNSEEN, count, np.where(x == MISSING, count + 1, x))]
                embedded[names[column.column]] = parts[0]
            else:
                parts = [part.astype(np.float32) for part in FORMULAS[type(column)](column, x)]
                parts = [part if part.ndim == 2 else part[:, None] for part in parts]
                blocks += parts
            for node in topological_order(parts):
                self.layers.setdefault(id(node), f"Column {column.column!r}")
        if not blocks:
            return embedded
        matrix = np.concatenate(blocks, axis=1)
        return {NUMBERS: matrix, **embedded} if embedded else matrix


def _number(plan: Any, x: Any) -> list[Any]:
    missing = np.isnan(x)
    y = (np.where(missing, plan.fill, x) - plan.centre) / plan.scale
    return [limited(y, plan.clip), *([missing] if plan.has_gaps else [])]


def _flag(plan: Any, x: Any) -> list[Any]:
    return [np.where(np.isnan(x), 0.0, 2.0 * x - 1.0)]


def _one_hot(plan: Any, x: Any) -> list[Any]:
    if plan.is_pair:
        found = [np.where(x >= 0, 2 * x - 1, 0)]
    else:
        found = [x[:, None] == np.arange(len(plan.categories))]
    return [*found, *([x == UNSEEN] if plan.has_other else []), *([x == MISSING] if plan.has_missing else [])]


def _moment(plan: Any, x: Any) -> list[Any]:
    missing = np.isnan(x)
    shares = _parts_of(np.where(missing, 0.0, x))
    found: list[Any] = []
    for name, centre, scale in zip(plan.parts, plan.centres, plan.scales, strict=True):
        angle = 2.0 * np.pi * shares[name]
        values = [shares[name]] if name in LINEAR else [np.sin(angle), np.cos(angle)]
        found += [np.where(missing, 0.0, (value - centre) / scale) for value in values]
    return [*found, *([missing] if plan.has_gaps else [])]


def _parts_of(days: Any) -> dict[str, Any]:
    """The parts of a date from days since 1970. Years begin in March here, so that a leap day is the last of a year.

    400 years have 146,097 days. The number of days before month m is the integer part of 30.6 m + 0.4.
    """
    day = np.floor(days)
    since = day + 719468.0  # since 1 March of the year 0
    era = np.floor(since / 146097.0)
    of_era = since - 146097.0 * era
    leap_days = np.floor(of_era / 1460.0) - np.floor(of_era / 36524.0) + np.floor(of_era / 146096.0)
    year = np.floor((of_era - leap_days) / 365.0)
    of_year = of_era - (365.0 * year + np.floor(year / 4.0) - np.floor(year / 100.0))
    from_march = np.floor((5.0 * of_year + 2.0) / 153.0)
    month = np.where(from_march < 10.0, from_march + 2.0, from_march - 10.0)  # 0 is January
    day_of_month = of_year - np.floor((153.0 * from_march + 2.0) / 5.0)
    return {
        "year": year + 400.0 * era + np.where(month < 2.0, 1.0, 0.0),
        "days": days,
        "month": month / 12.0,
        "day": day_of_month / 31.0,
        "weekday": np.remainder(day + 3.0, 7.0) / 7.0,
        "hour": days - day,
    }


FORMULAS: dict[type[ColumnPlan], Callable[[Any, Any], list[Any]]] = {
    Number: _number,
    Flag: _flag,
    OneHot: _one_hot,
    Moment: _moment,
}
"The matrix columns of each kind of table column, from its values as the exported file takes them."
