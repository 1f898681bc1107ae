"""Tables with additional columns of predictions, written part by part."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from madaline import container
from madaline.data.reading.assumption import Assumption
from madaline.data.reading.options import ReadOptions
from madaline.estimators.tabular.saved_model import SavedModel

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.reading.format import TableFormat

PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class ScoreOptions:
    """What a table with predictions contains, and how the table is read.

    Attributes
    ----------
    proba : bool
        Whether to add the probability of each class.
    interval : float or None
        Coverage of prediction intervals to add.
    only : bool
        Whether to leave out the columns of the table.
    safe : bool
        Whether to write an apostrophe before texts that a spreadsheet program would run as a formula.
    reading : ReadOptions
    """

    proba: bool = False
    interval: float | None = None
    only: bool = False
    safe: bool = False
    reading: ReadOptions = field(default_factory=ReadOptions)

    def check(self, saved: SavedModel) -> None:
        """Raise an error if the model has no such predictions."""
        if self.proba:
            saved.need_probabilities()
        if self.interval is not None:
            saved.check_interval(self.interval)

    def parts(self, saved: SavedModel, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The parts of a table, with predictions."""
        from madaline.data.reading.writing import without_formulas

        for batch in batches:
            part = self._answers(saved, batch)
            yield without_formulas(part) if self.safe else part

    def _answers(self, saved: SavedModel, batch: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        columns = saved.predictions(saved.rows(batch), len(batch), proba=self.proba, interval=self.interval)
        result = pl.DataFrame(
            {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
        )
        if self.only:
            return result
        return batch.select(name for name in batch.columns if name not in columns).hstack(result)


def score_table(
    saved: SavedModel, source: str | Path, out: Path | None, options: ScoreOptions
) -> tuple[int, list[Assumption]]:
    """Predict the rows of a table and write them to a file atomically; returns their number and what was assumed."""
    from madaline.data.reading.table_file import open_table

    with open_table(source, options.reading, earlier_format=saved.reading) as table:
        n_rows = write_table(options.parts(saved, table.batches()), out, table.format)
        return n_rows, table.assumptions


def write_table(parts: Iterator[pl.DataFrame], out: Path | None, table_format: TableFormat) -> int:
    """Write all parts to a file atomically, CSV in the dialect of the table; returns the number of rows."""
    if out is None:
        return sum(map(len, parts))
    with container.replacing(out) as file:
        is_parquet = out.suffix in PARQUET_SUFFIXES
        return _write_parquet(parts, file) if is_parquet else _write_csv(parts, file, table_format)


def _write_csv(parts: Iterator[pl.DataFrame], file: BinaryIO, table_format: TableFormat) -> int:
    from madaline.data.reading.writing import written

    n_rows = 0
    for k, part in enumerate(parts):
        file.write(written(part, table_format, is_first=k == 0))
        n_rows += len(part)
    return n_rows


def _write_parquet(parts: Iterator[pl.DataFrame], file: BinaryIO) -> int:
    """Write row groups one by one: polars requests the next part when it has written the last one."""
    from polars.io.plugins import register_io_source

    n_rows = 0
    failures: list[BaseException] = []
    first = next(parts)

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal n_rows
        try:
            for part in itertools.chain([first], parts):
                n_rows += len(part)
                yield part
        except BaseException as failure:  # kept, because polars replaces it by an error of its own
            failures.append(failure)
            raise

    try:
        register_io_source(source, schema=first.schema).sink_parquet(file)
    except Exception:  # that of polars, or of the rows that it was given
        if failures:
            raise failures[0] from None
        raise
    return n_rows
