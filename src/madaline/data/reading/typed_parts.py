"""Files whose values have types: Parquet, Arrow and JSON, which polars reads."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madaline.data.reading.assumption import Assumption, named
from madaline.data.reading.content import Content
from madaline.data.reading.format import TableFormat
from madaline.data.reading.panics import readable
from madaline.data.reading.parquet_check import contradiction
from madaline.data.reading.part import BATCH_ROWS, BATCH_VALUES, Part, stripped
from madaline.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl


class TypedPart(Part):
    """A file whose values have types. A subclass gives its rows in batches.

    Parameters
    ----------
    name : str
        The name in messages.
    what : str
        What the file is called if it is damaged, such as ``"a damaged Parquet file"``.
    schema : polars schema
        Columns of the file with their types. Those that hold neither numbers, texts nor dates are left out.
    n_rows : int

    Attributes
    ----------
    types : polars schema
        Columns that are read, with their types.
    """

    def __init__(self, name: str, what: str, schema: Mapping[str, Any], n_rows: int) -> None:
        import polars as pl

        self.what = what
        self._expressions, left_out = usable_columns(schema)
        self.types = pl.DataFrame(schema=dict(schema)).select(self._expressions.values()).schema
        self._casts: dict[str, Any] = {}
        super().__init__(name, tuple(self._expressions), n_rows)
        self._texts = tuple(column for column in self.names if schema[column] == pl.String)
        if not self.names:
            raise FileFormatError(f"{self.name} has no column of numbers, texts or dates.")
        if left_out:
            text = f"{named(left_out)} hold neither numbers, texts nor dates and are left out."
            self.assumptions = (Assumption(text, "--ignore"),)

    def cast(self, types: Mapping[str, Any]) -> None:
        """Give some columns another type, that of other files of the same table."""
        self._casts = dict(types)

    def read_columns(self, names: Sequence[str], size: int) -> Iterator[pl.DataFrame]:
        """These columns as they are in the file, in batches of at most ``size`` rows."""
        raise NotImplementedError

    def text_names(self) -> tuple[str, ...]:
        """Columns of text."""
        return self._texts

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Columns of text without outer blanks; blank ones are null."""
        count = 0
        for batch in self._collected(names):
            yield count, batch.select(stripped(names))
            count += len(batch)

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows in batches, texts that are dates read in a format."""
        for batch in self._collected(names):
            yield table_format.with_dates(batch, [name for name in names if name in self._texts])

    def _collected(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        size = max(1, min(BATCH_ROWS, BATCH_VALUES // len(self.names)))
        count = 0
        with readable(self.name, self.what):
            batches = iter(self.read_columns(names, size))
        while True:
            with readable(self.name, self.what):
                batch = next(batches, None)
                if batch is not None:
                    batch = batch.select(self._expressions[name] for name in names)
                    batch = batch.cast({name: self._casts[name] for name in names if name in self._casts})
            if batch is None:
                break
            count += len(batch)
            yield batch
        if count != self.n_rows:  # polars may stop without an error
            raise FileFormatError(
                f"{self.name} is {self.what}: {count:,} of its {self.n_rows:,} rows can be read. Download or copy it "
                "again."
            )


class ScannedPart(TypedPart):
    """A file that polars reads.

    Parameters
    ----------
    name, what
        As for :class:`TypedPart`.
    scan : callable
        Returns the file as a lazy frame.
    advice : str
        What to do if it cannot be read.
    """

    def __init__(
        self, name: str, what: str, scan: Callable[[], pl.LazyFrame], advice: str = "Download or copy it again."
    ) -> None:
        import polars as pl

        with readable(name, what, advice):
            self._scan = scan()
            schema = self._scan.collect_schema()
            n_rows = int(self._scan.select(pl.len()).collect().item())
        super().__init__(name, what, schema, n_rows)

    def read_columns(self, names: Sequence[str], size: int) -> Iterator[pl.DataFrame]:
        """Columns in batches."""
        return iter(self._scan.select(names).collect_batches(chunk_size=size, maintain_order=True))


def join_types(parts: Sequence[Part]) -> None:
    """Give the columns of several files the same types: numbers become floats; texts and numbers are not mixed."""
    import polars as pl

    typed = [part for part in parts if isinstance(part, TypedPart)]
    casts: dict[str, Any] = {}
    for name in typed[0].types if len(typed) > 1 else ():
        first = next((part for part in typed if part.types[name] != pl.Null), typed[0])
        for part in typed:
            given, usual = part.types[name], first.types[name]
            if given in (usual, pl.Null):
                continue
            if not (given.is_numeric() and usual.is_numeric()) and not (given.is_temporal() and usual.is_temporal()):
                raise FileFormatError(
                    f"{part.name} has {_kind(given)} in the column {name!r}, where {first.name} has {_kind(usual)}."
                )
            casts[name] = pl.Float64 if given.is_numeric() else pl.Datetime("us")
        if name not in casts and any(part.types[name] == pl.Null for part in typed):
            casts[name] = first.types[name]
    for part in typed if casts else ():
        part.cast(casts)


def _kind(dtype: Any) -> str:
    import polars as pl

    kinds = {pl.String: "texts", pl.Boolean: "true and false"}
    return kinds.get(dtype) or ("numbers" if dtype.is_numeric() else "dates")


def parquet_part(content: Content) -> ScannedPart:
    """A Parquet file."""
    import polars as pl

    def scan() -> pl.LazyFrame:
        if wrong := contradiction(content.raw):
            raise OSError(wrong)
        return pl.scan_parquet(content.raw, glob=False, low_memory=True)

    return ScannedPart(content.name, "a damaged Parquet file", scan)


def arrow_part(content: Content) -> ScannedPart:
    """An Arrow file, which is a Feather file of version 2."""
    import polars as pl

    def scan() -> pl.LazyFrame:
        return pl.scan_ipc(content.raw, glob=False)

    return ScannedPart(content.name, "a damaged Arrow file", scan)


def arrow_stream_part(content: Content) -> ScannedPart:
    """An Arrow file in the format of streams."""
    import polars as pl

    def scan() -> pl.LazyFrame:
        return pl.read_ipc_stream(content.raw).lazy()

    return ScannedPart(content.name, "a damaged Arrow file", scan)


def json_part(content: Content) -> ScannedPart:
    """Rows as JSON: an object in each line, or a list of objects."""
    import polars as pl

    start = content.start()
    raw = content.raw
    if start.startswith(codecs.BOM_UTF8):
        raw = raw.read_bytes() if isinstance(raw, Path) else raw
        raw = raw.removeprefix(codecs.BOM_UTF8)

    def scan() -> pl.LazyFrame:
        if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
            return pl.read_json(raw, infer_schema_length=None).lazy()
        return pl.scan_ndjson(raw, infer_schema_length=None)

    advice = 'Each line must be a row, such as {"age": 31, "city": "Rome"}; or the file must be a list of such rows.'
    return ScannedPart(content.name, "not a table in JSON", scan, advice)


def usable_columns(schema: Mapping[str, Any]) -> tuple[dict[str, pl.Expr], list[str]]:
    """Columns of numbers, texts and dates in common types, and the other columns."""
    import polars as pl

    found, left_out = {}, []
    for name, dtype in schema.items():
        column = pl.col(name)
        if isinstance(dtype, (pl.Decimal, pl.Int128, pl.UInt128)):
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
