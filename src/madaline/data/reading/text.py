"""Bytes to text: whatever a file is packed and encoded as, it is handed on as UTF-8 with line feeds."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

from madaline.data.reading.assumption import Assumption
from madaline.data.reading.encoding import BLOCK, Found, blocks_of, opened
from madaline.errors import FileFormatError

IN_MEMORY = 1 << 26
"A text of at most so many bytes is kept in memory; a larger one stays in its file, or goes to a temporary one."
SAMPLE = 1 << 18
"Characters from which delimiter and header are told."

GZIP = b"\x1f\x8b"
BINARY_STARTS = {
    b"PK\x03\x04": "an Excel or zip file. Open it in a spreadsheet program and save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file. Open it in a spreadsheet program and save the sheet as CSV",
    b"BZh": "packed by bzip2. Unpack it first",
    b"\xfd7zXZ": "packed by xz. Unpack it first",
    b"\x28\xb5\x2f\xfd": "packed by zstd. Unpack it first",
    b"%PDF": "a PDF document. Export its table as CSV",
    b"\x89PNG": "a picture. A table in a CSV or Parquet file is needed",
    b"\xff\xd8\xff": "a picture. A table in a CSV or Parquet file is needed",
    b"SQLite format 3": "a data base. Export a table of it as CSV",
    b"ARROW1": "an Arrow file. Save it as Parquet",
    b"FEA1": "a Feather file. Save it as Parquet",
    b"\x89HDF": "an HDF5 file. Save its table as Parquet or CSV",
    b"\x93NUMPY": "a NumPy file. Save its table as Parquet or CSV",
    b"\x7fELF": "a program. A table in a CSV or Parquet file is needed",
}
TEXT_STARTS = {
    b"<!doctype html": "a web page. Download the table itself, or copy it into a spreadsheet and save that as CSV",
    b"<html": "a web page. Download the table itself, or copy it into a spreadsheet and save that as CSV",
    b"<?xml": "an XML document. Open it in a spreadsheet program and save its table as CSV",
    b"[{": "a JSON document. Save its table as CSV",
    b'{"': "a JSON document. Save its table as CSV",
}
"What is no table though it is text: how it begins, in small letters and after blanks."


@dataclass(frozen=True)
class Text:
    """A text as UTF-8, its lines ended by line feeds.

    Attributes
    ----------
    source : Path or bytes
        Where it is.
    name : str
        What messages call it.
    sample : str
        How it begins.
    has_quotes : bool
        Whether there is a double quote anywhere.
    assumptions : tuple of Assumption
    """

    source: Path | bytes
    name: str
    sample: str
    has_quotes: bool
    assumptions: tuple[Assumption, ...] = ()

    def lines(self) -> Iterator[str]:
        """Line by line, each with its end."""
        with io.TextIOWrapper(opened(self.source), encoding="utf-8", newline="\n") as stream:
            yield from stream

    def blocks(self) -> Iterator[bytes]:
        """The bytes in blocks that end where a line does, outside of quotes."""
        rest = b""
        for block in blocks_of(self.source):
            whole = rest + block
            end = _end_of_records(whole) if self.has_quotes else whole.rfind(b"\n") + 1
            if end:
                yield whole[:end]
            rest = whole[end:]
            if len(rest) > IN_MEMORY:
                raise FileFormatError(f"{self.name} has a double quote that is never closed, or a line without end.")
        if rest:
            yield rest


def _end_of_records(block: bytes) -> int:
    """Where the last line ends that has all of its quotes closed; 0 if there is none."""
    end = len(block)
    quotes = block.count(b'"')
    while True:
        newline = block.rfind(b"\n", 0, end)
        if newline < 0:
            return 0
        quotes -= block.count(b'"', newline, end)
        if quotes % 2 == 0:
            return newline + 1
        end = newline


def read_text(source: Path | IO[bytes], *, name: str, encoding: str | None, stack: ExitStack) -> Text:
    """The text of a file or stream.

    Parameters
    ----------
    source : Path or binary stream
    name : str
        What messages call it.
    encoding : str, optional
        As the user gave it; told from the bytes otherwise.
    stack : ExitStack
        What removes temporary files.
    """
    assumptions: list[Assumption] = []
    packed = _kept(source, stack)
    with opened(packed) as stream:
        is_packed = stream.read(2) == GZIP
    raw = _unpacked(packed, name, stack) if is_packed else packed
    with opened(raw) as stream:
        start = stream.read(4096)
    if not start:
        raise FileFormatError(f"{name} is empty: there is no table in it. Check that it was written to the end.")
    for magic, what in BINARY_STARTS.items():
        if start.startswith(magic):
            raise FileFormatError(f"{name} is {what}.")
    for begin, what in TEXT_STARTS.items():
        if start.removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(begin):
            raise FileFormatError(f"{name} is {what}.")
    found = Found(raw, start, name, encoding)
    if found.is_assumed:
        assumptions.append(Assumption(f"The text is encoded as {found.said()}.", "--encoding"))
    if found.encoding == "utf-8" and not found.has_bare_returns:
        whole = raw
    else:
        whole = _rewritten(raw, found.encoding, name, stack)
    with opened(whole) as stream:
        sample = codecs.getincrementaldecoder("utf-8")().decode(stream.read(SAMPLE))
    return Text(whole, name, sample, found.has_quotes, tuple(assumptions))


def rewritten(text: Text, lines: Iterator[str], stack: ExitStack) -> Text:
    """The text with these lines instead, each with its end."""
    whole = _stored(lambda: "".join(islice(lines, 10_000)).encode(), stack)
    with opened(whole) as stream:
        sample = codecs.getincrementaldecoder("utf-8")().decode(stream.read(SAMPLE))
    return replace(text, source=whole, sample=sample)


def _kept(source: Path | IO[bytes], stack: ExitStack) -> Path | bytes:
    """A file, or all of a stream; small ones in memory."""
    if isinstance(source, Path):
        return source.read_bytes() if source.stat().st_size <= IN_MEMORY else source
    return _stored(lambda: source.read(BLOCK), stack)


def _stored(read: Callable[[], bytes], stack: ExitStack) -> Path | bytes:
    """All that ``read`` gives, in memory or in a temporary file."""
    held = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed below
    with held:
        while block := read():
            held.write(block)
        size = held.tell()
        held.seek(0)
        if size <= IN_MEMORY:
            return bytes(held.read())
        path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="madaline-"))) / "table"
        with path.open("wb") as file:
            shutil.copyfileobj(held, file, BLOCK)
    return path


def _unpacked(packed: Path | bytes, name: str, stack: ExitStack) -> Path | bytes:
    with gzip.GzipFile(fileobj=opened(packed)) as stream:
        try:
            return _stored(lambda: stream.read(BLOCK), stack)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"{name} is a damaged gz file: {error}. Download or copy it again.") from error


def _rewritten(raw: Path | bytes, encoding: str, name: str, stack: ExitStack) -> Path | bytes:
    """The text as UTF-8 with line feeds."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(errors="strict"), translate=True)
    blocks = blocks_of(raw)

    def read() -> bytes:
        for block in blocks:
            if text := decoder.decode(block):
                if "\0" in text:
                    raise FileFormatError(
                        f"{name} is no text in {encoding}: it has NULs in it. Try another --encoding."
                    )
                return str(text).encode()
        return str(decoder.decode(b"", final=True)).encode()

    try:
        return _stored(read, stack)
    except UnicodeError as error:
        raise FileFormatError(
            f"{name} is not encoded as {encoding}: {error}. Give the right one with --encoding, as utf-8 or latin-1."
        ) from error
