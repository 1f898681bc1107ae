"""Whether the texts of a column are numbers or dates."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from madaline.data.date_formats import SEVERAL, described
from madaline.data.dates import read_dates, recognise
from madaline.data.texts import Texts, numbers_in

CODE = re.compile(r"^[+-]?0\d")
"Digits with a leading zero are a code, such as a postcode or a phone number, and lose it when read as a number."
TRIED = 100
"Number of texts that are tried before all are, so that columns of names cost nothing."


@dataclass(frozen=True)
class TextKind:
    """What the texts of a column can be read as.

    Attributes
    ----------
    kind : {"number", "date", "text"}
    pattern : str
        The format of dates; also of a column in which only some texts are dates.
    is_assumed : bool
        Whether day and month could be exchanged just as well.
    n_dates : int
        Number of rows that can be read as dates.
    first_odd : int
        If only some rows are dates, the first that is not.
    """

    kind: str
    pattern: str = ""
    is_assumed: bool = False
    n_dates: int = 0
    first_odd: int = 0

    def describe(self) -> str:
        """The formats of dates in a few words.

        Examples
        --------
        >>> TextKind("date", "%d/%m/%Y", is_assumed=True).describe(), TextKind("date", "%Y-%m-%d|%d.%m.%Y").describe()
        ('day/month/year assumed', '2 formats: year-month-day, day/month/year')
        """
        count = len(self.pattern.split(SEVERAL))
        orders = described(self.pattern)
        return f"{f'{count} formats: ' if count > 1 else ''}{orders}{' assumed' if self.is_assumed else ''}"


def text_kind(texts: Texts, *, order: str | None = None, pattern: str = "") -> TextKind:
    """Look at all texts of a column.

    Parameters
    ----------
    texts : Texts
    order : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year, if it is known.
    pattern : str
        The format of dates, if it is known.

    Examples
    --------
    >>> text_kind(Texts.of(["31.12.2020", "24.12.2020"])).pattern, text_kind(Texts.of(["1.5", "2"])).kind
    ('%d.%m.%Y', 'number')
    """
    present = [text.strip() for text in texts.present()]
    if not present:
        return TextKind("text")
    if _are_numbers(present[:TRIED]) and _are_numbers(present):
        return TextKind("number")
    is_assumed = False
    dates = read_dates(present, pattern)
    if np.isnat(dates).any():
        found = recognise(present, order)
        pattern, dates, is_assumed = found.pattern, found.dates, found.is_assumed
    if not pattern:
        return TextKind("text")
    is_date = dict(zip(texts.present(), ~np.isnat(dates), strict=True))
    is_read = texts.spread(np.array([is_date.get(text, True) for text in texts.distinct]), missing=True)
    n_dates = int(np.count_nonzero(is_read)) - texts.n_missing
    if is_read.all():
        return TextKind("date", pattern, is_assumed, n_dates)
    return TextKind("text", pattern, is_assumed, n_dates, int(np.flatnonzero(~is_read)[0]))


def _are_numbers(texts: list[str]) -> bool:
    return bool(numbers_in(texts)[1].all()) and not any(map(CODE.match, texts))
