"""Check the structure of a Parquet file: the reader would end the process at some impossible numbers.

The footer and the header of every page are read, not the values. They are structs of Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), whose fields
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift defines.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from madaline.data.reading.encoding import opened

MAGIC = b"PAR1"
HEAD_BYTES = 256
"Number of bytes that are read for the header of a page; more if it is longer."
LONGEST_HEAD = 1 << 24
DEEPEST = 32
"Maximum nesting of structs."

Struct = dict[int, Any]

# Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


class _CutError(Exception):
    """The bytes end within a struct."""


class _Reader:
    """Reads structs; binary values are skipped, as are maps, which these structs do not have."""

    def __init__(self, content: bytes) -> None:
        self._content, self.place = content, 0

    def struct(self, depth: int = 0) -> Struct:
        if depth > DEEPEST:
            raise ValueError("its structs are nested too deeply")
        found: Struct = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._integer()
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self._integer()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _MAP:
            raise ValueError("it has a part of unknown kind")
        sizes = {_BYTE: 1, _DOUBLE: 8}
        if kind != _BINARY and kind not in sizes:
            raise ValueError("it has a part of unknown kind")
        self._skip(sizes[kind] if kind in sizes else self._unsigned())
        return None

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._unsigned()
        if count > len(self._content) - self.place:  # an item has at least one byte
            raise _CutError
        kind = head & 15
        if kind in (_TRUE, _FALSE):
            return [self._byte() == _TRUE for _ in range(count)]
        return [self._value(kind, depth) for _ in range(count)]

    def _byte(self) -> int:
        if self.place >= len(self._content):
            raise _CutError
        self.place += 1
        return self._content[self.place - 1]

    def _skip(self, n_bytes: int) -> None:
        self.place += n_bytes
        if self.place > len(self._content):
            raise _CutError

    def _unsigned(self) -> int:
        found = shift = 0
        while shift < 70:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
        raise ValueError("it has a number that is too long")

    def _integer(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)


def contradiction(source: Path | bytes) -> str:
    """What is impossible in the structure of a Parquet file; empty if nothing is."""
    with opened(source) as file:
        size = file.seek(0, os.SEEK_END)
        if size < 12:
            return "it is too short"
        file.seek(size - 8)
        end = file.read(8)
        if end[4:] != MAGIC:
            return ""  # an encrypted file, or none: the reader knows
        length = int.from_bytes(end[:4], "little")
        if length > size - 12:
            return "its footer is longer than the file"
        file.seek(size - 8 - length)
        try:
            footer = _Reader(file.read(length)).struct()
            _check_footer(file, footer, size)
        except _CutError:
            return "its footer is not complete"
        except ValueError as error:
            return str(error)
        except (AttributeError, TypeError, KeyError):
            return "its footer has parts of other kinds"
    return ""


def row_groups(path: Path) -> list[int]:
    """The number of rows of each row group of a Parquet file that has no contradictions."""
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        file.seek(size - 8 - length)
        footer = _Reader(file.read(length)).struct()
    return [_natural(group.get(3, 0)) for group in footer.get(4, [])]


def _check_footer(file: Any, footer: Struct, size: int) -> None:
    groups = footer.get(4, [])
    _check(
        sum(_natural(group.get(3, 0)) for group in groups) == _natural(footer.get(3, 0)), "its numbers of rows differ"
    )
    for group in groups:
        for chunk in group[1]:
            if chunk.get(1) is None and 1 in chunk:
                continue  # the values are in another file
            if 3 in chunk:  # else it is encrypted
                _check_chunk(file, chunk[3], size)


def _check_chunk(file: Any, chunk: Struct, size: int) -> None:
    n_values, n_bytes = _natural(chunk[5]), _natural(chunk[7])
    _natural(chunk[6])
    first = _natural(chunk[9])
    if chunk.get(11):  # the dictionary comes first
        first = min(first, _natural(chunk[11]))
    end = first + n_bytes
    _check(end <= size, "a column lies outside of the file")
    seen, place = 0, first
    while place < end and seen < n_values:
        head, length = _page_head(file, place, end)
        stored, unpacked = _natural(head[3]), _natural(head[2])
        place += length + stored
        _check(place <= end, "a page lies outside of its column")
        for data in (head[kind] for kind in (5, 8) if kind in head):
            seen += _natural(data[1])
            _check(seen <= n_values, "a page has more values than its column")
        if 8 in head:
            data = head[8]
            levels = _natural(data[5]) + _natural(data[6])
            _check(levels <= min(unpacked, stored) and _natural(data[2]) <= data[1], "a page has impossible sizes")
            _natural(data[3])
        if 7 in head:
            _check(_natural(head[7][1]) <= 8 * unpacked, "a dictionary has more values than bytes")


def _page_head(file: Any, place: int, end: int) -> tuple[Struct, int]:
    """The header of a page and its length."""
    n_bytes = HEAD_BYTES
    while True:
        file.seek(place)
        reader = _Reader(file.read(min(n_bytes, end - place)))
        try:
            return reader.struct(), reader.place
        except _CutError:
            if n_bytes >= min(end - place, LONGEST_HEAD):
                raise ValueError("the header of a page is not complete") from None
            n_bytes *= 16


def _natural(number: Any) -> int:
    _check(type(number) is int and number >= 0, "it has negative sizes")
    return int(number)


def _check(is_right: bool, text: str) -> None:
    if not is_right:
        raise ValueError(text)
