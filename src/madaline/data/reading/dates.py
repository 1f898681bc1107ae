"""Dates and times as people write them: told from their shape, in the order of day and month that fits all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

ORDERS = {"ymd": "year-month-day", "dmy": "day/month/year", "mdy": "month/day/year"}
"Names of the orders, as options say them, and as people read them."
SEVERAL = "|"
"Between formats of one column, if it has several."

_NUMERIC = re.compile(r"^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(.*)$")
_NAMED = re.compile(
    r"^(?:(\d{1,2})([-/ .]+)([^\W\d]{3,9})([-/ .,]+)(\d{4}|\d{2})|([^\W\d]{3,9})( +)(\d{1,2})(, *)(\d{4}))(.*)$"
)
_CLOCK = re.compile(r"^([T ]+)(\d{1,2}):(\d{2})(:\d{2})?(\.\d+)?( ?[AaPp][Mm])?(Z|[+-]\d{2}:?\d{2})?$")
TIME = r"^\d{1,3}(?::[0-5]\d(?::[0-5]\d(?:\.\d+)?)?|\.[0-5]\d\.[0-5]\d)$"
"A time of day or a length of time; 18.30 would be a number."


def formats(values: Iterable[str], order: str | None) -> list[str]:
    """The ways in which some of these texts can be read as dates, the likelier first.

    Examples
    --------
    >>> formats(["03/04/2021"], None)
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> formats(["2021-04-03 18:00"], None), formats(["3 Apr 2021"], None), formats(["1.5"], None)
    (['%Y-%m-%d %H:%M'], ['%d %B %Y'], [])
    """
    found: dict[str, None] = {}
    for value in values:
        for each in _formats(value, order):
            found[each] = None
    return list(found)


def together(counts: Mapping[str, int]) -> list[str]:
    """The formats that a column is read by in which so many of each were found: all, with day and month in one order.

    Examples
    --------
    >>> together({"%d/%m/%Y": 3, "%m/%d/%Y": 2, "%Y-%m-%d": 1})
    ['%d/%m/%Y', '%Y-%m-%d']
    """
    totals = {"dmy": 0, "mdy": 0}
    for each, count in counts.items():
        if is_ambiguous(each):
            totals[order_of(each)] += count
    other = "mdy" if totals["dmy"] >= totals["mdy"] else "dmy"
    kept = [each for each, count in counts.items() if count and not (is_ambiguous(each) and order_of(each) == other)]
    return sorted(kept, key=lambda each: ("%y" not in each, -counts[each]))  # %Y would read 24 as the year 24


def order_of(date_format: str) -> str:
    """``"dmy"`` for ``"%d/%m/%Y"``."""
    signs = re.findall(r"%([YymBd])", date_format)
    return "".join({"Y": "y", "B": "m"}.get(sign, sign) for sign in signs)


def has_clock(date_format: str) -> bool:
    """Whether a time of day follows the date."""
    return "%H" in date_format or "%I" in date_format


def is_ambiguous(date_format: str) -> bool:
    """Whether day and month could be told apart by their size only."""
    return order_of(date_format) in ("dmy", "mdy") and "%B" not in date_format


def _formats(value: str, order: str | None) -> Iterator[str]:
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
        days_first, months_first = (f"%d{sign}%m{sign}{year}{clock}", f"%m{sign}%d{sign}{year}{clock}")
        yield from {"dmy": [days_first], "mdy": [months_first]}.get(order or "", [days_first, months_first])
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
    """The format of what follows the date; None if it is no time of day."""
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
