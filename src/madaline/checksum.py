"""Checksums of files: the SHA-256 digest of a safetensors file, and CRC-32 of the pieces of a file of records."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from madaline.errors import FileFormatError

KEY = "sha256"
"The key of the checksum in the metadata of a safetensors file."
BLANK = "0" * 64
"The digits in place of the checksum while it is computed."
METADATA = b'{"__metadata__":{'
"The beginning of the header of a safetensors file with metadata."
READ_BYTES = 1 << 20
"Number of bytes of a file that are read at a time."


def sealed(content: bytes) -> tuple[bytes, memoryview]:
    """Put the checksum of a safetensors file into its metadata, as the first entry.

    The digest is that of all bytes of the file, with :data:`BLANK` in place of the digest itself. It is not given to
    the writer of safetensors, which puts several entries in a random order: equal models have equal files.

    Parameters
    ----------
    content : bytes
        The file, with other metadata and without a checksum.

    Returns
    -------
    bytes, memoryview
        The header with the checksum, and the arrays.
    """
    length = 8 + int.from_bytes(content[:8], "little")
    head, arrays = content[8:length].rstrip(b" "), memoryview(content)[length:]
    assert head.startswith(METADATA), "safetensors begins its header with the metadata"
    head = METADATA + _entry(BLANK) + b"," + head[len(METADATA) :]
    head += b" " * (-len(head) % 8)
    header = len(head).to_bytes(8, "little") + head
    digest = hashlib.sha256(header)
    digest.update(arrays)
    return header.replace(_entry(BLANK), _entry(digest.hexdigest()), 1), arrays


def check_sealed(path: Path) -> None:
    """Raise an error unless a safetensors file has the checksum that its metadata state."""
    with path.open("rb") as file:
        length = file.read(8)
        header = length + file.read(int.from_bytes(length, "little"))
        # Quotes inside the document are escaped, so that only an entry of the header itself can match.
        stated = re.search(_entry("([0-9a-f]{64})"), header)
        if stated is None:
            raise FileFormatError(f"{os.fspath(path)!r} is damaged: it has no checksum. Use another copy of the file.")
        digest = hashlib.sha256(header[: stated.start(1)] + BLANK.encode() + header[stated.end(1) :])
        while block := file.read(READ_BYTES):
            digest.update(block)
    if digest.hexdigest().encode() != stated[1]:
        raise FileFormatError(
            f"{os.fspath(path)!r} is damaged: its checksum does not match its content. Use another copy of the file."
        )


def _entry(digits: str) -> bytes:
    return f'"{KEY}":"{digits}"'.encode()


class PieceWriter:
    """Write records to a file in pieces of equal size, followed by the checksum of each piece.

    The file ends with the CRC-32 of every piece, their number (8 bytes) and the CRC-32 of these.

    Parameters
    ----------
    file : binary file
    piece_bytes : int
        Size of a piece; the last one may be smaller.
    """

    def __init__(self, file: BinaryIO, piece_bytes: int) -> None:
        self._file, self._piece_bytes = file, piece_bytes
        self._sums: list[int] = []
        self._room = 0

    def write(self, records: np.ndarray) -> None:
        """Append records."""
        content = np.ascontiguousarray(records).view(np.uint8).data
        self._file.write(content)
        while len(content):
            if not self._room:
                self._sums.append(0)
                self._room = self._piece_bytes
            part, content = content[: self._room], content[self._room :]
            self._sums[-1] = zlib.crc32(part, self._sums[-1])
            self._room -= len(part)

    def finish(self) -> None:
        """Append the checksums."""
        end = np.array(self._sums, "<u4").tobytes() + len(self._sums).to_bytes(8, "little")
        self._file.write(end + zlib.crc32(end).to_bytes(4, "little"))


class PieceReader:
    """Read pieces of a file of records and verify the checksum of each.

    Parameters
    ----------
    path : path
        A file of a :class:`PieceWriter`.
    record : numpy dtype
    piece_bytes : int
        Size of a piece, as it was written.
    """

    def __init__(self, path: Path, record: np.dtype[Any], piece_bytes: int) -> None:
        self.path, self.record = path, record
        self._piece_bytes = piece_bytes
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 12))
            n_pieces = int.from_bytes(file.read(12)[:8], "little")
            end_bytes = 4 * n_pieces + 12
            file.seek(max(0, size - end_bytes))
            end = file.read() if end_bytes <= size else b""
        rows_bytes = size - end_bytes
        is_whole = len(end) == end_bytes and zlib.crc32(end[:-4]) == int.from_bytes(end[-4:], "little")
        if not is_whole or rows_bytes % record.itemsize or -(-rows_bytes // piece_bytes) != n_pieces:
            raise FileFormatError(self._damaged("it is not complete"))
        self.n_rows = rows_bytes // record.itemsize
        self._sums = np.frombuffer(end[:-12], "<u4")

    def pieces(self, numbers: np.ndarray) -> Iterator[np.ndarray]:
        """The records of the pieces with these numbers."""
        rows = self._piece_bytes // self.record.itemsize
        with self.path.open("rb") as file:
            for number in numbers.tolist():
                file.seek(number * self._piece_bytes)
                found = np.fromfile(file, self.record, min(rows, self.n_rows - number * rows))
                if zlib.crc32(found.view(np.uint8).data) != self._sums[number]:
                    raise FileFormatError(self._damaged(f"the checksum of piece {number} does not match its content"))
                yield found

    def _damaged(self, reason: str) -> str:
        return f"{os.fspath(self.path)!r} is damaged: {reason}. Delete it; the rows will then be encoded again."
