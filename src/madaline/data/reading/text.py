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
from typing import IO, Any

from madaline.data.reading.assumption import Assumption
from madaline.errors import ConfigError, FileFormatError

BLOCK = 1 << 22
"Bytes that are looked at together."
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
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


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
        with io.TextIOWrapper(_opened(self.source), encoding="utf-8", newline="\n") as stream:
            yield from stream


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
    with _opened(packed) as stream:
        is_packed = stream.read(2) == GZIP
    raw = _unpacked(packed, name, stack) if is_packed else packed
    with _opened(raw) as stream:
        start = stream.read(4096)
    if not start:
        raise FileFormatError(f"{name} is empty: there is no table in it. Check that it was written to the end.")
    for magic, what in BINARY_STARTS.items():
        if start.startswith(magic):
            raise FileFormatError(f"{name} is {what}.")
    found = _Found(raw, start, name, encoding)
    if found.is_assumed:
        assumptions.append(Assumption(f"The text is encoded as {_said(found.encoding)}.", "--encoding"))
    if found.encoding == "utf-8" and not found.has_bare_returns:
        whole = raw
    else:
        whole = _rewritten(raw, found.encoding, name, stack)
    with _opened(whole) as stream:
        sample = codecs.getincrementaldecoder("utf-8")().decode(stream.read(SAMPLE))
    return Text(whole, name, sample, found.has_quotes, tuple(assumptions))


def rewritten_lines(text: Text, change: Callable[[str], str], stack: ExitStack) -> Text:
    """The text with each of its lines changed."""
    lines = text.lines()

    def read() -> bytes:
        return "".join(change(line) + "\n" for line in islice(lines, 10_000)).encode()

    whole = _stored(read, stack)
    with _opened(whole) as stream:
        sample = codecs.getincrementaldecoder("utf-8")().decode(stream.read(SAMPLE))
    return replace(text, source=whole, sample=sample)


class _Found:
    """What one look at all bytes finds: the encoding, returns that end lines by themselves, quotes."""

    def __init__(self, raw: Path | bytes, start: bytes, name: str, encoding: str | None) -> None:
        self.has_bare_returns = self.has_quotes = False
        marked = next((found for mark, found in BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
        self.encoding = _checked(encoding) or marked or _unmarked_utf16(start) or "utf-8"
        self._is_wide = self.encoding.startswith(("utf-16", "utf-32"))
        is_free = encoding is None and marked is None and not self._is_wide
        decoder = codecs.getincrementaldecoder(self.encoding)(errors="strict")
        offset, controls, last = 0, 0, b""
        is_utf8 = True
        for block in _blocks(raw):
            if not self._is_wide:
                if b"\0" in block:
                    where = offset + block.index(b"\0") + 1
                    raise FileFormatError(
                        f"{name} is not a text: byte {where:,} is a NUL. If it was meant to be a table, save it again "
                        "as CSV (UTF-8)."
                    )
                controls += len(block) - len(block.translate(None, _CONTROLS))
            self.has_quotes |= b'"' in block
            self.has_bare_returns |= b"\r" in (last + block).replace(b"\r\n", b"").removesuffix(b"\r")
            last = block[-1:] if block.endswith(b"\r") else b""
            if is_utf8 and is_free:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    is_utf8 = False
            offset += len(block)
        self.has_bare_returns |= last == b"\r"
        if is_utf8 and is_free:
            is_utf8 = not decoder.getstate()[0]
        if controls > max(8, offset // 100):
            raise FileFormatError(f"{name} is not a text: {controls:,} of its {offset:,} bytes are control characters.")
        if not is_utf8:
            self.encoding = _western(raw)
        self.is_assumed = encoding is None and marked is None and self.encoding != "utf-8"


_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})


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
    with gzip.GzipFile(fileobj=_opened(packed)) as stream:
        try:
            return _stored(lambda: stream.read(BLOCK), stack)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"{name} is a damaged gz file: {error}. Download or copy it again.") from error


def _rewritten(raw: Path | bytes, encoding: str, name: str, stack: ExitStack) -> Path | bytes:
    """The text as UTF-8 with line feeds."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(errors="strict"), translate=True)
    blocks = _blocks(raw)

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


def _opened(source: Path | bytes) -> Any:
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


def _blocks(source: Path | bytes) -> Iterator[bytes]:
    with _opened(source) as stream:
        while block := stream.read(BLOCK):
            yield block


def _checked(encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding).name
        "".encode(found)
    except (LookupError, ValueError):
        raise ConfigError(
            f"--encoding {encoding} is not known. Usual ones: utf-8, latin-1, cp1252, utf-16, shift_jis, gb18030."
        ) from None
    return "utf-8-sig" if found == "utf-8" else found


def _unmarked_utf16(start: bytes) -> str | None:
    """UTF-16 without a mark shows by a NUL beside each Latin letter."""
    for offset, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        high, low = start[offset::2], start[1 - offset :: 2]
        if len(high) >= 4 and high.count(0) > 0.6 * len(high) and low.count(0) == 0:
            return name
    return None


def _western(raw: Path | bytes) -> str:
    """Windows' code page, which most files that are not UTF-8 have, or Latin-1 where it has gaps."""
    gaps = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
    return "latin-1" if any(gap in block for block in _blocks(raw) for gap in gaps) else "cp1252"


def _said(encoding: str) -> str:
    return {"cp1252": "Latin-1 (Windows-1252)", "latin-1": "Latin-1"}.get(encoding, encoding.upper())
