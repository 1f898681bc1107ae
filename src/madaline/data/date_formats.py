"""Formats in which people write dates and times, recognised by the shape of the texts.

A format is written as for ``strftime``, for example ``"%d/%m/%Y %H:%M"``. Codes: ``%Y`` (four digits), ``%y`` (two),
``%m``, ``%d``, ``%B`` (the English name of a month, in full or abbreviated), ``%H``, ``%I`` with ``%p``, ``%M``,
``%S``, ``%.f`` (a fraction of a second), ``%#z`` (Z or an offset from UTC).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

ORDERS = {"ymd": "year-month-day", "dmy": "day/month/year", "mdy": "month/day/year"}
"Orders of day, month and year: the name of an option, and how a message names it."
SEVERAL = "|"
"Separates the formats of a column that has several."
LONGEST = 40
"Number of characters of the longest text that is taken for a date."

_NUMERIC = re.compile(r"^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(.*)$", re.ASCII)
_NAMED = re.compile(
    r"^(?:(\d{1,2})([-/ .]+)([^\W\d]{3,9})([-/ .,]+)(\d{4}|\d{2})|([^\W\d]{3,9})( +)(\d{1,2})(, *)(\d{4}))(.*)$",
    re.ASCII,
)
_CLOCK = re.compile(r"^([T ]+)(\d{1,2}):(\d{2})(:\d{2})?(\.\d+)?( ?[AaPp][Mm])?(Z|[+-]\d{2}:?\d{2})?$", re.ASCII)
TIME = r"^\d{1,3}(?::[0-5]\d(?::[0-5]\d(?:\.\d+)?)?|\.[0-5]\d\.[0-5]\d)$"
"A time of day or a duration; 18.30 is a number."


def formats(values: Iterable[str], order: str | None = None) -> list[str]:
    """Formats in which some of these texts can be read as dates, the more likely one first.

    Parameters
    ----------
    values : iterable of str
    order : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year, if it is known.

    Examples
    --------
    >>> formats(["03/04/2021"])
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> formats(["2021-04-03 18:00"]), formats(["3 Apr 2021"]), formats(["1.5"])
    (['%Y-%m-%d %H:%M'], ['%d %B %Y'], [])
    """
    found: dict[str, None] = {}
    for value in values:
        for each in _formats(value, order):
            found[each] = None
    return list(found)


def together(counts: Mapping[str, int]) -> list[str]:
    """Formats to read one column with, given the number of texts that each can read.

    All of them are used, but for those that put day and month in the rarer order.

    Examples
    --------
    >>> together({"%d/%m/%Y": 3, "%m/%d/%Y": 2, "%Y-%m-%d": 1})
    ['%d/%m/%Y', '%Y-%m-%d']
    """
    totals = {"dmy": 0, "mdy": 0}
    for each, count in counts.items():
        if is_day_or_month_first(each):
            totals[order_of(each)] += count
    other = "mdy" if totals["dmy"] >= totals["mdy"] else "dmy"
    rarer = {each for each in counts if is_day_or_month_first(each) and order_of(each) == other}
    return sorted((each for each in counts if counts[each] and each not in rarer), key=lambda each: -counts[each])


def is_assumed(chosen: Iterable[str], counts: Mapping[str, int]) -> bool:
    """Whether the other order of day and month would have read just as many texts.

    Examples
    --------
    >>> is_assumed(["%d/%m/%Y"], {"%d/%m/%Y": 3, "%m/%d/%Y": 3}), is_assumed(["%Y-%m-%d"], {"%Y-%m-%d": 3})
    (True, False)
    """
    numeric = [each for each in chosen if is_day_or_month_first(each)]
    return bool(numeric) and sum(counts.get(mirrored(each), 0) - counts[each] for each in numeric) >= 0


def mirrored(date_format: str) -> str:
    """The format with day and month exchanged.

    Examples
    --------
    >>> mirrored("%d/%m/%Y %H:%M")
    '%m/%d/%Y %H:%M'
    """
    return date_format.replace("%d", "\0").replace("%m", "%d").replace("\0", "%m")


def order_of(date_format: str) -> str:
    """``"dmy"`` for ``"%d/%m/%Y"``."""
    codes = re.findall(r"%([YymBd])", date_format)
    return "".join({"Y": "y", "B": "m"}.get(code, code) for code in codes)


def has_clock(date_format: str) -> bool:
    """Whether the format has a time of day."""
    return "%H" in date_format or "%I" in date_format


def is_day_or_month_first(date_format: str) -> bool:
    """Whether day and month are two numbers before the year, which could be taken for each other."""
    return order_of(date_format) in ("dmy", "mdy") and "%B" not in date_format


def described(pattern: str) -> str:
    """The orders of a format, or of several, as a message names them.

    Examples
    --------
    >>> described("%d/%m/%Y|%Y-%m-%d %H:%M")
    'day/month/year, year-month-day'
    """
    orders = dict.fromkeys(map(order_of, pattern.split(SEVERAL)))
    return ", ".join(ORDERS.get(each, each) for each in orders)


def _formats(value: str, order: str | None) -> Iterator[str]:
    if len(value) > LONGEST:
        return
    numeric, by_name = _NUMERIC.match(value), _NAMED.match(value)
    if numeric:
        first, sign, _, last, rest = numeric.groups()
        clock = _clock(rest)
        if clock is None or 3 in (len(first), len(last)) or len(first) + len(last) == 8:
            return
        if len(first) == 4:
            yield f"%Y{sign}%m{sign}%d{clock}"
            return
        year = "%Y" if len(last) == 4 else "%y"
        if order == "ymd" and year == "%y":
            yield f"%y{sign}%m{sign}%d{clock}"
        day_first, month_first = (f"%d{sign}%m{sign}{year}{clock}", f"%m{sign}%d{sign}{year}{clock}")
        yield from {"dmy": [day_first], "mdy": [month_first]}.get(order or "", [day_first, month_first])
    elif by_name:
        day, gap, _, gap2, year, _, gap3, _, comma, _, rest = by_name.groups()
        clock = _clock(rest)
        if clock is None:
            return
        if day:
            yield f"%d{gap}%B{gap2}{'%Y' if len(year) == 4 else '%y'}{clock}"
        else:
            yield f"%B{gap3}%d{comma}%Y{clock}"


def _clock(rest: str) -> str | None:
    """The format of the text after the date; None if it is not a time of day."""
    if not rest:
        return ""
    found = _CLOCK.match(rest)
    if not found:
        return None
    gap, _, _, seconds, fraction, half, zone = found.groups()
    text = gap + ("%I:%M" if half else "%H:%M") + (":%S" if seconds else "") + ("%.f" if fraction else "")
    if half:
        text += " %p" if half.startswith(" ") else "%p"
    return text + ("%#z" if zone else "")
