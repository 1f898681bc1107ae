"""The files a table is made of: text or Parquet, each read part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from madaline.data.reading.assumption import Assumption, named
from madaline.data.reading.format import TableFormat
from madaline.data.reading.layout import Layout, find_delimiter, find_layout, joined_blanks
from madaline.data.reading.records import LooseQuotes, with_strict_quotes
from madaline.data.reading.text import Text, read_text, rewritten
from madaline.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.reading.options import ReadOptions

BATCH_ROWS = 50_000
"Rows that are read together, of a table of few columns."
BATCH_VALUES = 2_000_000
"Fields that are read together."
ROW = "\0row"
"The number of a record; no column of a text can be called that."


class Part:
    """A file of a table.

    Attributes
    ----------
    name : str
        What messages call it.
    names : tuple of str
        Of its columns.
    unnamed : frozenset of str
        Columns that have no name in the file.
    assumptions : tuple of Assumption
    is_text : bool
        Whether its values are texts, to be read as a format says.
    n_rows : int
        How many rows it has; of a text, how many records may be rows.
    """

    is_text = False

    def __init__(self, name: str, names: Sequence[str], n_rows: int) -> None:
        self.name, self.names, self.n_rows = name, tuple(names), n_rows
        self.unnamed: frozenset[str] = frozenset()
        self.assumptions: tuple[Assumption, ...] = ()

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Its texts part by part, each with the number of its first record; none if it has types."""
        return iter(())

    def batches(self, format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:  # noqa: A002
        """Its rows part by part, as they are to be read."""
        raise NotImplementedError


class TextPart(Part):
    """A text, and where its rows are."""

    is_text = True

    def __init__(self, text: Text, layout: Layout, assumptions: tuple[Assumption, ...]) -> None:
        super().__init__(text.name, layout.names, layout.n_records - layout.first_row - len(layout.dropped))
        self.text, self.layout = text, layout
        self.unnamed, self.assumptions = layout.unnamed, assumptions

    @classmethod
    def read(cls, source: Path | IO[bytes], name: str, options: ReadOptions, stack: ExitStack) -> TextPart:
        """The text of a file or stream."""
        text = read_text(source, name=name, encoding=options.encoding, stack=stack)
        delimiter, said = find_delimiter(text, options.delimiter, options.skip or 0)
        if delimiter == " ":
            text, delimiter = rewritten(text, (joined_blanks(line) + "\n" for line in text.lines()), stack), "\t"
        find = partial(find_layout, header=options.header, skip=options.skip, ragged=options.ragged)
        try:
            layout = find(text, delimiter)
        except LooseQuotes:
            text = with_strict_quotes(text, delimiter, stack)
            layout = find(text, delimiter)
        return cls(text, layout, (*text.assumptions, *said, *layout.assumptions))

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
                f"{self.name}: the quotes in it cannot be followed to the end. Look for a field with a single double "
                "quote; inside of quotes it must be doubled."
            )

    def batches(self, format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:  # noqa: A002
        """The rows as the format says."""
        for batch in self._records():
            part = batch.with_columns(_stripped(self.names)).filter(self._is_row(self.names))
            if len(part):
                yield format.read(part, names)

    def _records(self) -> Iterator[pl.DataFrame]:
        """All records as texts, block by block: polars would map the whole file into memory."""
        import polars as pl

        count = 0
        for block in self.text.blocks():
            try:
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
            except pl.exceptions.PolarsError as error:
                first = str(error).split("\n", 1)[0]
                raise FileFormatError(f"{self.name} cannot be read as a table: {first}.") from error
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

        try:
            self._scan = pl.scan_parquet(path, glob=False, low_memory=True)
            schema = self._scan.collect_schema()
            n_rows = int(self._scan.select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError) as error:
            first = str(error).split("\n", 1)[0]
            raise FileFormatError(f"{name} is a damaged Parquet file: {first}. Copy it again.") from error
        self._expressions, left_out = _usable(schema)
        super().__init__(name, tuple(self._expressions), n_rows)
        if not self.names:
            raise FileFormatError(f"{self.name} has no column of numbers, texts or dates.")
        if left_out:
            text = f"{named(left_out)} hold neither numbers, texts nor dates and are left out."
            self.assumptions = (Assumption(text, "--ignore"),)

    def batches(self, format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:  # noqa: A002
        """The rows part by part."""
        import polars as pl

        size = max(1, min(BATCH_ROWS, BATCH_VALUES // len(self.names)))
        try:
            yield from self._scan.select(self._expressions[name] for name in names).collect_batches(
                chunk_size=size, maintain_order=True
            )
        except pl.exceptions.PolarsError as error:
            first = str(error).split("\n", 1)[0]
            raise FileFormatError(f"{self.name} is a damaged Parquet file: {first}. Copy it again.") from error


class FramePart(Part):
    """A table that is in memory."""

    def __init__(self, frame: pl.DataFrame, name: str) -> None:
        super().__init__(name, frame.columns, len(frame))
        self._frame = frame

    def batches(self, format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:  # noqa: A002
        """The table itself."""
        yield self._frame.select(names)


def _usable(schema: pl.Schema) -> tuple[dict[str, pl.Expr], list[str]]:
    """Columns of numbers, texts and dates, in types that all rooms know; and the others."""
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
