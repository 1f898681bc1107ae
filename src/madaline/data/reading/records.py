"""Lines to records: the fields between delimiters, with quotes as people write them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack

from madaline.data.reading.text import Text, rewritten
from madaline.errors import FileFormatError

LONGEST = 1 << 24
"Characters of a field; Python's csv stops at 131,072 by itself, and whole letters are kept in tables."


class LooseQuotes(Exception):  # noqa: N818 - a way to start anew
    """A text has quotes that only a patient reader understands: ``5" pipe``, or a blank before them."""


def records(lines: Iterable[str], delimiter: str, text: Text) -> Iterator[list[str]]:
    """The fields of each record; none for a blank line. Blanks after a delimiter do not hide a quote."""
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


def sample_lines(text: Text) -> Iterator[str]:
    """The lines a text begins with; only a line feed ends one, as in the whole of it."""
    return io.StringIO(text.sample, newline="\n")


def strict_records(text: Text, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line each record begins at, and its fields; :class:`LooseQuotes` at the first that polars would misread."""
    is_strict = _strict(delimiter)
    for line, raw, fields in _raw_records(text, delimiter):
        if '"' in raw and not is_strict(raw):
            raise LooseQuotes
        yield line, fields


def with_strict_quotes(text: Text, delimiter: str, stack: ExitStack) -> Text:
    """The text with quotes where they must be and nowhere else, its lines where they were."""
    is_strict = _strict(delimiter)

    def changed() -> Iterator[str]:
        for line, raw, fields in _raw_records(text, delimiter):
            if '"' not in raw or is_strict(raw):
                yield raw if raw.endswith("\n") else f"{raw}\n"
                continue
            if "\n" in raw.rstrip("\r\n") or _is_open(raw, delimiter):
                raise FileFormatError(
                    f"{text.name}, line {line:,}: a double quote is opened and never closed. Close it, or take it out."
                )
            stream = io.StringIO()
            csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerow(fields)
            yield stream.getvalue()

    return rewritten(text, changed(), stack)


def _raw_records(text: Text, delimiter: str) -> Iterator[tuple[int, str, list[str]]]:
    """The line each record begins at, how it stands in the file, and its fields."""
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
    """Whether a record has quotes around whole fields only, those inside of them doubled."""
    sign = re.escape(delimiter)
    field = rf'(?:"[^"]*(?:""[^"]*)*"|[^"{sign}\n]*)'
    return re.compile(rf"{field}(?:{sign}{field})*\r?\n?").fullmatch


def _is_open(raw: str, delimiter: str) -> bool:
    """Whether what follows a record would still be inside of its quotes."""
    return len(list(csv.reader(io.StringIO(f"{raw}\nx"), delimiter=delimiter, skipinitialspace=True))) == 1
