"""Sheets of Excel workbooks, read as the texts of a CSV file: titles above the header and units are found as there."""

from __future__ import annotations

import csv
import io
import re
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from madaline.data.reading.assumption import Assumption, listed
from madaline.data.reading.content import Content, open_archive, open_member
from madaline.data.reading.format import TableFormat
from madaline.data.reading.options import ReadOptions
from madaline.data.reading.parts import TextPart
from madaline.data.reading.unpacking import Unpacked
from madaline.errors import ConfigError, FileFormatError, InputError, MadalineError
from madaline.extras import require

if TYPE_CHECKING:
    import polars as pl

MOST_CELLS = 100_000_000
"Cells of the rectangle that holds all values of a sheet; each takes about 32 bytes, also if it is empty."
SHEETS = "xl/worksheets/"
LARGEST_COLUMN = 16_384
"Columns of a sheet of Excel."
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})(\d{1,9})["']""")
_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_OVERLAP = 64
"Bytes that two blocks share, so that no place of a cell is missed."


def sheet_text(
    content: Content, options: ReadOptions, stack: ExitStack, earlier_format: TableFormat | None
) -> TextPart:
    """The sheet of a workbook that is asked for, or the first one that is not empty."""
    require("fastexcel", "Reading an Excel workbook")
    _check_size(content, options)
    name, text, notes = _read(content, options)
    given = replace(options, delimiter=",", encoding="utf-8")
    part = TextPart.read(Content(text, f"{content.name}, sheet {name!r}"), given, stack, earlier_format)
    part.assumptions = (*notes, *part.assumptions)
    return part


def _read(content: Content, options: ReadOptions) -> tuple[str, bytes, list[Assumption]]:
    """The name of the sheet, its cells as CSV, and what was assumed."""
    import fastexcel

    source = content.raw if isinstance(content.raw, bytes) else str(content.raw)
    try:
        workbook = fastexcel.read_excel(source)
        names = list(workbook.sheet_names)
        wanted = names if options.table is None or content.is_chosen else [options.table]
        if missing := [name for name in wanted if name not in names]:
            raise ConfigError(
                f"--table {missing[0]!r}: {content.name} has no sheet of this name. Sheets: {listed(map(repr, names))}."
            )
        for name in wanted:
            cells = workbook.load_sheet(name, header_row=None, dtypes="string").to_polars()
            if cells.width and cells.height:
                cells = _with_all_digits(cells, workbook.load_sheet(name, header_row=None, dtypes="float").to_polars())
                text = f"The sheet {name!r} is read, the first of {len(names):,} that has values."
                is_assumed = len(names) > 1 and len(wanted) > 1
                return name, _as_csv(cells), [Assumption(text, "--table")] if is_assumed else []
    except BaseException as error:
        if isinstance(error, MadalineError) or not _is_damage(error):
            raise
        first = str(error).split("\n", 1)[0].rstrip(".")
        raise FileFormatError(
            f"{content.name} is a damaged Excel workbook: {first}. Open it in a spreadsheet program and save it again."
        ) from error
    raise FileFormatError(f"{content.name} is empty: there are no values in {' and '.join(map(repr, wanted))}.")


def _with_all_digits(cells: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """The cells with all digits of their numbers: as texts, the reader gives only nine digits after the point."""
    import polars as pl

    exact = numbers.select(pl.all().name.suffix(" "))
    both = cells.hstack(exact)
    columns = []
    for name in cells.columns:
        text, number = pl.col(name), pl.col(f"{name} ")
        is_rounded = text.str.contains(_NUMBER) & (text.cast(pl.Float64, strict=False) != number)
        columns.append(pl.when(is_rounded).then(number.cast(pl.String)).otherwise(text).alias(name))
    return both.select(columns)


def _as_csv(cells: pl.DataFrame) -> bytes:
    """The cells of a sheet as CSV. Lines above the table are as short as they are, so that they are told from it."""
    import polars as pl

    n_filled = cells.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    n_titles = int((n_filled > cells.width // 2).arg_max() or 0)
    titles = io.StringIO()
    writer = csv.writer(titles, lineterminator="\n")
    for row in cells.head(n_titles).rows():
        last = max((k for k, cell in enumerate(row) if cell is not None), default=-1)
        writer.writerow(row[: last + 1])
    text = io.BytesIO()
    text.write(titles.getvalue().encode())
    cells.tail(len(cells) - n_titles).write_csv(text, include_header=False)
    return text.getvalue()


def _is_damage(error: BaseException) -> bool:
    """Whether an error comes from the reader of workbooks; its native code may panic, which is not an Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _check_size(content: Content, options: ReadOptions) -> None:
    """Decompress a workbook up to the limit, and look for values far from the others.

    The reader itself has no limits. It takes memory for the rectangle from the first to the last value of a sheet.
    """
    n_done = 0
    with open_archive(content) as archive:
        for member in archive.infolist():
            rows, columns, rest = 0, 0, b""
            stream = open_member(archive, member, content.name)
            with Unpacked(content.raw, content.name, options.max_unpacked, stream=stream, done=n_done) as unpacked:
                while block := unpacked.read():
                    if member.filename.startswith(SHEETS):
                        rest += block
                        for letters, digits in _PLACE.findall(rest):
                            rows, columns = max(rows, int(digits)), max(columns, _column_number(letters))
                        rest = rest[-_OVERLAP:]
                n_done = unpacked.done
            if rows * max(columns, 1) > MOST_CELLS:
                raise InputError(
                    f"{content.name} has a sheet that spans {rows:,} rows and {columns:,} columns, which is more than "
                    f"{MOST_CELLS:,} cells. Delete what is far from the table, or save the sheet as CSV."
                )


def _column_number(letters: bytes) -> int:
    """The number of a column.

    Examples
    --------
    >>> _column_number(b"A"), _column_number(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return min(number, LARGEST_COLUMN)
