"""Checks of an Arrow stream before it is read: bodies are not compressed, and row counts are known.

A compressed body of a few kilobytes can hold gigabytes, so compressed streams are refused. The layout of a message is
that of Arrow's IPC format: a marker, the length of the metadata, the metadata (a flatbuffer), and the body.
"""

from __future__ import annotations

import struct

from madaline.web.errors import RequestError

CONTINUATION = b"\xff\xff\xff\xff"
HEADER_TYPE, HEADER, BODY_LENGTH = 1, 2, 3
"Fields of a message."
LENGTH, COMPRESSION = 0, 3
"Fields of a record batch."
DICTIONARY, RECORD_BATCH = 2, 3
"Types of a message's header."
DATA = 1
"Field of a dictionary batch that holds a record batch."


def check_stream(body: bytes, most_rows: int) -> int:
    """Number of rows of an Arrow stream; an error if it is compressed, cut off, or has more rows than allowed."""
    rows = place = 0
    try:
        while place < len(body):
            if body[place : place + 4] != CONTINUATION:
                raise ValueError("no continuation marker")
            (size,) = struct.unpack_from("<i", body, place + 4)
            if size == 0:
                break
            start = place + 8
            if size < 8 or start + size > len(body):
                raise ValueError("the metadata are cut off")
            metadata = body[start : start + size]
            rows += _rows(metadata)
            length = _number(metadata, _root(metadata), BODY_LENGTH, "<q")
            place = start + size + length
            if length < 0 or place > len(body):
                raise ValueError("the body is cut off")
            if rows > most_rows:
                raise RequestError(413, f"The Arrow stream has more than {most_rows:,} rows. Send fewer at a time.")
    except (struct.error, ValueError):
        raise RequestError(400, "The body is not an Arrow stream.") from None
    return rows


def _rows(metadata: bytes) -> int:
    """Rows of a message, 0 if it is not a record batch."""
    root = _root(metadata)
    kind = _number(metadata, root, HEADER_TYPE, "<B")
    if kind not in (DICTIONARY, RECORD_BATCH):
        return 0
    batch = _table(metadata, root, HEADER)
    if kind == DICTIONARY:
        batch = _table(metadata, batch, DATA)
    if _field(metadata, batch, COMPRESSION) is not None:
        raise RequestError(415, "The Arrow stream is compressed. Send it without compression.")
    length = _number(metadata, batch, LENGTH, "<q")
    if length < 0:
        raise ValueError("a batch has a negative length")
    return length if kind == RECORD_BATCH else 0


def _root(metadata: bytes) -> int:
    return int(struct.unpack_from("<I", metadata)[0])


def _field(metadata: bytes, table: int, number: int) -> int | None:
    """Position of a field of a flatbuffer's table; None if it is absent."""
    (back,) = struct.unpack_from("<i", metadata, table)
    (size,) = struct.unpack_from("<H", metadata, _inside(table - back))
    slot = 4 + 2 * number
    if slot + 2 > size:
        return None
    (offset,) = struct.unpack_from("<H", metadata, _inside(table - back + slot))
    return table + int(offset) if offset else None


def _number(metadata: bytes, table: int, number: int, kind: str) -> int:
    place = _field(metadata, table, number)
    return 0 if place is None else int(struct.unpack_from(kind, metadata, place)[0])


def _table(metadata: bytes, table: int, number: int) -> int:
    place = _field(metadata, table, number)
    if place is None:
        raise ValueError("a table is missing")
    return _inside(place + int(struct.unpack_from("<I", metadata, place)[0]))


def _inside(place: int) -> int:
    """A position, which Python would count from the end if it is negative."""
    if place < 0:
        raise ValueError("an offset is out of range")
    return place
