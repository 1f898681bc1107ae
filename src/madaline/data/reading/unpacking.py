"""Compressed files: decompressed block by block, up to a limit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from madaline.data.reading.encoding import BLOCK, opened
from madaline.errors import ConfigError, FileFormatError, InputError
from madaline.extras import require


def _open_zstd(file: BinaryIO) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        require("backports.zstd", "Reading a file that is compressed by zstd")
        from backports import zstd
    return zstd.ZstdFile(file)


OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
"By the first bytes of a compressed file, what decompresses it: gzip, bzip2, xz, zstd."
LARGEST_RATIO = 200
"A table is rarely more than this many times larger than its compressed file."
ALWAYS = 1 << 28
"Number of bytes that a compressed file of any size may have after decompression."
DISK_SHARE = 0.9
"Share of the free space for temporary files that a decompressed file may take."
DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"What the decompressors of Python raise for damaged files."
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Unpacked:
    """The content of a file that is compressed by gzip, bzip2, xz or zstd, or of a file in a zip archive.

    Parameters
    ----------
    packed : Path or bytes
        The file, or its bytes.
    name : str
        The name in messages.
    limit : str, optional
        Largest size of the content, such as ``"20GB"``. By default 200 times the size of the file and at least 256
        MiB, but not more than there is space for.
    stream : binary stream, optional
        The decompressed bytes, if the file is an archive. By default they are those of the whole file.
    done : int
        Number of bytes of the same archive that were decompressed before.

    Raises
    ------
    InputError
        If the content is larger.
    """

    def __init__(
        self, packed: Path | bytes, name: str, limit: str | None = None, *, stream: Any = None, done: int = 0
    ) -> None:
        self._name = name
        self._limit = n_bytes(limit) if limit is not None else None
        n_packed = packed.stat().st_size if isinstance(packed, Path) else len(packed)
        self._most = max(ALWAYS, LARGEST_RATIO * n_packed) if self._limit is None else self._limit
        self._free = int(DISK_SHARE * shutil.disk_usage(tempfile.gettempdir()).free)
        self._file = None if stream is not None else opened(packed)
        self._stream = stream if stream is not None else _decompressing(self._file)
        self.done = done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()
        if self._file is not None:
            self._file.close()

    def read(self) -> bytes:
        """The next block; empty at the end."""
        try:
            block: bytes = self._stream.read(BLOCK)
        except Exception as error:  # zstd, which may not be installed, has its own
            if not (isinstance(error, DAMAGE) or type(error).__name__ == "ZstdError"):
                raise
            text = f"{self._name} is a damaged compressed file: {error}. Download or copy it again."
            raise FileFormatError(text) from error
        self.done += len(block)
        if self.done > self._most:
            raise InputError(
                f"{self._name} has more than {self._most:,} bytes when it is decompressed, which is the limit. If you "
                "trust the file, raise the limit: --max-unpacked 20GB."
            )
        if self.done > max(self._free, ALWAYS):
            raise InputError(
                f"{self._name} has more than {self._free:,} bytes when it is decompressed, and there is no space for "
                f"more in {tempfile.gettempdir()!r}. Decompress it yourself and give the file, or set TMPDIR to a "
                "larger disk."
            )
        return block


def _decompressing(file: Any) -> Any:
    start = file.read(8)
    file.seek(0)
    return next(opener for magic, opener in OPENERS.items() if start.startswith(magic))(file)


def n_bytes(size: str, option: str = "--max-unpacked") -> int:
    """A number of bytes as people write it.

    Examples
    --------
    >>> n_bytes("500MB"), n_bytes("1.5 GB"), n_bytes("2g")
    (500000000, 1500000000, 2000000000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?", str(size).strip().upper())
    if found is None or not float(found[1]):
        raise ConfigError(f"{option} {size} is not a size. Write it as 500MB or 4GB.")
    return int(float(found[1]) * UNITS[found[2]])
