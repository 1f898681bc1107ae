"""``madaline predict``: a table with additional columns of predictions."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from madaline.cli import options as o
from madaline.cli.model import DataPath, ModelPath, load
from madaline.cli.reading_options import with_reading_options
from madaline.data.reading.options import ReadOptions
from madaline.estimators.tabular.saved_model import SavedModel

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.reading.format import TableFormat


@with_reading_options
def predict(
    model: ModelPath,
    data: DataPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file, .csv or .parquet.", show_default="standard output")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add a prediction interval with this coverage, for example 0.9.")
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="Write only the predictions, without the columns of the table.")
    ] = False,
    safe: Annotated[
        bool,
        typer.Option(
            "--safe", help="Write an apostrophe before texts that a spreadsheet program would run as a formula."
        ),
    ] = False,
    force: o.Force = False,
    as_json: o.Json = False,
    *,
    reading: ReadOptions,
) -> None:
    """Predict each row of a table. Tables of any size are read in parts.

    \b
    Examples:
      madaline predict run/model.madaline new.csv -o scored.csv
      madaline predict run new.csv --proba --only
      cat new.csv | madaline predict run - > scored.csv
      madaline predict run houses.csv --interval 0.9 -o scored.parquet
    """
    from madaline.cli.screen import Screen, visible
    from madaline.data.reading.dialect import Dialect
    from madaline.data.reading.table_file import open_table
    from madaline.data.reading.writing import without_formulas, written

    saved = load(model)
    if out is not None:
        o.check_free(out, force=force)
    if proba:
        saved.need_probabilities()
    if interval is not None:
        saved.check_interval(interval)
    screen = Screen(as_json=as_json or out is None)
    with open_table(data, reading, earlier_format=saved.reading) as table:
        parts: Iterator[pl.DataFrame] = (
            answers(saved, batch, proba=proba, interval=interval, only=only) for batch in table.batches()
        )
        if safe:
            parts = map(without_formulas, parts)
        if out is None and not as_json:
            for assumption in table.assumptions:
                print(visible(f"  {assumption.text}  [{assumption.flag}]"), file=sys.stderr)
            dialect = replace(table.format.dialect or Dialect(), encoding="utf-8")
            for k, part in enumerate(parts):
                sys.stdout.write(written(part, replace(table.format, dialect=dialect), is_first=k == 0).decode())
            return
        n_rows = write_table(parts, out, table.format)
        for assumption in table.assumptions:
            screen.say(f"  {assumption.text}  [{assumption.flag}]")
        screen.say(f"{n_rows:,} rows written to {out}." if out else "")
        screen.result({"rows": n_rows, "out": out, "assumptions": o.assumed(table.assumptions)})


def answers(saved: SavedModel, batch: pl.DataFrame, *, proba: bool, interval: float | None, only: bool) -> pl.DataFrame:
    """A part of the table with additional columns of predictions."""
    import polars as pl

    columns = saved.predictions(saved.rows(batch), len(batch), proba=proba, interval=interval)
    result = pl.DataFrame(
        {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    )
    if only:
        return result
    return batch.select(name for name in batch.columns if name not in columns).hstack(result)


def write_table(parts: Iterator[pl.DataFrame], out: Path | None, table_format: TableFormat) -> int:
    """Write all parts to a file atomically, CSV in the dialect of the table; returns the number of rows."""
    if out is None:
        return sum(map(len, parts))
    from madaline import container

    with container.replacing(out) as file:
        return (
            _write_parquet(parts, file) if out.suffix in (".parquet", ".pq") else _write_csv(parts, file, table_format)
        )


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
