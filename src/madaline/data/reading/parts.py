"""The files of a table: text or Parquet, read in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from madaline.data.reading.assumption import Assumption, named
from madaline.data.reading.delimiter import find_delimiter
from madaline.data.reading.dialect import Dialect, quoting_of
from madaline.data.reading.format import TableFormat
from madaline.data.reading.known import KnownFormat
from madaline.data.reading.layout import Layout, find_layout
from madaline.data.reading.panics import readable
from madaline.data.reading.parquet_check import contradiction
from madaline.data.reading.records import (
    UNIT_SEPARATOR,
    LooseQuotes,
    joined_blanks,
    sample_lines,
    with_delimiter,
    with_strict_quotes,
    with_unit_separators,
)
from madaline.data.reading.text import Text, read_text, rewritten
from madaline.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.reading.options import ReadOptions

BATCH_ROWS = 50_000
"Number of rows of a batch, for a table with few columns."
BATCH_VALUES = 2_000_000
"Number of values of a batch."
ROW = "\0row"
"Column for the number of a record; no column of a text can have this name."


class Part:
    """A file of a table.

    Attributes
    ----------
    name : str
        The name in messages.
    names : tuple of str
        Names of the columns.
    unnamed : frozenset of str
        Columns without a name in the file.
    assumptions : tuple of Assumption
    dialect : Dialect, optional
        The dialect of a text file; None if values have types, as in Parquet.
    n_rows : int
        Number of rows; for a text, of records that may be rows.
    """

    def __init__(self, name: str, names: Sequence[str], n_rows: int) -> None:
        self.name, self.names, self.n_rows = name, tuple(names), n_rows
        self.unnamed: frozenset[str] = frozenset()
        self.assumptions: tuple[Assumption, ...] = ()
        self.dialect: Dialect | None = None

    @property
    def is_text(self) -> bool:
        """Whether values are texts, to be read in a format."""
        return self.dialect is not None

    def text_names(self) -> tuple[str, ...]:
        """Columns of text in a file with types."""
        return ()

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Columns of text in batches, each with the number of its first record."""
        raise NotImplementedError

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Rows in batches, read in a format."""
        raise NotImplementedError


class TextPart(Part):
    """A text, and where its rows are."""

    def __init__(self, text: Text, layout: Layout, dialect: Dialect, assumptions: tuple[Assumption, ...]) -> None:
        super().__init__(text.name, layout.names, layout.n_records - layout.first_row - len(layout.dropped))
        self.text, self.layout, self.dialect = text, layout, dialect
        self.unnamed, self.assumptions = layout.unnamed, assumptions

    @classmethod
    def read(
        cls,
        source: Path | IO[bytes],
        name: str,
        options: ReadOptions,
        stack: ExitStack,
        earlier_format: TableFormat | None = None,
    ) -> TextPart:
        """Read the text of a file or stream, in the format of an earlier table if one is given."""
        known = None
        if earlier_format is not None and earlier_format.dialect is not None:
            known = KnownFormat(earlier_format.dialect, tuple(earlier_format.columns))
        text = read_text(
            source,
            name=name,
            encoding=options.encoding,
            stack=stack,
            usual_encoding=None if known is None else known.dialect.encoding,
            max_unpacked=options.max_unpacked,
        )
        sign, notes = find_delimiter(text, options.delimiter, options.skip or 0, known)
        quoting, delimiter = quoting_of(sample_lines(text), sign), sign
        if sign == " ":
            text, delimiter = rewritten(text, (joined_blanks(line) + "\n" for line in text.lines()), stack), "\t"
        elif len(sign) > 1:
            lines = (with_unit_separators(line, sign) for line in text.lines())
            text, delimiter = rewritten(text, lines, stack), UNIT_SEPARATOR
        elif not sign.isascii():
            text, delimiter = with_delimiter(text, sign, ",", stack), ","
        find = partial(find_layout, header=options.header, skip=options.skip, ragged=options.ragged, known=known)
        try:
            layout = find(text, delimiter)
        except LooseQuotes:
            text = with_strict_quotes(text, delimiter, stack)
            layout = find(text, delimiter)
        dialect = Dialect(sign, quoting, text.encoding, text.line_end, layout.has_header)
        return cls(text, layout, dialect, (*text.assumptions, *notes, *layout.assumptions))

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """All fields as texts without outer blanks; blank ones are null."""
        n_records = 0
        for batch in self._records():
            n_records += len(batch)
            part = batch.select(ROW, _stripped(names)).filter(self._is_row(names))
            if len(part):
                yield int(part[ROW][0]), part.drop(ROW)
        if n_records < self.layout.n_records:
            raise FileFormatError(
                f"{self.name}: the quotes in it do not match. Look for a field with a single double quote; inside of "
                "quotes it must be doubled."
            )

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows, read in a format."""
        for batch in self._records():
            part = batch.with_columns(_stripped(self.names)).filter(self._is_row(self.names))
            if len(part):
                yield table_format.read(part, names)

    def _records(self) -> Iterator[pl.DataFrame]:
        """All records as texts in blocks: polars would map the whole file into memory."""
        import polars as pl

        count = 0
        for block in self.text.blocks():
            with readable(self.name, "not a table that can be read"):
                found = pl.read_csv(
                    block,
                    has_header=False,
                    separator=self.layout.delimiter,
                    quote_char='"' if self.text.has_quotes else None,
                    schema=dict.fromkeys(self.names, pl.String),
                    truncate_ragged_lines=True,
                    missing_columns="insert",
                    row_index_name=ROW,
                    row_index_offset=count,
                )
            count += len(found)
            yield found

    def _is_row(self, names: Sequence[str]) -> Any:
        import polars as pl

        row = pl.col(ROW)
        found = (row >= self.layout.first_row) & (row < self.layout.n_records)
        if self.layout.dropped:
            found &= ~row.is_in(self.layout.dropped)
        return found & ~pl.all_horizontal(pl.col(names).is_null())


