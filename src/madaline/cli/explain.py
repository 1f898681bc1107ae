"""``madaline explain``: what each column contributes to the predictions of single rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from madaline.cli import options as o
from madaline.cli.model import DataPath, ModelPath, load
from madaline.cli.reading_options import with_reading_options
from madaline.data.reading.assumption import counted
from madaline.data.reading.options import ReadOptions
from madaline.errors import ConfigError, InputError
from madaline.estimators.tabular.saved_model import SavedModel

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.reading.format import TableFormat
    from madaline.data.reading.table_file import TableFile
    from madaline.report.explanations import Explanations

SCREEN_ROWS, PAGE_ROWS = 5, 50
"Rows that are explained by default, on the screen and in a page."
BLOCK = 10_000
"Rows that are explained together."


@with_reading_options
def explain(
    model: ModelPath,
    data: DataPath,
    rows: Annotated[
        int | None,
        typer.Option(
            help="Number of rows to explain, starting with the first.",
            show_default="5; 50 for HTML, all for CSV",
            metavar="N",
        ),
    ] = None,
    row: Annotated[
        list[int] | None,
        typer.Option(help="Explain this row; rows are counted from 1. May be given several times.", metavar="K"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(help="Class, label or target to explain.", show_default="the predicted class, or the only target"),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of columns to show for each row; CSV has all of them.")] = 8,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file, .csv or .html.", show_default="the screen")
    ] = None,
    force: o.Force = False,
    as_json: o.Json = False,
    *,
    reading: ReadOptions,
) -> None:
    """Explain single predictions: what each column adds to the prediction of a row or takes away from it.

    Contributions are integrated gradients. They add up to the prediction minus
    the base, which is the prediction for numbers at the centre of the training
    data and no category.

    \b
    Examples:
      madaline explain run new.csv
      madaline explain run new.csv --row 17 --json
      madaline explain run new.csv --rows 1000 -o explained.csv
      madaline explain run new.csv --output yes -o explained.html
    """
    from madaline.cli.screen import Screen
    from madaline.data.reading.table_file import open_table

    _check(rows, row, top, out, force=force)
    saved = load(model)
    screen = Screen(as_json=as_json)
    is_csv = out is not None and out.suffix.lower() == ".csv"
    most = rows if rows is not None or is_csv else SCREEN_ROWS if out is None else PAGE_ROWS
    chosen = _output_of(saved, output)
    with open_table(data, reading, earlier_format=saved.reading) as table:
        parts = (
            (batch, _explained(saved, batch, numbers, chosen)) for batch, numbers in _blocks(table, row or (), most)
        )
        if is_csv and out is not None:
            n_rows = _write_csv(parts, out, table.format)
            found = None
        else:
            found = _joined([part for _, part in parts])
            n_rows = len(found)
        for assumption in table.assumptions:
            screen.say(f"  {assumption.text}  [{assumption.flag}]")
        assumptions = o.assumed(table.assumptions)
    if found is not None and out is not None:
        _write_page(found, out, f"{Path(data).name}: explained predictions", top)
    if out is not None:
        screen.say(f"{counted(n_rows, 'row')} written to {out}.")
        screen.result({"rows": n_rows, "out": out, "assumptions": assumptions})
    elif found is not None:
        _show(screen, found, top)
        screen.result({"rows": n_rows, "explanations": found.to_plain(), "assumptions": assumptions})


def _check(rows: int | None, row: list[int] | None, top: int, out: Path | None, *, force: bool) -> None:
    """Check the options before anything is read."""
    if rows is not None and row:
        raise ConfigError("--rows explains the first rows and --row chosen ones. Use one of them.")
    for flag, value in [("--rows", rows), ("--top", top), *(("--row", number) for number in row or ())]:
        if value is not None and value < 1:
            raise ConfigError(f"{flag} {value} must be at least 1.")
    if out is not None:
        if out.suffix.lower() not in (".csv", ".html", ".htm"):
            raise ConfigError(f"-o {out}: the file must end in .csv or .html.")
        o.check_free(out, force=force)


def _output_of(saved: SavedModel, output: str | None) -> Any:
    """The class, label or target of this name."""
    if output is None:
        if saved.task in ("binary", "multiclass") or len(saved.targets) == 1:
            return None
        raise ConfigError(f"Choose what to explain: --output NAME. Known: {', '.join(saved.targets)}.")
    known = saved.classes if saved.task in ("binary", "multiclass") else saved.targets
    found = [name for name in known if str(name) == output]
    if not found:
        raise ConfigError(f"--output {output} is not known. Known: {', '.join(map(str, known[:20]))}.")
    return found[0]


def _blocks(table: TableFile, wanted: Any, most: int | None) -> Iterator[tuple[pl.DataFrame, list[int]]]:
    """Rows to explain, and their numbers from 1: those wanted, or the first ones; all if there is no limit."""
    for number in wanted:
        if number > table.n_rows:
            raise InputError(f"--row {number}: the table has {table.n_rows:,} rows.")
    start, last = 0, max(wanted) if wanted else table.n_rows if most is None else min(most, table.n_rows)
    for batch in table.batches():
        for offset in range(0, len(batch), BLOCK):
            first = start + offset + 1
            part = batch[offset : offset + BLOCK]
            kept = [k for k in range(first, min(first + len(part), last + 1)) if not wanted or k in wanted]
            if kept:
                yield part[[k - first for k in kept]], kept
        start += len(batch)
        if start >= last:
            return


def _explained(saved: SavedModel, batch: pl.DataFrame, numbers: list[int], output: Any) -> Explanations:
    from madaline.estimators.explanations import explain as explain_rows

    return replace(explain_rows(saved.estimator, saved.rows(batch), output=output), rows=numbers)


def _joined(parts: list[Explanations]) -> Explanations:
    import numpy as np

    if not parts:
        raise InputError("The table has no rows.")
    return replace(
        parts[0],
        values={name: [item for part in parts for item in part.values[name]] for name in parts[0].values},
        contributions=np.concatenate([part.contributions for part in parts]),
        base=np.concatenate([part.base for part in parts]),
        prediction=np.concatenate([part.prediction for part in parts]),
        outputs=[item for part in parts for item in part.outputs],
        predicted=[item for part in parts for item in part.predicted],
        rows=[number for part in parts for number in part.rows],
    )


def _show(screen: Any, found: Explanations, top: int) -> None:
    from madaline.report.explanations import signed

    for place in range(len(found)):
        screen.title(found.title(place))
        size = found.size(place)
        lines = [(each.column, each.text, signed(each.contribution, size)) for each in found.largest(place, top)]
        total = signed(float(found.contributions[place].sum()), size)
        screen.table(["column", "value", "contribution"], [*lines, ("sum", "", total)], right=(2,))


def _write_csv(parts: Iterator[tuple[pl.DataFrame, Explanations]], out: Path, table_format: TableFormat) -> int:
    """Write the columns of the table, then predictions and all contributions, whole or not at all."""
    from madaline.estimators.tabular.scored_table import write_table

    def joined() -> Iterator[pl.DataFrame]:
        for batch, found in parts:
            answers = found.frame()
            same = {name: f"{name} (explained)" for name in answers.columns if name in batch.columns}
            yield batch.hstack(answers.rename(same))

    return write_table(joined(), out, table_format)


def _write_page(found: Explanations, out: Path, title: str, top: int) -> None:
    from madaline import container
    from madaline.report.html.explanation_page import explanation_page

    container.write_whole(out, explanation_page(found, title=title, count=top).encode("utf-8", "replace"))
