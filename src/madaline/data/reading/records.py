"""Lines to records: fields between delimiters, with quotes of all kinds."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

from madaline.data.reading.text import Text, rewritten
from madaline.errors import FileFormatError

LONGEST = 1 << 24
"Number of characters of a field. The limit of Python's csv module is 131,072, and tables may hold whole letters."


UNIT_SEPARATOR = "\x1f"
"The delimiter of a text that had one of several characters."


class LooseQuotes(Exception):  # noqa: N818 - caught, and the text is read again
    """A text has quotes that polars misreads, such as ``5" pipe`` or a blank before a quote."""


def records(lines: Iterable[str], delimiter: str, text: Text) -> Iterator[list[str]]:
    """The fields of each record, none for a blank line. A quote may follow blanks after a delimiter."""
    if csv.field_size_limit() < LONGEST:
        csv.field_size_limit(LONGEST)
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if text.has_quotes else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    try:
        yield from reader
    except csv.Error as error:
        raise FileFormatError(
            f"{text.name}, line {reader.line_num:,}: {error}. Most likely a double quote is opened and never closed."
        ) from error


def with_unit_separators(line: str, delimiter: str) -> str:
    r"""A line with the character ``\x1f`` in place of a delimiter of several characters, except in quotes.

    Examples
    --------
    >>> with_unit_separators('1::"a::b"::2', "::")
    '1\x1f"a::b"\x1f2'
    """
    if '"' not in line:
        return line.replace(delimiter, UNIT_SEPARATOR)
    pattern = rf'("(?:[^"]|"")*")|{re.escape(delimiter)}'
    return re.sub(pattern, lambda found: found.group(1) or UNIT_SEPARATOR, line)


def joined_blanks(line: str) -> str:
    r"""A line with tabs in place of runs of blanks, except in quotes.

    Examples
    --------
    >>> joined_blanks(' 1  2 "a  b" ')
    '1\t2\t"a  b"'
    """
    return _BLANKS.sub(lambda found: found.group(1) or "\t", line.strip(" \t\r\n"))


_BLANKS = re.compile(r'("(?:[^"]|"")*")|[ \t]+')


def with_delimiter(text: Text, sign: str, delimiter: str, stack: ExitStack) -> Text:
    """The text with another delimiter: polars takes ASCII characters only."""

    def changed() -> Iterator[str]:
        for fields in records(text.lines(), sign, text):
            stream = io.StringIO()
            csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerow(fields)
            yield stream.getvalue()

    return replace(rewritten(text, changed(), stack), has_quotes=True)


def sample_lines(text: Text) -> Iterator[str]:
    """The first lines of a text. Only a line feed ends a line, as in the whole text."""
    return io.StringIO(text.sample, newline="\n")


def strict_records(text: Text, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The number of the first line of each record, and its fields; LooseQuotes at the first that polars misreads."""
    is_strict = _strict(delimiter)
    for line, raw, fields in _raw_records(text, delimiter):
        if '"' in raw and not is_strict(raw):
            raise LooseQuotes
        yield line, fields


def with_strict_quotes(text: Text, delimiter: str, stack: ExitStack) -> Text:
    """The text with quotes around whole fields only, and the same lines."""
    is_strict = _strict(delimiter)

    def changed() -> Iterator[str]:
        for line, raw, fields in _raw_records(text, delimiter):
            if '"' not in raw or is_strict(raw):
                yield raw if raw.endswith("\n") else f"{raw}\n"
                continue
            if "\n" in raw.rstrip("\r\n") or _is_open(raw, delimiter):
                raise FileFormatError(
                    f"{text.name}, line {line:,}: a double quote is opened and never closed. Close it, or remove it."
                )
            stream = io.StringIO()
            csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerow(fields)
            yield stream.getvalue()

    return rewritten(text, changed(), stack)


def _raw_records(text: Text, delimiter: str) -> Iterator[tuple[int, str, list[str]]]:
    """The number of the first line of each record, its text in the file, and its fields."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for line in text.lines():
            taken.append(line)
            yield line

    line = 1
    for fields in records(lines(), delimiter, text):
        yield line, "".join(taken), fields
        line += len(taken)
        taken.clear()


def _strict(delimiter: str) -> Callable[[str], object]:
    """A function that tells whether a record has quotes around whole fields only, and doubled ones inside them."""
    sign = re.escape(delimiter)
    field = rf'(?:"[^"]*(?:""[^"]*)*"|[^"{sign}\n]*)'
    return re.compile(rf"{field}(?:{sign}{field})*\r?\n?").fullmatch


def _is_open(raw: str, delimiter: str) -> bool:
    """Whether a quote of the record is not closed."""
    return len(list(csv.reader(io.StringIO(f"{raw}\nx"), delimiter=delimiter, skipinitialspace=True))) == 1
