"""Text to records: which sign parts the fields, where the header is, which lines are no rows of the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from madaline.data.reading.assumption import Assumption, counted
from madaline.data.reading.header import Header, find_header, unique_names
from madaline.data.reading.records import records, sample_lines, strict_records
from madaline.data.reading.text import Text
from madaline.errors import ConfigError, FileFormatError

DELIMITERS = {"\t": "a tab", ";": "a semicolon", "|": "a bar", ",": "a comma", " ": "blanks"}
"Those that are looked for. The first that parts nearly all lines alike is taken, so a comma in a number does no harm."
NAMES = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "space": " ", "bar": "|", "pipe": "|"}
"Names that can be typed where the sign cannot."
DECLARED = re.compile(r'"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)
"A first line that says what parts the others, for Excel."
ALIKE = 0.9
"The share of lines that must have the same number of fields."
SAMPLED = 300
"Records that are looked at to find delimiter and header."
MAX_FOOTER = 20
"Lines with a single field at the end that are taken for a footer; more are rows with gaps."
RAGGED = ("auto", "refuse", "fill", "drop")


@dataclass(frozen=True)
class Layout:
    """Where the rows of a text are.

    Attributes
    ----------
    delimiter : str
    names : tuple of str
        Of the columns, each once.
    unnamed : frozenset of str
        Those of them that had no name in the file.
    first_row : int
        The record that is the first row; records count from 0.
    n_records : int
        Up to the last row.
    dropped : tuple of int
        Records between them that are no rows.
    assumptions : tuple of Assumption
    """

    delimiter: str
    names: tuple[str, ...]
    unnamed: frozenset[str]
    first_row: int
    n_records: int
    dropped: tuple[int, ...]
    assumptions: tuple[Assumption, ...]


def find_delimiter(text: Text, given: str | None, skip: int) -> tuple[str, list[Assumption]]:
    """The sign that parts fields, as given or as the text shows it."""
    if given is not None:
        sign = NAMES.get(given.lower(), given)
        if len(sign) != 1 or not sign.isascii() or sign in '\r\n"':
            raise ConfigError(f"--delimiter {given!r} must be one sign, as ';', or one of {', '.join(NAMES)}.")
        return sign, []
    if declared := DECLARED.match(text.sample):
        sign = declared[1]
        return sign, [Assumption(f"Fields are parted by {DELIMITERS.get(sign, sign)}, as line 1 says.", "--delimiter")]
    lines = list(sample_lines(text))[skip:]
    shares: dict[str, float] = {}
    for sign in DELIMITERS:
        parts = records(map(joined_blanks, lines), "\t", text) if sign == " " else records(lines, sign, text)
        widths = [len(record) for record in islice(parts, SAMPLED) if any(record)]
        usual = _usual(widths)
        if usual < 2:
            shares[sign] = 0.0
            continue
        alike = widths.count(usual) / len(widths)
        # A header that it does not part speaks against a sign, however often it stands in the rows.
        shares[sign] = alike if widths[0] >= max(2, usual - 1) else alike / 2
    best = max(shares.values())
    if not best:
        return ",", []  # one column
    sign = next(sign for sign, share in shares.items() if share >= min(best, ALIKE))
    return sign, [] if sign == "," else [Assumption(f"Fields are parted by {DELIMITERS[sign]}.", "--delimiter")]


def joined_blanks(line: str) -> str:
    r"""A line parted by runs of blanks as one parted by tabs; what is quoted stays.

    Examples
    --------
    >>> joined_blanks(' 1  2 "a  b" ')
    '1\t2\t"a  b"'
    """
    return _BLANKS.sub(lambda found: found.group(1) or "\t", line.strip(" \t\r\n"))


_BLANKS = re.compile(r'("(?:[^"]|"")*")|[ \t]+')


def find_layout(text: Text, delimiter: str, *, header: int | None, skip: int | None, ragged: str) -> Layout:
    """Where header and rows are; what is given is taken, the rest is told from the text.

    Parameters
    ----------
    text : Text
    delimiter : str
    header : int, optional
        Lines of the header; 0 if there is none.
    skip : int, optional
        Lines before the header.
    ragged : {"auto", "refuse", "fill", "drop"}
        What to do about rows with more or fewer fields than columns: "auto" fills up short ones and refuses long ones.
    """
    if ragged not in RAGGED:
        raise ConfigError(f"--ragged {ragged} is not known. Choose one of {', '.join(RAGGED)}.")
    assumptions: list[Assumption] = []
    sample = list(islice(records(sample_lines(text), delimiter, text), SAMPLED))
    declared = 1 if DECLARED.match(text.sample) else 0
    width = _usual([len(record) for record in sample[skip or declared :] if any(record)])
    if skip is None and declared:
        skip = declared
    elif skip is None:
        skip = _preamble(sample, width)
        if skip:
            assumptions.append(Assumption(f"The table begins after {counted(skip, 'line')} of other text.", "--skip"))
    rest = sample[skip:]
    if not any(field.strip() for record in rest for field in record):
        raise FileFormatError(f"{text.name} holds no table: all of its lines are blank.")
    found, said = find_header(rest, header)
    assumptions += said
    given = _fitted(found, rest[found.n_lines :], width, text)
    names, unnamed, said = unique_names(given, width)
    assumptions += said
    first_row = skip + found.n_lines
    n_records, dropped, said = _rows(text, delimiter, first_row, len(names), ragged)
    if n_records <= first_row:
        raise FileFormatError(
            f"{text.name} has a header but no rows. Check that it was written to the end; if its first line is a row "
            "itself, say --header 0."
        )
    return Layout(delimiter, names, unnamed, first_row, n_records, dropped, (*assumptions, *said))


def _usual(widths: Sequence[int]) -> int:
    """The number of fields that most records have, the larger one of equals."""
    return max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))[0]


def _preamble(sample: Sequence[list[str]], width: int) -> int:
    """Records before the table: those that have a single field where rows have several."""
    if width < 2:
        return 0
    count = next((k for k, record in enumerate(sample) if len(record) >= max(2, width - 1)), 0)
    return count if any(any(record) for record in sample[:count]) else 0


def _fitted(header: Header, rows: Sequence[list[str]], width: int, text: Text) -> list[str]:
    """Names for ``width`` columns, of a header that may have one too many or too few."""
    names = list(header.names)
    while len(names) > width and not names[-1]:
        names.pop()
    if len(names) > width:
        raise FileFormatError(
            f"{text.name}: the header names {len(names)} columns and most rows have {width} fields. Make them equal; "
            "if the header takes more lines or there is none, say so with --header."
        )
    ends_blank = all(not record[-1].strip() for record in rows if len(record) == width)
    if names and len(names) == width - 1 and not ends_blank:
        return ["", *names]  # row labels, which R writes without a name
    return names


def _rows(
    text: Text, delimiter: str, first: int, width: int, ragged: str
) -> tuple[int, tuple[int, ...], list[Assumption]]:
    """How many records there are up to the last row, which of them are no rows, and what was assumed."""
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
                    "or say --ragged fill (cut long rows, fill up short ones) or --ragged drop (leave them out). "
                    "If many lines are like this, the delimiter may be another: --delimiter."
                )
            short += [*tail, index]
            tail = []
            end = index + 1
    said = []
    if len(tail) > MAX_FOOTER:
        short += tail
        end = tail[-1] + 1
    elif tail:
        lines = "line, of one field, is no row" if len(tail) == 1 else f"{len(tail):,} lines, of one field, are no rows"
        said.append(Assumption(f"The last {lines}.", "--ragged"))
    if short and ragged == "drop":
        dropped = short
        said.append(Assumption(f"{counted(len(short), 'row')} with other than {width} fields left out.", "--ragged"))
    elif short:
        said.append(
            Assumption(f"{counted(len(short), 'row')} with fewer than {width} fields: the rest is missing.", "--ragged")
        )
    return end, tuple(dropped), said


def _measured(text: Text, delimiter: str, width: int) -> Iterator[tuple[int, int]]:
    """The number of fields of each record, 0 for a blank one, without empty ones beyond ``width``; and its line."""
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
