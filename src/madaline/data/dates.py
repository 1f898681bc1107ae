"""Texts as dates: one way for every source, be it a CSV or Parquet file, a data frame or a dict of columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.data.date_formats import LONGEST, SEVERAL, formats, is_assumed, together
from madaline.errors import ConfigError

Array = np.ndarray[Any, Any]

NO_DATE = np.datetime64("NaT", "us")
TRIED = 50
"Number of texts at a time in which formats are looked for."
MOST_FORMATS = 12
"Number of formats after which no more are looked for."
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FULL_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH_OF = {name: place % 12 + 1 for place, name in enumerate((*MONTHS, *FULL_MONTHS))} | {"sept": 9}
_MONTH_LETTERS = max(map(len, FULL_MONTHS))
_DIGITS = {"Y": (4, 4), "y": (2, 2), "m": (1, 2), "d": (1, 2), "H": (1, 2), "I": (1, 2), "M": (2, 2), "S": (2, 2)}
"Smallest and largest number of digits of each code."
_CODES = re.compile(r"%(\.f|#z|[YymdBHIMSp])|([^%])", re.DOTALL)


@dataclass(frozen=True)
class DateReading:
    """How texts can be read as dates.

    Attributes
    ----------
    pattern : str
        The format, or several with a stroke between them; empty if none was found.
    dates : array of datetime64[us]
        The date of every text, NaT where it cannot be read.
    is_assumed : bool
        Whether day and month could be exchanged just as well.
    """

    pattern: str
    dates: Array
    is_assumed: bool


def recognise(texts: Sequence[str], order: str | None = None) -> DateReading:
    """Find the formats of texts without outer blanks.

    The order of day and month is decided by the texts: 31/12/2020 can only be day first. Where all texts fit both
    orders, the day is assumed to be first.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts.
    order : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year, if it is known.

    Examples
    --------
    >>> found = recognise(["31/12/2020", "01/02/2021"])
    >>> found.pattern, found.dates.astype("datetime64[D]").astype(str).tolist(), found.is_assumed
    ('%d/%m/%Y', ['2020-12-31', '2021-02-01'], False)
    """
    counts: Counter[str] = Counter()
    unread = np.ones(len(texts), dtype=bool)
    start, tried = 0, TRIED
    # Formats are looked for among texts that no format so far can read, until there are none.
    while start < len(texts) and len(counts) < MOST_FORMATS:
        places = start + np.flatnonzero(unread[start:])[:tried]
        if not len(places):
            break
        new = [each for each in formats((texts[place] for place in places), order) if each not in counts]
        if not new and not counts:
            break  # names and words, as most columns of text
        for each in new:
            is_read = ~np.isnat(read_dates(texts, each))
            counts[each] = int(is_read.sum())
            unread &= ~is_read
        if not new:
            start, tried = int(places[-1]) + 1, 2 * tried
    chosen = together(counts)
    pattern = SEVERAL.join(chosen)
    return DateReading(pattern, read_dates(texts, pattern), is_assumed(chosen, counts))


def read_dates(texts: Sequence[str], pattern: str) -> Array:
    """Texts as ``datetime64[us]``: each in the first of the formats that fits it, NaT if none does.

    A time with an offset from UTC is converted to UTC.

    Examples
    --------
    >>> read_dates(["31/12/2020", "2021-01-01", "30/02/2021"], "%d/%m/%Y|%Y-%m-%d").astype("datetime64[D]")
    array(['2020-12-31', '2021-01-01',        'NaT'], dtype='datetime64[D]')
    """
    found: Array = np.full(len(texts), NO_DATE)
    if not pattern or not len(texts):
        return found
    fields = np.array([text if len(text) <= LONGEST else "" for text in texts], dtype=np.str_)
    for each in pattern.split(SEVERAL):
        left = np.flatnonzero(np.isnat(found))
        if not len(left):
            break
        found[left] = _Cursor(fields[left]).read(each)
    return found


def check_pattern(pattern: str) -> None:
    """Raise a ConfigError unless a pattern is empty or consists of complete formats."""
    for each in pattern.split(SEVERAL) if pattern else ():
        codes = {code for code, _ in _CODES.findall(each) if code}
        is_whole = _CODES.sub("", each) == "" and {"d"} < codes and codes & {"m", "B"} and codes & {"Y", "y"}
        if not is_whole:
            raise ConfigError(f"{each!r} is not a format of dates. Write it as '%d/%m/%Y'.")


class _Cursor:
    """A position in every text, moved over one part of the format after another."""

    def __init__(self, texts: Array) -> None:
        width = texts.dtype.itemsize // 4 + 1  # with a zero at the end, which no part of a format fits
        self._signs = np.zeros((len(texts), width), dtype=np.uint32)
        self._signs[:, :-1] = texts.view(np.uint32).reshape(len(texts), -1)
        self._rows = np.arange(len(texts))
        self._place = np.zeros(len(texts), dtype=np.int64)
        self._fits = np.ones(len(texts), dtype=bool)

    def read(self, date_format: str) -> Array:
        """The dates of texts that are written in this format from beginning to end, NaT for others."""
        parts: dict[str, Array] = {}
        for code, literal in _CODES.findall(date_format):
            if literal:
                self._step(literal)
            elif code == "B":
                parts[code] = self._month()
            elif code == "p":
                parts[code] = self._is_afternoon()
            elif code == ".f":
                self._step(".")
                parts[code] = self._fraction()
            elif code == "#z":
                parts[code] = self._offset()
            else:
                parts[code] = self._number(*_DIGITS[code])
        self._fits &= self._sign() == 0
        return np.where(self._fits, _composed(parts, self._fits), NO_DATE)

    def _sign(self) -> Array:
        found: Array = self._signs[self._rows, self._place]
        return found

    def _step(self, allowed: str) -> None:
        """Move over one sign, which must be one of those allowed."""
        sign = self._sign()
        self._fits &= np.logical_or.reduce([sign == ord(each) for each in allowed])
        self._place += self._fits

    def _number(self, least: int, most: int) -> Array:
        value = np.zeros(len(self._rows), dtype=np.int64)
        in_run = self._fits.copy()
        for place in range(most):
            digit = self._sign().astype(np.int64) - ord("0")
            in_run &= (digit >= 0) & (digit <= 9)
            if place < least:
                self._fits &= in_run
            value = np.where(in_run, 10 * value + digit, value)
            self._place += in_run
        return value

    def _fraction(self) -> Array:
        """Microseconds of up to nine digits after the point; those beyond six are cut off."""
        start = self._place.copy()
        value = self._number(1, 9)
        n_digits = self._place - start
        micros: Array = value * 10 ** np.maximum(6 - n_digits, 0) // 10 ** np.maximum(n_digits - 6, 0)
        return micros

    def _month(self) -> Array:
        letters = np.zeros((len(self._rows), _MONTH_LETTERS), dtype=np.uint32)
        in_run = self._fits.copy()
        for place in range(_MONTH_LETTERS):
            lower = self._sign() | 32
            in_run &= (lower >= ord("a")) & (lower <= ord("z"))
            letters[:, place] = np.where(in_run, lower, 0)
            self._place += in_run
        names, places = np.unique(letters.view(f"U{_MONTH_LETTERS}").ravel(), return_inverse=True)
        month = np.array([_MONTH_OF.get(str(name), 0) for name in names])[places]
        self._fits &= month > 0
        return month

    def _is_afternoon(self) -> Array:
        first = self._sign() | 32
        self._step("aApP")
        self._step("mM")
        is_afternoon: Array = first == ord("p")
        return is_afternoon

    def _offset(self) -> Array:
        """Minutes ahead of UTC."""
        sign = self._sign()
        is_zulu = sign == ord("Z")
        self._step("Z+-")
        fits = self._fits.copy()
        hours = self._number(2, 2)
        self._place += (self._sign() == ord(":")) & self._fits
        minutes = self._number(2, 2)
        self._fits = np.where(is_zulu, fits, self._fits & (minutes < 60))
        size = 60 * hours + minutes
        return np.where(is_zulu, 0, np.where(sign == ord("-"), -size, size))


def _composed(parts: dict[str, Array], fits: Array) -> Array:
    """Dates from their parts; ``fits`` turns False where there is no such day or time."""
    nothing = np.zeros(len(fits), dtype=np.int64)
    year = parts["Y"] if "Y" in parts else parts["y"] + np.where(parts["y"] < 69, 2000, 1900)
    month = parts.get("m", parts.get("B", nothing))
    day = parts["d"]
    hour, minute, second = parts.get("H", nothing), parts.get("M", nothing), parts.get("S", nothing)
    if "I" in parts:
        fits &= (parts["I"] >= 1) & (parts["I"] <= 12)
        hour = parts["I"] % 12 + 12 * parts.get("p", nothing)
    fits &= (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (hour < 24) & (minute < 60) & (second < 60)
    months = np.where(fits, 12 * (year - 1970) + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(fits, day - 1, 0)
    fits &= days.astype("datetime64[M]") == months
    seconds = 3600 * hour + 60 * (minute - parts.get("#z", nothing)) + second
    micros: Array = 1_000_000 * seconds + parts.get(".f", nothing)
    found: Array = days.astype("datetime64[us]") + micros.astype("timedelta64[us]")
    return found
