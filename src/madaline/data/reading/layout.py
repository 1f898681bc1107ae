"""Text to records: where the header is, and which lines are rows of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from madaline.data.reading.assumption import Assumption, counted
from madaline.data.reading.delimiter import DECLARED, SAMPLED, usual_width
from madaline.data.reading.header import Header, find_header, unique_names
from madaline.data.reading.known import KnownFormat
from madaline.data.reading.records import records, sample_lines, strict_records
from madaline.data.reading.text import Text
from madaline.errors import ConfigError, FileFormatError

MAX_FOOTER = 20
"Number of lines with a single field at the end that are taken for a footer; more are rows with missing values."
RAGGED = ("auto", "refuse", "fill", "drop")


@dataclass(frozen=True)
class Layout:
    """Where the rows of a text are.

    Attributes
    ----------
    delimiter : str
    names : tuple of str
        Names of the columns, all different.
    unnamed : frozenset of str
        Columns without a name in the file.
    has_header : bool
    first_row : int
        Number of the record that is the first row; records are counted from 0.
    n_records : int
        Number of records up to the last row.
    dropped : tuple of int
        Numbers of records between them that are not rows.
    assumptions : tuple of Assumption
    """

    delimiter: str
    names: tuple[str, ...]
    unnamed: frozenset[str]
    has_header: bool
    first_row: int
    n_records: int
    dropped: tuple[int, ...]
    assumptions: tuple[Assumption, ...]


def find_layout(
    text: Text, delimiter: str, *, header: int | None, skip: int | None, ragged: str, known: KnownFormat | None
) -> Layout:
    """Find the header and the rows.

    Parameters
    ----------
    text : Text
    delimiter : str
    header : int, optional
        Number of lines of the header; 0 if there is none. By default it is found.
    skip : int, optional
        Number of lines before the header. By default it is found.
    ragged : {"auto", "refuse", "fill", "drop"}
        What to do with rows that have more or fewer fields than there are columns: "auto" fills short ones and refuses
        long ones.
    known : KnownFormat, optional
        The layout of an earlier table.
    """
    if ragged not in RAGGED:
        raise ConfigError(f"--ragged {ragged} is not known. Choose one of {', '.join(RAGGED)}.")
    assumptions: list[Assumption] = []
    sample = list(islice(records(sample_lines(text), delimiter, text), SAMPLED))
    declared = 1 if DECLARED.match(text.sample) else 0
    width = usual_width([len(record) for record in sample[skip or declared :] if any(record)])
    if skip is None and declared:
        skip = declared
    elif skip is None:
        skip = _preamble(sample, width)
        if skip:
            assumptions.append(Assumption(f"The table begins after {counted(skip, 'line')} of other text.", "--skip"))
    rest = sample[skip:]
    if not any(field.strip() for record in rest for field in record):
        raise FileFormatError(f"{text.name} holds no table: all of its lines are blank.")
    found, notes = find_header(rest, header, known)
    assumptions += notes
    given = _fitted(found, rest[found.n_lines :], width, text)
    names, unnamed, notes = unique_names(given, width)
    assumptions += notes
    first_row = skip + found.n_lines
    n_records, dropped, notes = _rows(text, delimiter, first_row, len(names), ragged)
    if n_records <= first_row:
        raise FileFormatError(
            f"{text.name} has a header but no rows. Check that the file is complete. If its first line is a row, pass "
            "--header 0."
        )
    has_header = bool(found.names)
    return Layout(delimiter, names, unnamed, has_header, first_row, n_records, dropped, (*assumptions, *notes))


def _preamble(sample: Sequence[list[str]], width: int) -> int:
    """Number of records before the table: those that have a single field where rows have several."""
    if width < 2:
        return 0
    count = next((k for k, record in enumerate(sample) if len(record) >= max(2, width - 1)), 0)
    return count if any(any(record) for record in sample[:count]) else 0


def _fitted(header: Header, rows: Sequence[list[str]], width: int, text: Text) -> list[str]:
    """Names of ``width`` columns from a header that may have one too many or too few."""
    names = list(header.names)
    while len(names) > width and not names[-1]:
        names.pop()
    if len(names) > width:
        raise FileFormatError(
            f"{text.name}: the header names {len(names)} columns, but most rows have {width} fields. Make them equal. "
            "If the header has more lines or there is none, pass --header."
        )
    ends_blank = all(not record[-1].strip() for record in rows if len(record) == width)
    if names and len(names) == width - 1 and not ends_blank:
        return ["", *names]  # row labels, which R writes without a name
    return names


def _rows(
    text: Text, delimiter: str, first: int, width: int, ragged: str
) -> tuple[int, tuple[int, ...], list[Assumption]]:
    """Number of records up to the last row, records that are not rows, and what was assumed."""
    short: list[int] = []
    dropped: list[int] = []
    tail: list[int] = []  # lines of one field that may turn out to be a footer
    end = first
    for index, (fields, line) in enumerate(_measured(text, delimiter, width)):
        if index < first or fields == 0:
            continue
        if fields == width:
            end = index + 1
            short += tail
            tail = []
        elif fields == 1 and width > 2 and ragged != "refuse":
            tail.append(index)
        else:
            if ragged == "refuse" or (ragged == "auto" and fields > width):
                raise FileFormatError(
                    f"{text.name}, line {line:,}, has {counted(fields, 'field')} where {width} are usual. Correct it, "
                    "or pass --ragged fill (cut long rows, fill short ones) or --ragged drop (leave them out). If many "
                    "lines are like this, the delimiter may be wrong: --delimiter."
                )
            short += [*tail, index]
            tail = []
            end = index + 1
    notes = []
    if len(tail) > MAX_FOOTER:
        short += tail
        end = tail[-1] + 1
    elif tail:
        lines = "line has" if len(tail) == 1 else f"{len(tail):,} lines have"
        notes.append(Assumption(f"The last {lines} a single field: not part of the table.", "--ragged"))
    if short and ragged == "drop":
        dropped = short
        left_out = f"{counted(len(short), 'row')} with a number of fields other than {width} left out."
        notes.append(Assumption(left_out, "--ragged"))
    elif short:
        notes.append(
            Assumption(f"{counted(len(short), 'row')} with fewer than {width} fields: the rest is missing.", "--ragged")
        )
    return end, tuple(dropped), notes


def _measured(text: Text, delimiter: str, width: int) -> Iterator[tuple[int, int]]:
    """Number of fields of each record without empty ones beyond ``width``, 0 for a blank record; and its line."""
    blank = f"{delimiter} \t\r\n"
    if not text.has_quotes:
        for number, line in enumerate(text.lines(), start=1):
            fields = line.count(delimiter) + 1
            if fields != width:
                kept = line.rstrip(blank)
                fields = 0 if not kept else max(min(fields, width), kept.count(delimiter) + 1)
            yield fields, number
        return
    for number, record in strict_records(text, delimiter):
        fields = len(record)
        while fields > width and not record[fields - 1].strip():
            fields -= 1
        yield (fields if any(field.strip() for field in record) else 0), number
