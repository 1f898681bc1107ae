"""``madaline datasets``: example data sets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import typer

from madaline import container
from madaline.cli.options import Force, Json, check_free
from madaline.cli.screen import Screen
from madaline.errors import ConfigError


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Name of a data set, to show it or write it to a file.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file, .csv or .parquet.", show_default=False)
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """List the data sets that come with madaline, or write one to a file.

    \b
    Examples:
      madaline datasets
      madaline datasets penguins -o penguins.csv
    """
    from madaline.data.datasets import DATASETS

    screen = Screen(as_json=as_json)
    chosen = list(DATASETS) if name is None else [DATASETS.find(name, argument="")]
    if out is not None:
        if name is None:
            raise typer.BadParameter("name the data set to write: madaline datasets penguins -o penguins.csv")
        check_free(out, force=force)
        if out.suffix not in (".csv", ".parquet"):
            raise ConfigError(f"-o {out}: the file must end in .csv or .parquet.")
        content = io.BytesIO()
        table = chosen[0].table()
        table.write_parquet(content) if out.suffix == ".parquet" else table.write_csv(content)
        container.write_whole(out, content.getvalue())
    found = [(dataset, dataset.table()) for dataset in chosen]
    rows = [(d.name, f"{len(t):,}", str(t.width - 1), d.target, d.task) for d, t in found]
    screen.table(["name", "rows", "columns", "target", "description"], rows, right=(1, 2))
    if name is not None:
        screen.say(f"\nSource: {chosen[0].source}. Licence: {chosen[0].licence}.")
        screen.table(["column", "type", "missing", "as"], _columns(found[0][1]), right=(2,))
    else:
        screen.say("\nTrain on one by its name: madaline train penguins")
    screen.result(
        {
            d.name: {"rows": len(t), "columns": t.columns, "target": d.target, "task": d.task}
            | {"source": d.source, "licence": d.licence}
            for d, t in found
        }
    )


def _columns(table: object) -> list[tuple[str, str, str, str]]:
    import polars as pl

    assert isinstance(table, pl.DataFrame)
    examples = {name: ", ".join(map(str, table[name].drop_nulls().head(3))) for name in table.columns}
    return [(n, str(t), str(table[n].null_count()), examples[n]) for n, t in table.schema.items()]
