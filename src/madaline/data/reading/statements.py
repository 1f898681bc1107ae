"""Sentences about how columns were read, one for each assumption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from madaline.data.date_formats import SEVERAL, described, is_assumed
from madaline.data.reading.assumption import Assumption, counted, named
from madaline.data.reading.evidence import Evidence
from madaline.data.reading.format import TableFormat

DRESSES = {
    "currency": "amounts with a currency sign, which is removed",
    "percent": "percentages, read as the number before the %",
    "thousands": "numbers with a thousands separator",
}

LONGEST = 30
"Number of characters of a text that is shown as an example."
ASSUMED = ", assumed: no value shows whether the day or the month comes first"


def format_assumptions(
    found: TableFormat, columns: Mapping[str, Evidence], earlier: TableFormat | None
) -> Iterator[Assumption]:
    """What was assumed about the columns of a table of texts.

    Parameters
    ----------
    found : TableFormat
    columns : dict of Evidence
    earlier : TableFormat, optional
        The format of an earlier table, from which the order of day and month is known.
    """
    if found.decimal == ",":
        yield Assumption("Numbers have a decimal comma.", "--decimal")
    yield from _missing(columns)
    for dress, text in DRESSES.items():
        names = [
            name
            for name, column in found.columns.items()
            if column.is_dressed and name in columns and columns[name].n_dressed[dress]
        ]
        if names and not (dress == "thousands" and found.decimal == "," and not _has_separators(names, columns)):
            yield Assumption(f"{named(names)} {_has(names)} {text}.", "--categorical")
    codes = [name for name, each in columns.items() if found.columns[name].kind == "text" and _is_code(each, found)]
    if codes:
        yield Assumption(f"{named(codes)} {_has(codes)} codes with leading zeros, kept as text.", "--numeric")
    yield from date_assumptions(found, columns, earlier)
    times = [name for name, column in found.columns.items() if column.kind == "time"]
    if times:
        yield Assumption(f"{named(times)} {_has(times)} times, read as hours.", "--categorical")
    yield from _odd(found, columns)


def _missing(columns: Mapping[str, Evidence]) -> Iterator[Assumption]:
    markers: Counter[str] = Counter()
    for column in columns.values():
        markers.update(column.markers)
    for marker, count in markers.most_common():
        names = [name for name, column in columns.items() if column.markers[marker]]
        yield Assumption(f"{marker!r} means a missing value ({counted(count, 'time')} in {named(names)}).", "--missing")


def _has_separators(names: list[str], columns: Mapping[str, Evidence]) -> bool:
    """Whether some point separates thousands; a decimal comma before three digits looks the same."""
    return any(columns[name].n_numbers[","] and "." in columns[name].proofs for name in names)


def _is_code(column: Evidence, found: TableFormat) -> bool:
    return column.has_codes and bool(column.n) and column.n_numbers[found.decimal] == column.n - column.n_maybe


def date_assumptions(
    found: TableFormat, columns: Mapping[str, Evidence], earlier: TableFormat | None
) -> Iterator[Assumption]:
    """In which order dates are read."""
    known = {} if earlier is None else earlier.date_patterns()
    by_order: dict[str, list[str]] = {}
    for name, column in found.columns.items():
        if column.is_date and not (name in columns and columns[name].n and not columns[name].dates_of(column.pattern)):
            counts = columns[name].n_dates if name in columns and known.get(name) != column.pattern else {}
            assumed = bool(counts) and is_assumed(column.pattern.split(SEVERAL), counts)
            orders = f"{described(column.pattern)}{ASSUMED if assumed else ''}"
            by_order.setdefault(orders, []).append(name)
    for order, names in by_order.items():
        yield Assumption(f"{named(names)} {_has(names)} dates ({order}).", "--dates")


def _odd(found: TableFormat, columns: Mapping[str, Evidence]) -> Iterator[Assumption]:
    """Texts among numbers and dates that are treated as missing."""
    for name, column in columns.items():
        kind, pattern = found.columns[name].kind, found.columns[name].pattern
        if kind in ("date", "datetime") and column.n > column.dates_of(pattern):
            count = column.n - column.dates_of(pattern)
            yield Assumption(_unread(name, "dates", count, column.n), "--categorical")
        if kind not in ("integer", "number"):
            continue
        count = column.n - column.n_numbers[found.decimal]
        if count:
            row, text = column.odd.get(found.decimal, (0, ""))
            shown = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
            example = f", such as {shown!r} in line {row + 1:,}" if text else ""
            yield Assumption(_unread(name, "numbers", count, column.n, example), "--categorical")


def _unread(name: str, kind: str, count: int, n: int, example: str = "") -> str:
    """What is said of the texts of a column that holds something else."""
    if count == n:  # in a later table, where the training table decides the kind
        return f"{name!r} should have {kind}, and has none: {counted(n, 'text')}{example}, treated as missing."
    return f"{name!r} has {kind} except for {counted(count, 'text')}{example}, treated as missing."


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"