def _stripped(names: Sequence[str]) -> pl.Expr:
    """Texts without outer blanks; null if nothing is left."""
    import polars as pl

    text = pl.col(names).str.strip_chars()
    return pl.when(text != "").then(text)


class ParquetPart(Part):
    """A Parquet file."""

    def __init__(self, path: Path, name: str) -> None:
        import polars as pl

        with readable(name, "a damaged Parquet file"):
            wrong = contradiction(path)
            if wrong:
                raise OSError(wrong)
            self._scan = pl.scan_parquet(path, glob=False, low_memory=True)
            schema = self._scan.collect_schema()
            n_rows = int(self._scan.select(pl.len()).collect().item())
        self._expressions, left_out = _usable(schema)
        super().__init__(name, tuple(self._expressions), n_rows)
        self._texts = tuple(column for column in self.names if schema[column] == pl.String)
        if not self.names:
            raise FileFormatError(f"{self.name} has no column of numbers, texts or dates.")
        if left_out:
            text = f"{named(left_out)} hold neither numbers, texts nor dates and are left out."
            self.assumptions = (Assumption(text, "--ignore"),)

    def text_names(self) -> tuple[str, ...]:
        """Columns of text."""
        return self._texts

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Columns of text without outer blanks; blank ones are null."""
        count = 0
        for batch in self._collected(names):
            yield count, batch.select(_stripped(names))
            count += len(batch)

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows in batches, texts that are dates read in a format."""
        for batch in self._collected(names):
            yield table_format.with_dates(batch, [name for name in names if name in self._texts])

    def _collected(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        size = max(1, min(BATCH_ROWS, BATCH_VALUES // len(self.names)))
        what, count = "a damaged Parquet file", 0
        with readable(self.name, what):
            chosen = self._scan.select(self._expressions[name] for name in names)
            batches = iter(chosen.collect_batches(chunk_size=size, maintain_order=True))
        while True:
            with readable(self.name, what):
                batch = next(batches, None)
            if batch is None:
                break
            count += len(batch)
            yield batch
        if count != self.n_rows:  # polars may stop without an error
            raise FileFormatError(
                f"{self.name} is {what}: {count:,} of its {self.n_rows:,} rows can be read. Download or copy it again."
            )


class FramePart(Part):
    """A table in memory."""

    def __init__(self, frame: pl.DataFrame, name: str) -> None:
        super().__init__(name, frame.columns, len(frame))
        self._frame = frame

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The table itself."""
        yield self._frame.select(names)


def _usable(schema: pl.Schema) -> tuple[dict[str, pl.Expr], list[str]]:
    """Columns of numbers, texts and dates in common types, and the other columns."""
    import polars as pl

    found, left_out = {}, []
    for name, dtype in schema.items():
        column = pl.col(name)
        if isinstance(dtype, pl.Decimal):
            column = column.cast(pl.Float64)
        elif isinstance(dtype, (pl.Categorical, pl.Enum)):
            column = column.cast(pl.String)
        elif isinstance(dtype, pl.Datetime) and dtype.time_zone:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        elif isinstance(dtype, pl.Duration):
            column = column.dt.total_seconds().cast(pl.Float64)
        elif isinstance(dtype, pl.Time):
            column = (column.cast(pl.Int64) / 3.6e12).alias(name)
        elif dtype.is_nested() or isinstance(dtype, (pl.Binary, pl.Object)):
            left_out.append(name)
            continue
        found[name] = column
    return found, left_out
