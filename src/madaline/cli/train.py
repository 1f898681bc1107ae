"""``madaline train``: from a table to a model, its score against simpler models, and what to try next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from madaline.cli import options as o
from madaline.errors import ConfigError

COLUMNS, SPLIT, NET = "Columns", "Rows", "Net and training (chosen by the size of the data unless told)"
Names = list[str] | None
ALSO_WITH_RESUME = {"resume", "time", "threads", "as_json", "force", "ragged", "unnamed", "baselines", "report"}


def train(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A CSV or Parquet file, a folder of them, - for standard input, or the name of a data set.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        Names,
        typer.Option(
            "--target",
            "-t",
            help="The column to learn; several for several outputs. Its number if there is no header.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder to make.", show_default=False)] = None,
    time: Annotated[str | None, typer.Option(help="Stop training after so long: 90s, 5m, 1h30m.")] = None,
    resume: Annotated[Path | None, typer.Option(help="The folder of a run that was stopped, to go on with.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="The config.toml of a run, to train the same model again.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random.", show_default="0")] = None,
    threads: Annotated[int | None, typer.Option(help="At most so many; the result does not depend on it.")] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Compare with simpler models.", show_default=False)
    ] = True,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.", show_default=False)] = True,
    force: o.Force = False,
    as_json: o.Json = False,
    ignore: Annotated[Names, typer.Option(help="Columns to leave out.", rich_help_panel=COLUMNS)] = None,
    categorical: Annotated[Names, typer.Option(help="Columns that are categories.", rich_help_panel=COLUMNS)] = None,
    numeric: Annotated[Names, typer.Option(help="Columns that are numbers.", rich_help_panel=COLUMNS)] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="binary, multiclass, multilabel, regression or count; as the target looks unless told.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="How to part rows: random, stratified, group, time.", rich_help_panel=SPLIT)
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="The column whose equal values stay together.", rich_help_panel=SPLIT)
    ] = None,
    when: Annotated[
        str | None, typer.Option(help="The column of times: the latest rows test.", rich_help_panel=SPLIT)
    ] = None,
    test: Annotated[float | None, typer.Option(help="Share of rows for the test.", rich_help_panel=SPLIT)] = None,
    validation: Annotated[
        float | None, typer.Option(help="Share of the others that says when to stop.", rich_help_panel=SPLIT)
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Of a longer table, take so many by chance.", rich_help_panel=SPLIT)
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Stream a table that needs more memory to train on: 500MB, 4GB. Half of what is free unless told.",
            rich_help_panel=SPLIT,
        ),
    ] = None,
    hidden: Annotated[str | None, typer.Option(help="Units of the hidden layers: 256,128", rich_help_panel=NET)] = None,
    activation: Annotated[str | None, typer.Option(help="As relu, mish, tanh.", rich_help_panel=NET)] = None,
    norm: Annotated[str | None, typer.Option(help="batch, layer or rms.", rich_help_panel=NET)] = None,
    dropout: Annotated[float | None, typer.Option(help="Share of units to drop.", rich_help_panel=NET)] = None,
    learning_rate: Annotated[float | None, typer.Option(help="The largest one.", rich_help_panel=NET)] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Of AdamW.", rich_help_panel=NET)] = None,
    batch_size: Annotated[int | None, typer.Option(help="Rows of a step.", rich_help_panel=NET)] = None,
    epochs: Annotated[
        int | None, typer.Option(help="How often all rows are seen at most.", rich_help_panel=NET)
    ] = None,
    patience: Annotated[int | None, typer.Option(help="Epochs to wait for a better one.", rich_help_panel=NET)] = None,
    class_weight: Annotated[
        str | None, typer.Option(help="balanced: rare classes count as much.", rich_help_panel=NET)
    ] = None,
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
    """Train a net on a table: shows what was assumed, trains, tests, and writes a folder with the model.

    \b
    Examples:
      madaline train penguins
      madaline train houses.csv --target price --out run --time 5m
      madaline train sales.csv -t units --when date --ignore invoice
      madaline train --resume run
      madaline train --config run/config.toml --out again
    """
    typed = dict(locals())
    from madaline.cli.config import RunConfig
    from madaline.cli.run_folder import CONFIG, RunFolder
    from madaline.cli.screen import Screen
    from madaline.cli.source import source_name
    from madaline.cli.training import run

    screen = Screen(as_json=as_json)
    if resume is not None:
        folder = RunFolder(resume)
        _refuse(typed, ALSO_WITH_RESUME, "--resume")
        folder.resume()
        settings = RunConfig.read(folder.work / CONFIG)
        settings.training.time = o.seconds(time)
        settings.training.threads = threads
        run(settings, folder, screen, resume=True, with_others=baselines, with_report=report)
        return
    settings = RunConfig() if config is None else RunConfig.read(config)
    if settings.ended.by:
        settings.training.time = None  # the step it came to is known; how long that takes now is another matter
    if data is not None:
        settings.data.source = source_name(data)
    if not settings.data.source:
        raise ConfigError("Say what to learn from: madaline train FILE --target COLUMN, or madaline train penguins.")
    _take(settings, typed)
    folder = RunFolder.free(out, settings.data.source)
    folder.start(force=force)
    run(settings, folder, screen, resume=False, with_others=baselines, with_report=report)


def _take(settings: Any, given: dict[str, Any]) -> None:
    """Put what was typed in its places; what was not stays."""
    for name in ("target", "ignore", "categorical", "numeric"):
        if names := o.several(given[name]):
            setattr(settings.data, name, names)
    training = ("task", "seed", "threads", "class_weight", "activation", "norm", "dropout", "learning_rate")
    places = [
        (settings.data, ("rows",)),
        (settings.split, ("test", "validation")),
        (settings.training, (*training, "weight_decay", "batch_size", "epochs", "patience")),
    ]
    for section, names in places:
        for name in names:
            if given[name] is not None:
                setattr(section, name, given[name])
    if given["rows"] is not None or given["memory"] is not None:
        settings.data.sample = None
        settings.data.memory = given["memory"]
    if given["time"] is not None:
        settings.training.time = o.seconds(given["time"])
    if given["hidden"] is not None:
        settings.training.hidden = _widths(given["hidden"])
    _take_split(settings, given["split"], given["group"], given["when"])
    reading = ("delimiter", "decimal", "encoding", "header", "skip", "missing", "dates", "ragged", "unnamed")
    typed = o.read_options(**{name: given[name] for name in (*reading, "max_unpacked")})
    settings.reading = type(typed)(**settings.reading.given() | typed.given())
    _check_ranges(settings)


def _check_ranges(settings: Any) -> None:
    """Numbers that no other room looks at before it is too late."""
    limits = [
        ("--seed", settings.training.seed, 0, 2**32 - 1),
        ("--threads", settings.training.threads, 1, 1024),
        ("--rows", settings.data.rows, 1, 2**63),
    ]
    for flag, value, low, high in limits:
        if value is not None and not low <= value <= high:
            raise ConfigError(f"{flag} {value} must be a number from {low} to {high}.")


def _take_split(settings: Any, way: str | None, group: str | None, when: str | None) -> None:
    if group is not None and when is not None:
        raise ConfigError("--group and --when part the rows in different ways. Give one of them.")
    by, implied = (group, "group") if group is not None else (when, "time")
    if by is None:
        if way in ("group", "time"):
            flag = "--group" if way == "group" else "--when"
            raise ConfigError(f"--split {way} needs a column: {flag} COLUMN.")
        settings.split.way = way or settings.split.way
        return
    if way not in (None, implied):
        raise ConfigError(f"--split {way} does not go with a column to part by; leave it out.")
    settings.split.way, settings.split.by = implied, by


def _widths(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in o.words(given))
    except ValueError:
        raise ConfigError(f"--hidden {given} must be numbers of units with commas: 256,128.") from None


def _refuse(given: dict[str, Any], allowed: set[str], flag: str) -> None:
    other = [name for name, value in given.items() if name not in allowed and value not in (None, False)]
    if other:
        raise ConfigError(f"{flag} goes on with the settings of the run: --{other[0].replace('_', '-')} cannot change.")
