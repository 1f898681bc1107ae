"""The encoding of a text, detected from its bytes."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madaline.errors import ConfigError, FileFormatError

BLOCK = 1 << 22
"Number of bytes that are read at a time."
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class DetectedEncoding:
    """The encoding of a text, and whether it has quotes and lines that end with a carriage return alone.

    Parameters
    ----------
    raw : Path or bytes
    start : bytes
        The first bytes.
    name : str
        The name in messages.
    encoding : str, optional
        The encoding, if it is given.
    usual : str, optional
        The encoding of an earlier table, for bytes that are not UTF-8.
    """

    def __init__(
        self, raw: Path | bytes, start: bytes, name: str, encoding: str | None, usual: str | None = None
    ) -> None:
        self.has_bare_returns = self.has_quotes = False
        marked = next((found for mark, found in BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
        self.encoding = _checked(encoding) or marked or _unmarked_utf16(start) or "utf-8"
        self._is_wide = self.encoding.startswith(("utf-16", "utf-32"))
        is_free = encoding is None and marked is None and not self._is_wide
        decoder = codecs.getincrementaldecoder(self.encoding)(errors="strict")
        offset, controls, last = 0, 0, b""
        is_utf8 = True
        for block in blocks_of(raw):
            if not self._is_wide:
                if b"\0" in block:
                    where = offset + block.index(b"\0") + 1
                    raise FileFormatError(
                        f"{name} is not a text: byte {where:,} is a NUL character. If it should be a table, save it "
                        "again as CSV (UTF-8)."
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
        # A single one, such as \\x01 or \\x1f, may be the delimiter.
        if controls > max(8, offset // 100) and len(set(start) & set(_CONTROLS)) != 1:
            raise FileFormatError(f"{name} is not a text: {controls:,} of its {offset:,} bytes are control characters.")
        is_usual = not is_utf8 and usual is not None and not usual.startswith("utf")
        if not is_utf8:
            self.encoding = usual if is_usual and usual is not None else _western_encoding(raw)
        self.is_assumed = encoding is None and marked is None and self.encoding != "utf-8" and not is_usual

    def describe(self) -> str:
        """The common name of the encoding."""
        names = {"cp1252": "Latin-1 (Windows-1252)", "latin-1": "Latin-1"}
        return names.get(self.encoding, self.encoding.upper())


_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})


def _checked(encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding).name
        "".encode(found)
    except (LookupError, ValueError):
        raise ConfigError(
            f"--encoding {encoding} is not known. Common ones: utf-8, latin-1, cp1252, utf-16, shift_jis, gb18030."
        ) from None
    return "utf-8-sig" if found == "utf-8" else found


def _unmarked_utf16(start: bytes) -> str | None:
    """The byte order of UTF-16 without a mark, which has a NUL beside each Latin letter."""
    for offset, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        high, low = start[offset::2], start[1 - offset :: 2]
        if len(high) >= 4 and high.count(0) > 0.6 * len(high) and low.count(0) == 0:
            return name
    return None


def _western_encoding(raw: Path | bytes) -> str:
    """The code page of Windows, which most files that are not UTF-8 have, or Latin-1 for bytes that it lacks."""
    gaps = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
    return "latin-1" if any(gap in block for block in blocks_of(raw) for gap in gaps) else "cp1252"


def opened(source: Path | bytes) -> Any:
    """A stream of the bytes of a file, or of these bytes."""
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


def blocks_of(source: Path | bytes) -> Iterator[bytes]:
    """The bytes of a file, or these bytes, in blocks."""
    with opened(source) as stream:
        while block := stream.read(BLOCK):
            yield block
