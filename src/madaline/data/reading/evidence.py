"""What the texts of a column can be read as, counted in batches, so that a file may have any size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from madaline.data import date_formats
from madaline.data.dates import read_dates
from madaline.data.reading import numbers
from madaline.data.texts import Texts

if TYPE_CHECKING:
    import polars as pl

    T = TypeVar("T", pl.Series, pl.Expr)

MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "#N/A", "#NA", "<NA>", "NULL", "null", "NaT", "?")
"Texts that mean a missing value in any column."
MAYBE_MISSING = (
    "-",
    "--",
    "---",
    ".",
    "..",
    "None",
    "none",
    "NONE",
    "na",
    "Na",
    "missing",
    "Missing",
    "unknown",
    "inf",
    "-inf",
)
"Texts that mean a missing value among numbers or dates, but may be a category among other texts."
_NUMBER = re.compile(r"^([+-]?\d+)(?:[.,](\d*?)0*)?$")
FEW = 50
"Distinct numbers are counted up to this many."


_MANY_DIGITS = 300
"Shorter texts without an exponent are no number that overflows."


@dataclass
class Evidence:
    """Number of texts of a column that can be read in each way.

    Attributes
    ----------
    n : int
        Number of texts that are not missing.
    n_maybe : int
        Number of those that mean a missing value if the others are numbers or dates.
    n_integers : int
        Number of integers in plain digits.
    n_numbers : dict of int
        Number of numbers, by decimal mark.
    n_plain : int
        Number of numbers in plain digits, with or without a decimal point.
    proofs : set of str
        Decimal marks for which some number leaves no doubt.
    n_dates : Counter
        Number of dates, by format.
    n_times : int
        Number of times of day.
    n_dressed : Counter
        Number of texts with a currency sign, a percent sign, or a thousands separator.
    n_distinct : int
        Number of distinct numbers, if they are few.
    has_codes : bool
        Whether there are digits with leading zeros.
    markers : Counter
        Texts that mean a missing value, and how often each occurs.
    odd : dict
        By decimal mark, the row and text of the first that is not a number.
    """

    n: int = 0
    n_maybe: int = 0
    n_integers: int = 0
    n_plain: int = 0
    n_times: int = 0
    n_distinct: int = 0
    has_codes: bool = False
    n_numbers: Counter[str] = field(default_factory=Counter)
    n_dates: Counter[str] = field(default_factory=Counter)
    n_dressed: Counter[str] = field(default_factory=Counter)
    markers: Counter[str] = field(default_factory=Counter)
    proofs: set[str] = field(default_factory=set)
    odd: dict[str, tuple[int, str]] = field(default_factory=dict)

    def look_at_plain(self, n: int, n_integers: int, n_distinct: int, has_codes: bool) -> bool:
        """Count a batch of plain digits; False if it needs a closer look."""
        if n_integers < n and "." not in self.proofs:
            return False
        self.n += n
        self.n_plain += n
        self.n_integers += n_integers
        self.has_codes |= has_codes
        self.n_numbers["."] += n
        self.n_numbers[","] += n_integers
        self.n_distinct = max(self.n_distinct, min(FEW, n_distinct))
        return True

    def look(self, texts: pl.Series, markers: tuple[str, ...], order: str | None, first_row: int) -> None:
        """Count the texts of one batch of the column, without outer blanks."""
        import polars as pl

        n = len(texts) - texts.null_count()
        floats = texts.cast(pl.Float64, strict=False)
        is_plain = floats.is_finite().fill_null(value=False)
        n_plain = int(is_plain.sum())
        is_marker = are_missing(texts, markers) if n_plain < n or any(map(has_digits, markers)) else None
        if is_marker is not None and is_marker.any():
            self.markers.update(texts.filter(is_marker).to_list())
            texts = texts.zip_with(~is_marker, pl.Series([None], dtype=pl.String))
            n = len(texts) - texts.null_count()
            is_plain &= ~is_marker.fill_null(value=False)
            n_plain = int(is_plain.sum())
        if not n:
            return
        n_integers = 0
        self.n += n
        self.n_plain += n_plain
        if n_plain:
            n_integers = len(texts) - texts.cast(pl.Int64, strict=False).null_count()
            self.n_integers += n_integers
            self.has_codes |= bool(texts.str.contains(r"^[+-]?0\d").any())
            if self.n_distinct < FEW:
                self.n_distinct = max(self.n_distinct, min(FEW, floats.filter(is_plain).n_unique()))
        if n_integers == n:
            self.n_numbers.update(dict.fromkeys(numbers.MARKS, n))
            return
        if n_plain < n:
            maybe = texts.is_in(MAYBE_MISSING).fill_null(value=True)
            self.n_maybe += int(maybe.sum()) - (len(texts) - n)
            self.look_at_dates(texts, order)
            self._look_at_dressed(texts.filter(~is_plain & ~maybe))
        elif "." in self.proofs or texts.str.contains(numbers.PROVES["."]).any():
            # Numbers in plain digits with a decimal point, as in most files; with a comma they are not numbers.
            self.proofs.add(".")
            self.n_numbers["."] += n
            return
        for mark in numbers.MARKS:
            self._look_at_numbers(texts, mark, n_plain, first_row)

    def dates_of(self, pattern: str) -> int:
        """Number of texts that are dates in a format, or in one of several."""
        return min(self.n, sum(self.n_dates[each] for each in pattern.split(date_formats.SEVERAL)))

    def _look_at_numbers(self, texts: pl.Series, mark: str, n_plain: int, first_row: int) -> None:
        """Count the numbers with this decimal mark, and remember the first text that is not one."""
        import polars as pl

        fits = texts.str.contains(numbers.pattern(mark))
        fits &= ~_are_too_large(texts, fits, mark)
        count = int(fits.sum())
        self.n_numbers[mark] += count
        if not count:
            return
        if mark not in self.proofs and texts.filter(fits).str.contains(numbers.PROVES[mark]).any():
            self.proofs.add(mark)
        if mark not in self.odd and 2 * count > n_plain:
            bad = (~fits & ~texts.is_in(MAYBE_MISSING)).arg_true()
            if len(bad):
                self.odd[mark] = (first_row + int(bad[0]), str(texts[int(bad[0])]))
        if count > n_plain and self.n_distinct < FEW:
            values = pl.select(numbers.read_numbers(pl.lit(texts), mark).cast(pl.Float64, strict=False)).to_series()
            self.n_distinct = max(self.n_distinct, min(FEW, values.n_unique()))

    def _look_at_dressed(self, odd: pl.Series) -> None:
        for name, sign in (
            ("currency", numbers.CURRENCY),
            ("percent", "%"),
            ("thousands", r"\d[,.'\x{2019}\s]\d{3}\b"),
        ):
            if count := int(odd.str.contains(sign).sum()):
                self.n_dressed[name] += count

    def look_at_dates(self, texts: pl.Series, order: str | None) -> None:
        """Count the dates and times of one batch of the column."""
        given = texts.drop_nulls()
        found = {**dict.fromkeys(self.n_dates), **dict.fromkeys(date_formats.formats(given.head(FEW), order))}
        if found:
            distinct = Texts.of(given.to_list())
            counts = distinct.counts()
            for each in found:
                self.n_dates[each] += int(counts[~np.isnat(read_dates(distinct.distinct, each))].sum())
        self.n_times += int(texts.str.contains(date_formats.TIME).sum())


def _are_too_large(texts: pl.Series, fits: pl.Series, mark: str) -> pl.Series:
    """Which of the numbers are larger than any floating-point number."""
    import polars as pl

    is_large = (fits & ((texts.str.len_bytes() > _MANY_DIGITS) | texts.str.contains(r"[eE]\+?\d{3}"))).fill_null(
        value=False
    )
    if not is_large.any():
        return is_large
    values = pl.select(numbers.read_numbers(pl.lit(texts.filter(is_large)), mark).cast(pl.Float64, strict=False))
    found = ~values.to_series().is_finite().fill_null(value=False)
    return is_large.scatter(is_large.arg_true(), found)


def are_missing(texts: T, markers: tuple[str, ...]) -> T:
    """Whether texts mean a missing value. If that is a number, it may be written with more zeros after the point."""
    as_numbers = [found for marker in markers if (found := _NUMBER.match(marker))]
    same = texts.is_in(markers)
    if not as_numbers:
        return same
    # Three zeros after a point may be thousands.
    ways = [
        re.escape(whole) + (rf"[.,]{part}0*" if part else r"(?:[.,](?:0{0,2}|0{4,}))?")
        for whole, part in (found.groups() for found in as_numbers)
    ]
    return same | texts.str.contains(f"^(?:{'|'.join(ways)})$")


def has_digits(text: str) -> bool:
    """Whether a text has digits."""
    return any(sign.isdecimal() for sign in text)


def look_at_all(
    columns: Mapping[str, Evidence], texts: pl.DataFrame, markers: tuple[str, ...], order: str | None, first_row: int
) -> None:
    """Count the texts of one batch of all columns; columns of plain digits, which most are, all at once."""
    import polars as pl

    given = pl.col(*columns)
    counts = [
        texts.select(expression).row(0)
        for expression in (
            given.count(),
            given.cast(pl.Float64, strict=False).is_finite().sum(),
            given.cast(pl.Int64, strict=False).count(),
            given.head(4 * FEW).drop_nulls().n_unique(),
            given.str.contains(r"^[+-]?0\d").any(),
        )
    ]
    has_odd_markers = any(map(has_digits, markers))
    for (name, column), n, n_plain, *rest in zip(columns.items(), *counts, strict=True):
        is_plain = n_plain == n and not has_odd_markers
        if not (is_plain and column.look_at_plain(n, *rest)):
            column.look(texts[name], markers, order, first_row)
