"""The kind of a file, detected from its first bytes: its name does not matter."""

from __future__ import annotations

from contextlib import ExitStack

from madaline.data.reading.content import Content, is_workbook
from madaline.data.reading.databases import duckdb_part, sqlite_part
from madaline.data.reading.format import TableFormat
from madaline.data.reading.options import ReadOptions
from madaline.data.reading.part import Part
from madaline.data.reading.parts import TextPart
from madaline.data.reading.spreadsheet import sheet_text
from madaline.data.reading.text import JSON_START
from madaline.data.reading.typed_parts import arrow_part, arrow_stream_part, json_part, parquet_part
from madaline.errors import ConfigError

TYPED = {
    b"PAR1": parquet_part,
    b"ARROW1": arrow_part,
    b"\xff\xff\xff\xff": arrow_stream_part,
}
"Files with one table whose values have types, by their first bytes."
SQLITE = b"SQLite format 3\0"
DUCKDB = b"DUCK"
DUCKDB_AT = 8
"Number of bytes before the name of DuckDB."


def part_of(content: Content, options: ReadOptions, stack: ExitStack, earlier_format: TableFormat | None) -> Part:
    """The table in a file of any kind."""
    part = _part_of(content, options, stack, earlier_format)
    part.assumptions = (*content.assumptions, *part.assumptions)
    return part


def _part_of(content: Content, options: ReadOptions, stack: ExitStack, earlier_format: TableFormat | None) -> Part:
    start = content.start()
    if is_workbook(content):
        return sheet_text(content, options, stack, earlier_format)
    if start.startswith(SQLITE):
        return sqlite_part(content, options, stack)
    if start[DUCKDB_AT:].startswith(DUCKDB):
        return duckdb_part(content, options, stack)
    if options.table is not None and not content.is_chosen:
        raise ConfigError(
            f"--table {options.table!r}: {content.name} has only one table. This option is for Excel workbooks, "
            "databases and zip archives."
        )
    typed = next((make for magic, make in TYPED.items() if start.startswith(magic)), None)
    if typed is None and JSON_START.match(start):
        typed = json_part
    return typed(content) if typed is not None else TextPart.read(content, options, stack, earlier_format)
