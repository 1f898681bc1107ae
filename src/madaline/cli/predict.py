"""``madaline predict``: a table with additional columns of predictions, or a folder of such tables."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from madaline.cli import options as o
from madaline.cli.model import ModelPath, load
from madaline.cli.reading_options import with_reading_options
from madaline.data.reading.options import ReadOptions
from madaline.errors import ConfigError
from madaline.estimators.tabular.saved_model import SavedModel
from madaline.estimators.tabular.scored_table import ScoreOptions, score_table


@with_reading_options
def predict(
    model: ModelPath,
    data: Annotated[
        list[str],
        typer.Argument(
            help="CSV, Excel, JSON, Parquet, Arrow, SQLite or DuckDB files, a folder of such files, - for standard "
            "input, or the name of a data set.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Output file, .csv or .parquet. For several files and with --cluster, a folder with a file for each; "
            "files that already exist are kept.",
            show_default="standard output",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Ray cluster to predict on, file by file: auto, HOST:PORT or local. All nodes must reach the files.",
            show_default="this process",
        ),
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
      madaline predict run big/*.parquet --cluster auto -o scored/
    """
    from madaline.cli.screen import Screen

    saved = load(model)
    wanted = ScoreOptions(proba, interval, only, safe, reading)
    wanted.check(saved)
    if cluster is not None or len(data) > 1 or (out is not None and out.is_dir()):
        from madaline.cli.scoring import score_folder

        if out is None:
            given = f"--cluster {cluster}" if cluster is not None else f"{len(data)} files"
            raise ConfigError(f"{given}: choose a folder for the predictions, for example -o scored/.")
        score_folder(saved, data, out, wanted, Screen(as_json=as_json), cluster=cluster, force=force)
        return
    if out is not None:
        o.check_free(out, force=force)
    if out is None and not as_json:
        _print(saved, data[0], wanted)
        return
    screen = Screen(as_json=as_json)
    n_rows, assumptions = score_table(saved, data[0], out, wanted)
    for assumption in assumptions:
        screen.say(f"  {assumption.text}  [{assumption.flag}]")
    screen.say(f"{n_rows:,} rows written to {out}." if out else "")
    screen.result({"rows": n_rows, "out": out, "assumptions": o.assumed(assumptions)})


def _print(saved: SavedModel, data: str, wanted: ScoreOptions) -> None:
    """Write the table to the standard output, and assumptions about it to the standard error."""
    from madaline.cli.screen import visible
    from madaline.data.reading.dialect import Dialect
    from madaline.data.reading.table_file import open_table
    from madaline.data.reading.writing import written

    with open_table(data, wanted.reading, earlier_format=saved.reading) as table:
        for assumption in table.assumptions:
            print(visible(f"  {assumption.text}  [{assumption.flag}]"), file=sys.stderr)
        dialect = replace(table.format.dialect or Dialect(), encoding="utf-8")
        for k, part in enumerate(wanted.parts(saved, table.batches())):
            sys.stdout.write(written(part, replace(table.format, dialect=dialect), is_first=k == 0).decode())
