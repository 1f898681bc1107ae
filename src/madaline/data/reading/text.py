"""Bytes to text: a file of any encoding, compressed or not, is handed on as UTF-8 with line feeds."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from madaline.data.reading.assumption import Assumption
from madaline.data.reading.content import IN_MEMORY, ZIP, Content, stored
from madaline.data.reading.encoding import DetectedEncoding, blocks_of, opened
from madaline.data.reading.unpacking import OPENERS
from madaline.errors import FileFormatError

SAMPLE = 1 << 18
"Number of characters from which the delimiter and the header are told."

_NO_TABLE = "A table in a CSV, Excel or Parquet file is needed"
BINARY_STARTS = {
    **dict.fromkeys((*OPENERS, *ZIP), "compressed. Unpack it first"),
    b"\xd0\xcf\x11\xe0": "an old Excel file. Open it in a spreadsheet program and save it as .xlsx or CSV",
    b"%PDF": "a PDF document. Export its table as CSV",
    b"\x89PNG": f"an image. {_NO_TABLE}",
    b"\xff\xd8\xff": f"an image. {_NO_TABLE}",
    b"FEA1": "a Feather file of version 1. Save it as Parquet or as a newer Feather file",
    b"\x89HDF": "an HDF5 file. Save its table as Parquet or CSV",
    b"\x93NUMPY": "a NumPy file. Save its table as Parquet or CSV",
    b"\x7fELF": f"a program. {_NO_TABLE}",
}
_WEB_PAGE = "a web page. Download the table itself, or copy it into a spreadsheet and save that as CSV"
TEXT_STARTS = {
    b"<!doctype html": _WEB_PAGE,
    b"<html": _WEB_PAGE,
    b"<?xml": "an XML document. Open it in a spreadsheet program and save its table as CSV",
}
"First characters of texts that are not tables, in lower case and without blanks."
JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"')


@dataclass(frozen=True)
class Text:
    """A text in UTF-8 whose lines end with line feeds.

    Attributes
    ----------
    source : Path or bytes
        The text itself, or the file that holds it.
    name : str
        The name in messages.
    sample : str
        The beginning of the text.
    has_quotes : bool
        Whether there is a double quote anywhere.
    encoding, line_end : str
        Those of the original file.
    assumptions : tuple of Assumption
    """

    source: Path | bytes
    name: str
    sample: str
    has_quotes: bool
    encoding: str = "utf-8"
    line_end: str = "\n"
    assumptions: tuple[Assumption, ...] = ()

    def lines(self) -> Iterator[str]:
        """The lines with their ends."""
        with io.TextIOWrapper(opened(self.source), encoding="utf-8", newline="\n") as stream:
            yield from stream

    def blocks(self) -> Iterator[bytes]:
        """The bytes in blocks that end with a line, outside of quotes."""
        rest: list[bytes] = []  # the beginning of a record, whose end was not in the blocks so far
        n_quotes = 0
        for block in blocks_of(self.source):
            end = _end_of_records(block, n_quotes) if self.has_quotes else block.rfind(b"\n") + 1
            if end:
                yield b"".join([*rest, block[:end]])
                rest, n_quotes = [], 0
            rest.append(block[end:])
            n_quotes += block.count(b'"', end)
            if sum(map(len, rest)) > IN_MEMORY:
                raise FileFormatError(
                    f"{self.name} has a double quote that is never closed, or a line of more than "
                    f"{IN_MEMORY >> 20} MiB."
                )
        if any(rest):
            yield b"".join(rest)


def _end_of_records(block: bytes, n_quotes: int) -> int:
    """The end of the last line that has its quotes closed, given the number of quotes before; 0 if there is none."""
    last = block.rfind(b"\n")
    if last < 0 or (n_quotes + block.count(b'"', 0, last)) % 2 == 0:
        return last + 1
    signs = np.frombuffer(block, np.uint8)
    is_closed = (np.cumsum(signs == ord('"')) + n_quotes) % 2 == 0
    ends = np.flatnonzero((signs == ord("\n")) & is_closed)
    return int(ends[-1]) + 1 if len(ends) else 0


def read_text(content: Content, *, encoding: str | None, stack: ExitStack, usual_encoding: str | None = None) -> Text:
    """The text of a file.

    Parameters
    ----------
    content : Content
        Its bytes. Small files are read into memory.
    encoding : str, optional
        The encoding, as the user gives it. By default it is inferred from the bytes.
    stack : ExitStack
        Removes temporary files.
    usual_encoding : str, optional
        The encoding of an earlier table, for bytes that are not UTF-8.
    """
    assumptions: list[Assumption] = []
    name, raw = content.name, content.raw
    if isinstance(raw, Path) and raw.stat().st_size <= IN_MEMORY:
        raw = raw.read_bytes()
    start = content.start()
    if not start:
        raise FileFormatError(f"{name} is empty: there is no table in it. Check that the file is complete.")
    for magic, what in BINARY_STARTS.items():
        if start.startswith(magic):
            raise FileFormatError(f"{name} is {what}.")
    for begin, what in TEXT_STARTS.items():
        if start.removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(begin):
            raise FileFormatError(f"{name} is {what}.")
    if JSON_START.match(start):
        raise FileFormatError(f"{name} is a JSON document. Save its table as CSV.")
    found = DetectedEncoding(raw, start, name, encoding, usual_encoding)
    if found.is_assumed:
        assumptions.append(Assumption(f"The text is encoded as {found.describe()}.", "--encoding"))
    if found.encoding == "utf-8" and not found.has_bare_returns:
        whole = raw
    else:
        whole = _rewritten(raw, found.encoding, name, stack)
    return Text(
        whole, name, _sample(whole), found.has_quotes, found.encoding, _line_end(raw, found), tuple(assumptions)
    )


def rewritten(text: Text, lines: Iterator[str], stack: ExitStack) -> Text:
    """The text with these lines in place of its own, each with its end."""
    whole = stored(lambda: "".join(islice(lines, 10_000)).encode(), stack)
    return replace(text, source=whole, sample=_sample(whole))


def _sample(whole: Path | bytes) -> str:
    with opened(whole) as stream:
        return codecs.getincrementaldecoder("utf-8")().decode(stream.read(SAMPLE))


def _line_end(raw: Path | bytes, found: DetectedEncoding) -> str:
    """The end of the first line."""
    with opened(raw) as stream:
        start = codecs.getincrementaldecoder(found.encoding)(errors="replace").decode(stream.read(SAMPLE))
    first = start[: start.find("\n") + 1] or start
    return "\r\n" if first.endswith("\r\n") else "\r" if "\r" in first else "\n"


def _rewritten(raw: Path | bytes, encoding: str, name: str, stack: ExitStack) -> Path | bytes:
    """The text in UTF-8 with line feeds."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(errors="strict"), translate=True)
    blocks = blocks_of(raw)

    def read() -> bytes:
        for block in blocks:
            if text := decoder.decode(block):
                if "\0" in text:
                    raise FileFormatError(
                        f"{name} is not a text in {encoding}: it contains NUL characters. Try another --encoding."
                    )
                return str(text).encode()
        return str(decoder.decode(b"", final=True)).encode()

    try:
        return stored(read, stack)
    except UnicodeError as error:
        raise FileFormatError(
            f"{name} is not encoded as {encoding}: {error}. Pass the right --encoding, for example utf-8 or latin-1."
        ) from error
