"""Values of a table as plain data and as texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from madaline.data.table import Table
from madaline.data.texts import number_text
from madaline.report.value_text import date_text


def cell_values(table: Table, names: Sequence[str]) -> dict[str, list[Any]]:
    """Values of columns as numbers, booleans and texts; None for missing ones. Columns of other things are left out."""
    found: dict[str, list[Any]] = {}
    for name in names:
        column = table[name]
        if column.kind == "number":
            found[name] = [None if math.isnan(value) else value for value in column.values.tolist()]
        elif column.kind == "boolean":
            found[name] = [None if math.isnan(value) else bool(value) for value in column.booleans().tolist()]
        elif column.kind == "date":
            found[name] = [date_text(value) or None for value in column.values]
        elif column.kind != "other":
            found[name] = column.texts().to_list()
    return found


def cell_text(value: Any) -> str:
    """A value as people read it; nothing for a missing one.

    Examples
    --------
    >>> [cell_text(value) for value in (None, True, 8730.0, "Rome")]
    ['', 'true', '8730', 'Rome']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def cell_texts(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Values of columns as texts."""
    return {name: [cell_text(value) for value in values] for name, values in cell_values(table, names).items()}
