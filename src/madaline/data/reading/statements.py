"""Sentences about how columns were read, one for each thing that was assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from madaline.data.date_formats import SEVERAL, described, is_assumed
from madaline.data.reading.assumption import Assumption, counted, named
from madaline.data.reading.evidence import Evidence
from madaline.data.reading.format import TableFormat

DRESSES = {
    "currency": "amounts with a currency sign, which is left out",
    "percent": "percentages, read as the number before the %",
    "thousands": "numbers whose thousands are parted",
}

ASSUMED = ", assumed: no value shows whether the day or the month comes first"


def say(found: TableFormat, columns: Mapping[str, Evidence]) -> Iterator[Assumption]:
    """What was assumed about the columns."""
    if found.decimal == ",":
        yield Assumption("Numbers have a decimal comma.", "--decimal")
    yield from _missing(columns)
    for dress, text in DRESSES.items():
        names = [
            name
            for name, column in found.columns.items()
            if column.is_dressed and name in columns and columns[name].n_dressed[dress]
        ]
        if names and not (dress == "thousands" and found.decimal == "," and not _are_parted(names, columns)):
            yield Assumption(f"{named(names)} {_has(names)} {text}.", "--categorical")
    codes = [name for name, each in columns.items() if found.columns[name].kind == "text" and _is_code(each, found)]
    if codes:
        yield Assumption(f"{named(codes)} {_has(codes)} codes with leading zeros, kept as text.", "--numeric")
    yield from _dates(found, columns)
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


def _are_parted(names: list[str], columns: Mapping[str, Evidence]) -> bool:
    """Whether points part thousands somewhere; a decimal comma with three digits looks the same otherwise."""
    return any(columns[name].n_numbers[","] and "." in columns[name].proofs for name in names)


def _is_code(column: Evidence, found: TableFormat) -> bool:
    return column.has_codes and bool(column.n) and column.n_numbers[found.decimal] == column.n - column.n_maybe


def _dates(found: TableFormat, columns: Mapping[str, Evidence]) -> Iterator[Assumption]:
    by_order: dict[str, list[str]] = {}
    for name, column in found.columns.items():
        if column.kind in ("date", "datetime"):
            assumed = is_assumed(column.pattern.split(SEVERAL), columns[name].n_dates) if name in columns else False
            orders = f"{described(column.pattern)}{ASSUMED if assumed else ''}"
            by_order.setdefault(orders, []).append(name)
    for orders_said, names in by_order.items():
        yield Assumption(f"{named(names)} {_has(names)} dates ({orders_said}).", "--dates")


def _odd(found: TableFormat, columns: Mapping[str, Evidence]) -> Iterator[Assumption]:
    """Texts among numbers and dates that were taken for missing values."""
    for name, column in columns.items():
        kind, pattern = found.columns[name].kind, found.columns[name].pattern
        if kind in ("date", "datetime") and column.n > column.dates_of(pattern):
            texts = counted(column.n - column.dates_of(pattern), "text")
            yield Assumption(f"{name!r} has dates but for {texts}, taken as missing.", "--categorical")
        if kind not in ("integer", "number"):
            continue
        count = column.n - column.n_numbers[found.decimal]
        if count:
            row, text = column.odd.get(found.decimal, (0, ""))
            example = f", as {text[:30]!r} in line {row + 1:,}" if text else ""
            yield Assumption(
                f"{name!r} has numbers but for {counted(count, 'text')}{example}, taken as missing.", "--categorical"
            )


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"
