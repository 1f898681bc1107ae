"""``madaline predict``: a table with the model's answers beside it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from madaline.cli import options as o

if TYPE_CHECKING:
    import polars as pl

    from madaline.estimators.tabular.learned import Learned

Model = Annotated[Path, typer.Argument(help="The file of a model, or the folder of a run.", show_default=False)]
Data = Annotated[
    str,
    typer.Argument(
        help="A CSV or Parquet file, a folder of them, - for standard input, or the name of a data set.",
        show_default=False,
    ),
]


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A .csv or .parquet file; standard output unless told.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add an interval that holds the truth in this share of cases: 0.9")
    ] = None,
    only: Annotated[bool, typer.Option("--only", help="Write the answers without the columns of the table.")] = False,
    force: o.Force = False,
    as_json: o.Json = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    header: o.Header = None,
    skip: o.Skip = None,
    missing: o.Missing = None,
    dates: o.Dates = None,
    ragged: o.Ragged = "auto",
    unnamed: o.Unnamed = "auto",
    max_unpacked: o.MaxUnpacked = None,
) -> None:
    """Predict each row of a table; tables of any size are read part by part.

    \b
    Examples:
      madaline predict run/model.madaline new.csv -o scored.csv
      madaline predict run new.csv --proba --only
      cat new.csv | madaline predict run - > scored.csv
      madaline predict run houses.csv --interval 0.9 -o scored.parquet
    """
    from madaline.cli.screen import Screen
    from madaline.data.reading.table_file import open_table

    learned = load(model)
    reading = o.read_options(
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        missing=missing,
        dates=dates,
        ragged=ragged,
        unnamed=unnamed,
        max_unpacked=max_unpacked,
    )
    if out is not None:
        o.check_free(out, force=force)
    if proba:
        learned.need_classes()
    if interval is not None:
        learned.margins(interval)
    screen = Screen(as_json=as_json or out is None)
    with open_table(data, reading, format=learned.reading) as table:
        parts = (answers(learned, batch, proba=proba, interval=interval, only=only) for batch in table.batches())
        if out is None and not as_json:
            for assumption in table.assumptions:
                print(f"  {assumption.text}  [{assumption.flag}]", file=sys.stderr)
            for k, part in enumerate(parts):
                sys.stdout.write(part.write_csv(include_header=k == 0))
            return
        n_rows = _write(parts, out)
        for assumption in table.assumptions:
            screen.say(f"  {assumption.text}  [{assumption.flag}]")
        screen.say(f"{n_rows:,} rows written to {out}." if out else "")
        screen.result({"rows": n_rows, "out": out, "assumptions": o.said(table.assumptions)})


def load(path: Path) -> Learned:
    """The model of a file, or of the folder of a run."""
    from madaline.cli.run_folder import model_of
    from madaline.estimators.tabular.learned import Learned

    return Learned.load(model_of(path))


def answers(learned: Learned, batch: pl.DataFrame, *, proba: bool, interval: float | None, only: bool) -> pl.DataFrame:
    """A part of the table with the answers beside it."""
    import polars as pl

    found = learned.outputs(batch)
    values = learned.answers(found).reshape(len(batch), -1)
    columns: dict[str, Any] = {f"predicted {name}": values[:, k] for k, name in enumerate(learned.targets)}
    if interval is not None:
        low, high = learned.interval(values, interval)
        for k, name in enumerate(learned.targets):
            columns[f"predicted {name} low"] = low[:, k]
            columns[f"predicted {name} high"] = high[:, k]
    if proba:
        columns |= {f"probability {name}": found[:, k] for k, name in enumerate(learned.classes)}
    result = pl.DataFrame(columns)
    if only:
        return result
    return batch.select(name for name in batch.columns if name not in columns).hstack(result)


def _write(parts: Iterator[pl.DataFrame], out: Path | None) -> int:
    """Write all parts to a file, whole or not at all; how many rows there were."""
    if out is None:
        return sum(map(len, parts))
    from madaline import container

    with container.replacing(out) as file:
        return (_write_parquet if out.suffix in (".parquet", ".pq") else _write_csv)(parts, file)


def _write_csv(parts: Iterator[pl.DataFrame], file: BinaryIO) -> int:
    n_rows = 0
    for k, part in enumerate(parts):
        part.write_csv(file, include_header=k == 0)
        n_rows += len(part)
    return n_rows


def _write_parquet(parts: Iterator[pl.DataFrame], file: BinaryIO) -> int:
    """Row groups as they come: polars asks for the next part when it has written the one before."""
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
        except BaseException as failure:
            failures.append(failure)
            raise

    try:
        register_io_source(source, schema=first.schema).sink_parquet(file)
    except Exception:
        if failures:  # polars would say it in words of its own
            raise failures[0] from None
        raise
    return n_rows
