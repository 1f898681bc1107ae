"""How a text file is laid out: what a writer needs to write another file of the same kind."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from madaline.errors import FileFormatError

QUOTINGS = ("necessary", "always", "non_numeric")
"Which fields are quoted: those that need it, all, or all but numbers."
LINE_ENDS = ("\n", "\r\n", "\r")
LONGEST_DELIMITER = 3
"Number of characters of a delimiter."
LOOKED_AT = 50
"Number of lines that show which fields are quoted."
_NUMBER = re.compile(r"^[+-]?[\d.,]*$")


@dataclass(frozen=True)
class Dialect:
    r"""The dialect of a CSV-like file.

    Attributes
    ----------
    delimiter : str
        The characters between fields; a blank stands for any number of blanks.
    quoting : {"necessary", "always", "non_numeric"}
    encoding : str
        The name of a Python codec; ``"utf-8-sig"`` is UTF-8 with a byte order mark.
    line_end : {"\\n", "\\r\\n", "\\r"}
    has_header : bool
        Whether the first row holds the names of the columns.
    """

    delimiter: str = ","
    quoting: str = "necessary"
    encoding: str = "utf-8"
    line_end: str = "\n"
    has_header: bool = True

    @classmethod
    def from_plain(cls, data: Any) -> Dialect:
        """The dialect from the dict of its fields; a FileFormatError for anything else."""
        damaged = FileFormatError(f"The description of how to read tables is damaged: {data!r} is not a dialect.")
        try:
            found = cls(**data)
            codecs.lookup(found.encoding)
        except (TypeError, LookupError, ValueError):
            raise damaged from None
        is_whole = (
            is_delimiter(found.delimiter)
            and found.quoting in QUOTINGS
            and found.line_end in LINE_ENDS
            and type(found.has_header) is bool
        )
        if not is_whole:
            raise damaged
        return found


def is_delimiter(sign: Any) -> bool:
    """Whether something can be a delimiter: one to three characters, no letters, digits, quotes or line ends."""
    return (
        isinstance(sign, str)
        and 1 <= len(sign) <= LONGEST_DELIMITER
        and not any(each.isalnum() or each in '\r\n"\0' for each in sign)
    )


def quoting_of(lines: Iterable[str], delimiter: str) -> str:
    """Which fields of the first lines are quoted.

    Examples
    --------
    >>> quoting_of(['"a","b"', '"x","1"'], ","), quoting_of(['"a","b"', '"x",1'], ","), quoting_of(['a,"b,c"'], ",")
    ('always', 'non_numeric', 'necessary')
    """
    sign = re.escape(delimiter)
    field = re.compile(rf'\s*(?:("(?:[^"]|"")*")|([^{sign}]*))\s*(?:{sign}|$)')
    quoted: list[str] = []
    bare: list[str] = []
    for line in islice(lines, LOOKED_AT):
        if line.count('"') % 2:
            break  # a field that continues in the next line
        text, place = line.rstrip("\r\n"), 0
        while place < len(text) and (found := field.match(text, place)) and found.end() > place:
            (quoted if found[1] is not None else bare).append(found[1] or found[2])
            place = found.end()
    bare = [text for text in bare if text.strip()]
    if not quoted:
        return "necessary"
    if not bare:
        return "always"
    return "non_numeric" if all(map(_NUMBER.match, bare)) else "necessary"
