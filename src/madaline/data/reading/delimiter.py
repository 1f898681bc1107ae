"""The delimiter of a text: the character that separates the fields of all lines alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from madaline.data.reading.assumption import Assumption
from madaline.data.reading.dialect import is_delimiter
from madaline.data.reading.known import KnownFormat
from madaline.data.reading.records import (
    UNIT_SEPARATOR,
    joined_blanks,
    records,
    sample_lines,
    with_unit_separators,
)
from madaline.data.reading.text import Text
from madaline.errors import ConfigError

USUAL = {"\t": "a tab", ";": "a semicolon", "|": "a bar", ",": "a comma"}
"Delimiters that are looked for first, in this order. A comma in a number does no harm."
BLANK = " "
NAMES = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "space": " ", "bar": "|", "pipe": "|"}
"Names of delimiters that are hard to type."
CONTROLS = "".join(chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r")
RARE = CONTROLS + "~^\u00a6\u00a7\u00ac`\\"
"Characters that values hardly ever contain."
UNLIKE_BLANKS = ":=!"
"Of two ways to get as many fields, these characters are preferred to blanks; a slash or a dash is not."
NEVER = "._'()[]{}<>"
"Characters that are part of numbers, names and texts; as delimiters they must be given."
DECLARED = re.compile(r'"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)
"A first line for spreadsheet programs, which names the delimiter."
ALIKE = 0.9
"Share of lines that must have the same number of fields."
SAMPLED = 300
"Number of records that are looked at."
_DATE_OR_TIME = re.compile(
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2}[-/ ][^\W\d]{3,9}[-/ ]\d{2,4}|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
    r"|\b(?:d{1,2}|m{1,2}|y{2,4})([-/.:])(?:d{1,2}|m{1,2})\2(?:d{1,2}|y{2,4})\b|\bhh?:mm(?::ss)?\b",
    re.IGNORECASE,
)
"Dates and times, which have slashes, dashes and colons of their own; and such names of columns as dd/mm/yyyy."


def find_delimiter(text: Text, given: str | None, skip: int, known: KnownFormat | None) -> tuple[str, list[Assumption]]:
    """The delimiter that is given, that of an earlier table if it fits, or the one that the text shows."""
    if given is not None:
        sign = NAMES.get(given.lower(), given)
        if not is_delimiter(sign):
            raise ConfigError(
                f"--delimiter {given!r} must be one to three characters, not letters, digits or quotes, such as ';', "
                f"or one of {', '.join(NAMES)}."
            )
        return sign, []
    if declared := DECLARED.match(text.sample):
        return declared[1], [_delimiter_assumption(declared[1], ", as line 1 says")]
    lines = list(sample_lines(text))[skip:]
    sign = (known and _as_known(lines, text, known)) or _shown(lines, text)
    is_expected = sign == "," or (known is not None and sign == known.dialect.delimiter)
    return sign, [] if is_expected else [_delimiter_assumption(sign)]


def _delimiter_assumption(sign: str, why: str = "") -> Assumption:
    name = "blanks" if sign == BLANK else USUAL.get(sign, repr(sign))
    return Assumption(f"Fields are separated by {name}{why}.", "--delimiter")


def _as_known(lines: list[str], text: Text, known: KnownFormat) -> str | None:
    """The delimiter by which a header names the known columns, or which gives as many fields as there were columns."""
    signs = dict.fromkeys([known.dialect.delimiter, *USUAL, BLANK])
    for sign in signs:
        if any(map(known.names, _records(lines, sign, text)[:20])):
            return sign
    widths = [len(record) for record in _records(lines, known.dialect.delimiter, text) if any(record)]
    n_columns = len(known.columns)
    is_alike = not known.dialect.has_header and usual_width(widths) in (n_columns, n_columns - 1) and n_columns > 1
    return known.dialect.delimiter if is_alike else None


def _shown(lines: list[str], text: Text) -> str:
    """The first delimiter that gives nearly all lines the same number of fields; a comma for a single column."""
    others = sorted(set("".join(lines[:SAMPLED])) - set(USUAL), key=lambda sign: (sign not in RARE, sign))
    others = [sign for sign in others if is_delimiter(sign) and (sign in RARE or not sign.isspace())]
    if several := _several(lines):
        return several
    shares = {sign: _share(lines, sign, text) for sign in USUAL}
    shares |= {sign: _share_of_rare(lines, sign, text) for sign in others if sign in RARE}
    blank = _share(lines, BLANK, text)
    if max(shares.values()) < ALIKE:
        width = usual_width([len(record) for record in _records(lines, BLANK, text)]) if blank >= ALIKE else 1
        weak = {sign: _width_of_weak(lines, sign, text) for sign in others if sign not in RARE and sign not in NEVER}
        best = max(weak, key=lambda sign: weak[sign], default="")
        if best and (weak[best] > width or (weak[best] == width and best in UNLIKE_BLANKS)):
            return best
    shares[BLANK] = blank
    highest = max(shares.values())
    return next(sign for sign, share in shares.items() if share >= min(highest, ALIKE)) if highest else ","


def _several(lines: list[str]) -> str | None:
    """A delimiter of several characters: in every line as often as in the header, which has them nowhere else.

    One that repeats a usual delimiter is not looked for: there are empty fields between its characters.
    """
    some = [line for line in lines[:SAMPLED] if line.strip()]
    if len(some) < 2:
        return None
    signs: set[str] = set(_SEVERAL.findall(some[0]))
    for sign in sorted(signs, key=len, reverse=True):
        rest = some[0].replace(sign, "")
        is_alone = not any(each in rest for each in sign) and not (len(set(sign)) == 1 and sign[0] in USUAL)
        n_times = some[0].count(sign)
        names = [name.strip(' "\r\n') for name in some[0].split(sign)]
        are_names = len(set(names)) == len(names) and all(name[:1].isalpha() for name in names)
        is_alone &= not any(each in rest for each in USUAL)
        if is_alone and are_names and all(line.count(sign) == n_times for line in some):
            return sign
    return None


_SEVERAL = re.compile(r'(?<=[\w"])[^\w\s".()\[\]{}\']{2,3}(?=[\w"])')


def _records(lines: list[str], sign: str, text: Text) -> list[list[str]]:
    """The first records that are not blank."""
    if len(sign) > 1:
        lines, sign = [with_unit_separators(line, sign) for line in lines], UNIT_SEPARATOR
    found = records(map(joined_blanks, lines), "\t", text) if sign == BLANK else records(lines, sign, text)
    return [record for record in islice(found, SAMPLED) if any(record)]


def _share(lines: list[str], sign: str, text: Text) -> float:
    """The share of records with the usual number of fields; 0 if that is one."""
    widths = [len(record) for record in _records(lines, sign, text)]
    usual = usual_width(widths)
    if usual < 2:
        return 0.0
    alike = widths.count(usual) / len(widths)
    # A header that a character does not separate speaks against it, however often it stands in the rows.
    return alike if widths[0] >= max(2, usual - 1) else alike / 2


def _share_of_rare(lines: list[str], sign: str, text: Text) -> float:
    """The same for a character that is rarely used; 0 unless nearly all records have the usual number of fields."""
    widths = [len(record) for record in _records(lines, sign, text)]
    usual = usual_width(widths)
    alike = widths.count(usual) / len(widths) if widths else 0.0
    if usual < 2 or alike < ALIKE:
        return 0.0
    return alike if widths[0] == usual else alike / 2


def _width_of_weak(lines: list[str], sign: str, text: Text) -> int:
    """The number of fields by a character that values may contain; 0 unless it is beyond doubt.

    The header must consist of names, and all records must have as many fields as it has. Dates and times do not count,
    but for numbers with a colon between them where the header has one too.
    """
    masked = [_DATE_OR_TIME.sub("0", line) for line in lines]
    for some in (masked, lines) if sign == ":" and masked[:1] == lines[:1] else (masked,):
        found = _records(some, sign, text)
        names = [name.strip() for name in found[0]] if len(found) > 1 else []
        are_names = len(set(names)) == len(names) > 1 and all(name[:1].isalpha() for name in names)
        if are_names and all(len(record) == len(names) for record in found):
            return len(names)
    return 0


def usual_width(widths: Sequence[int]) -> int:
    """The number of fields that most records have; among equals, the larger one."""
    return max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))[0]
