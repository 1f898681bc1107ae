"""The header of a table: whether there is one, and the names of the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from madaline.data.reading.assumption import Assumption, counted, named
from madaline.data.reading.known import KnownFormat
from madaline.errors import ConfigError

NUMBER_LIKE = re.compile(
    r"^[$€£¥(+\-\u2212]*[.,'\s]*\d[\d.,'\s]*([eE][+-]?\d+)?[)%€$£]?$|^\d{1,4}[-/.:]\d{1,2}[-/.:]\d"
)
"Numbers and dates in most formats. Each character can be matched in one way only, so that long cells take no time."
LONGEST_COUNT = 9
"Number of digits of a name that counts up, such as a year."
YEAR = re.compile(r"^(19|20)\d\d$")
ORANGE_TYPES = {"", "c", "continuous", "d", "discrete", "s", "string", "text", "t", "time", "b", "basket"}
ORANGE_FLAGS = re.compile(r"^(|c|class|m|meta|i|ignore|\S+=.*)$")
MISSING = {"", "?", "NA", "N/A", "nan", "NaN", "null"}


@dataclass(frozen=True)
class Header:
    """Names as in the file, and the number of records that they take."""

    names: list[str]
    n_lines: int


def find_header(
    records: Sequence[list[str]], n_lines: int | None, known: KnownFormat | None = None
) -> tuple[Header, list[Assumption]]:
    """The header of a table that begins with these records, and what was assumed.

    Parameters
    ----------
    records : sequence of list of str
    n_lines : int, optional
        Number of lines of the header, if it is given.
    known : KnownFormat, optional
        The columns of an earlier table, whose header or lack of one decides in case of doubt.
    """
    if n_lines is not None:
        if not 0 <= n_lines <= len(records):
            raise ConfigError(
                f"--header {n_lines}: it must be a number of lines, at most those of the file; 0 for no header."
            )
        return Header(_stripped(records[0]) if n_lines else [], n_lines), []
    filled = [record for record in records if any(field.strip() for field in record)]
    lead = records.index(filled[0])
    first, body = filled[0], filled[1:]
    if known is not None and known.names(first):
        return Header(_stripped(first), lead + 1), []
    if known is not None and not known.dialect.has_header:
        return Header([], lead), []
    if len(filled) > 2 and _is_orange(records[lead : lead + 3]):
        text = "Lines 2 and 3 describe the columns (Orange's format) and are not rows."
        return Header(_stripped(first), lead + 3), [Assumption(text, "--header")]
    if body and _votes(first, body) < 0:
        return Header([], lead), [Assumption("There is no header: the first line looks like the others.", "--header")]
    return Header(_stripped(first), lead + 1), []


def _votes(first: Sequence[str], body: Sequence[Sequence[str]]) -> int:
    """Positive if the first record is unlike the others, negative if it is like them; 0 counts as a header."""
    cells = [cell.strip() for cell in first]
    columns = [[record[place].strip() for record in body if place < len(record)] for place in range(len(cells))]
    if cells[0] == "" and _are_row_numbers(columns[0]):
        del cells[0], columns[0]
    votes = [_vote(cell, values) for cell, values in zip(cells, columns, strict=True)]
    words = [vote for cell, vote in zip(cells, votes, strict=True) if not cell.isdecimal()]
    is_counted = _counts_up([cell for cell in cells if cell.isdecimal()], at_least=2 if words else 3)
    return 1 if is_counted and min(words, default=1) > 0 else sum(votes)


def _vote(cell: str, values: Sequence[str]) -> int:
    """Positive if a cell is unlike the values below it, negative if it is like them."""
    values = [value for value in values if value not in MISSING]
    if cell in MISSING or not values:
        return -(cell in MISSING - {""})
    numeric = sum(bool(NUMBER_LIKE.match(value)) for value in values) / len(values)
    if numeric > 0.9:
        # A year above numbers that are not years may be a name.
        is_year = bool(YEAR.match(cell)) and not any(map(YEAR.match, values))
        return 0 if is_year else -1 if NUMBER_LIKE.match(cell) else 1
    if cell in values:
        return -1
    return int(len(set(values)) < 0.5 * len(values))


def _counts_up(names: Sequence[str], at_least: int) -> bool:
    """Whether names are 0, 1, 2 or 2014, 2015, 2016 or the like."""
    if len(names) < at_least or max(map(len, names)) > LONGEST_COUNT:
        return False
    numbers = [int(name) for name in names]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _are_row_numbers(values: Sequence[str]) -> bool:
    """Whether values are 0, 1, 2 and so on, as pandas writes them in a first column without a name."""
    return len(values) > 1 and list(values) == [str(row) for row in range(len(values))]


def _is_orange(records: Sequence[Sequence[str]]) -> bool:
    if len(records) < 3:
        return False
    types, flags = ([cell.strip() for cell in record] for record in records[1:3])
    return any(types) and set(types) <= ORANGE_TYPES and all(ORANGE_FLAGS.match(flag) for flag in flags)


def _stripped(record: Sequence[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in record]


def unique_names(given: Sequence[str], width: int) -> tuple[tuple[str, ...], frozenset[str], list[Assumption]]:
    """Different names for ``width`` columns, those that have none in the file, and what was assumed.

    Examples
    --------
    >>> unique_names(["a", "a", ""], 4)[0]
    ('a', 'a_2', 'column_3', 'column_4')
    >>> unique_names(["", "age"], 2)[0]
    ('row', 'age')
    """
    names: dict[str, None] = {}
    unnamed: set[str] = set()
    repeated: dict[str, int] = {}
    "For each name that is used again, the number of its last use."
    taken = set(given)
    for position in range(width):
        in_file = given[position] if position < len(given) else ""
        # The first column that pandas and R write without a name holds the numbers or names of rows.
        is_index = position == 0 and len(given) > 1 and any(given)
        first = name = in_file or ("row" if is_index else f"column_{position + 1}")
        while name in names or (name != in_file and name in taken):
            repeated[first] = repeated.get(first, 1) + 1
            name = f"{first}_{repeated[first]}"
        if not in_file:
            unnamed.add(name)
        names[name] = None
    notes = []
    if in_header := [name for name in repeated if name in taken]:
        examples = f"{in_header[0]}_2"
        notes = [
            Assumption(
                f"{named(in_header)} {'names' if len(in_header) == 1 else 'name'} more than one column; the later ones "
                f"are named {examples!r} and so on.",
                "--header",
            )
        ]
    if not given:
        notes.append(Assumption(f"The {counted(width, 'column')} are named 'column_1', 'column_2' ...", "--header"))
    return tuple(names), frozenset(unnamed), notes
