"""The format of each column, chosen by what its texts can be read as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from madaline.data import date_formats
from madaline.data.reading.evidence import Evidence
from madaline.data.reading.format import ColumnFormat

MOSTLY = 0.9
"Share of texts that must be numbers or dates for the others to be treated as missing."
MANY = 20
"Number of distinct numbers that a column must have for that; with fewer, the others may be categories."


def find_decimal(columns: Iterable[Evidence], usual: str | None = None) -> str:
    """The decimal mark of most columns that show one; ``usual``, unless all columns that show one show the other."""
    shown = [column for column in columns if column.proofs and max(column.n_numbers.values()) >= MOSTLY * column.n]
    if usual is not None and (not shown or any(usual in column.proofs for column in shown)):
        return usual
    commas = sum("," in column.proofs for column in shown)
    return "," if commas > sum("." in column.proofs for column in shown) else "."


def find_format(column: Evidence, decimal: str, *, numeric: bool | None, with_dates: bool) -> ColumnFormat:
    """The format that fits a column; ``numeric`` is what the user says about it, if anything."""
    if numeric is False:
        return ColumnFormat("text")
    if not column.n:
        return ColumnFormat("empty")
    count = column.n_numbers[decimal]
    known = column.n - column.n_maybe
    is_number = count and (count == known or (count >= MOSTLY * known and column.n_distinct >= MANY))
    if numeric or (is_number and not column.has_codes):
        plain = column.n_plain >= count and (decimal == "." or column.n_integers == column.n_plain)
        return ColumnFormat("integer" if plain and column.n_integers == count else "number", is_dressed=not plain)
    if with_dates and column.n_dates:
        pattern = date_formats.SEVERAL.join(date_formats.together(column.n_dates))
        if pattern and column.dates_of(pattern) >= MOSTLY * known:
            return ColumnFormat("datetime" if date_formats.has_clock(pattern) else "date", pattern)
    if column.n_times and column.n_times == known:
        return ColumnFormat("time")
    return ColumnFormat("text")


def found_again(known: ColumnFormat, column: Evidence, decimal: str) -> ColumnFormat:
    """The format of a column in a later table: the ``known`` one, unless its numbers or dates are written differently.

    Dates keep their format if it reads as many of them as any other, so one row is read as the training table was.
    """
    if not column.n:
        return known
    if known.kind in ("integer", "number"):
        found = find_format(column, decimal, numeric=True, with_dates=False)
        return replace(found, kind=found.kind if known.kind == "integer" else "number")
    if known.is_date:
        found = find_format(column, decimal, numeric=None, with_dates=True)
        if found.pattern and column.dates_of(found.pattern) > column.dates_of(known.pattern):
            return found
    return known
