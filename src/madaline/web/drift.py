"""Values that training did not see: unknown categories and numbers outside of the range of the training table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.data.categories import Listed
from madaline.data.column import UNSEEN
from madaline.data.encode import TablePlan
from madaline.data.plans import Number
from madaline.data.table import Table
from madaline.description import short

UNKNOWN_CATEGORY, OUT_OF_RANGE, UNUSED = "unknown_category", "out_of_range", "unused_column"


@dataclass(frozen=True)
class UnseenValue:
    """Values of one column that training did not see. They are answered as ``predict`` does."""

    kind: str
    column: str
    message: str
    count: int = 0
    row: int | None = None

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        place = {} if self.row is None else {"count": self.count, "row": self.row}
        return {"kind": self.kind, "column": self.column, "message": self.message, **place}


def unseen_values(table: Table, plan: TablePlan, known: frozenset[str]) -> Iterator[UnseenValue]:
    """What a table has that the training table had not.

    Parameters
    ----------
    table : Table
    plan : TablePlan
    known : set of str
        Columns that may be in the table without being used, such as the target.
    """
    by_name = plan.has_names and table.has_names
    for place, column in enumerate(plan.columns):
        name = column.column if by_name else table.names[place]
        if isinstance(column, Listed):
            yield from _unknown(column, table, name)
        elif isinstance(column, Number) and column.low is not None and column.high is not None:
            yield from _out_of_range(column, table, name, column.low, column.high)
    if by_name:
        for name in plan.unknown(table):
            if name not in known:
                yield UnseenValue(UNUSED, name, f"Column {name!r} is not used by the model.")


def _unknown(plan: Listed, table: Table, name: str) -> Iterator[UnseenValue]:
    column = table[name]
    rows = np.flatnonzero(column.codes(plan.categories) == UNSEEN)
    if len(rows):
        row = int(rows[0])
        text = (
            f"Column {plan.column!r}: row {row} holds {short(column.texts()[row])}, which was not a category in "
            f"training{_others(len(rows))}."
        )
        yield UnseenValue(UNKNOWN_CATEGORY, plan.column, text, len(rows), row)


def _out_of_range(plan: Number, table: Table, name: str, low: float, high: float) -> Iterator[UnseenValue]:
    x = table[name].numbers()
    if len(x) == 1:  # without the cost of arrays
        value = float(x[0])
        rows: Any = (0,) if value < low or value > high else ()
    else:
        rows = np.flatnonzero((x < low) | (x > high))
    if len(rows):
        row = int(rows[0])
        text = (
            f"Column {plan.column!r}: row {row} holds {float(x[row]):g}, outside of the training range {low:g} to "
            f"{high:g}{_others(len(rows))}."
        )
        yield UnseenValue(OUT_OF_RANGE, plan.column, text, len(rows), row)


def _others(count: int) -> str:
    return f" ({count} such rows)" if count > 1 else ""
