"""``madaline train``: from a table to a model, its score against simpler models, and what to try next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from madaline.cli import options as o
from madaline.cli.net_options import CHOSEN, NET, of_net
from madaline.cli.reading_options import with_reading_options
from madaline.data.reading.options import ReadOptions
from madaline.errors import ConfigError

COLUMNS, SPLIT = "Columns", "Rows"
Names = list[str] | None
SEARCH_OPTIONS = ("trials", "space", "storage", "sampler", "asynchronous")
"Options that only a search has."
ALSO_WITH_RESUME = {
    "asynchronous",
    "resume",
    "time",
    "threads",
    "cluster",
    "as_json",
    "force",
    "baselines",
    "doctor",
    "report",
    "trials",
}


@with_reading_options
def train(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="CSV, Excel, JSON, Parquet, Arrow, SQLite or DuckDB file, folder or pattern of such files, - for "
            "standard input, or the name of a data set.",
            metavar="[DATA]",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        Names,
        typer.Option(
            "--target",
            "-t",
            help="Column to predict; may be given several times. Its number if the file has no header.",
            metavar="COLUMN",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Output folder.", show_default="NAME-run")] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="Time limit for training, for example 90s, 5m or 1h30m. Reading and testing are not included.",
            show_default="none",
        ),
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Run folder to resume.", show_default=False)] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="The config.toml of a run, to train the same model again.", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="0")] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Maximum number of threads. Results do not depend on it.", show_default="all cores"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Ray cluster to train on: auto, HOST:PORT or local. It trains the nets of --preset best or a search "
            "with the same results; one net needs --replicas.",
            show_default="this process",
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(
            help="Number of copies of the net that train on rows of their own and are averaged in rounds.",
            show_default="1",
        ),
    ] = None,
    doctor: Annotated[bool, typer.Option("--doctor/--no-doctor", help="Examine the training.")] = True,
    heal: Annotated[
        bool,
        typer.Option(
            "--heal",
            help="Try the doctor's remedies in further trainings, and keep those that help on the validation set.",
        ),
    ] = False,
    baselines: Annotated[bool, typer.Option("--baselines/--no-baselines", help="Compare with simpler models.")] = True,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    force: o.Force = False,
    as_json: o.Json = False,
    ignore: Annotated[
        Names, typer.Option(help="Columns to leave out.", metavar="COLUMN", rich_help_panel=COLUMNS)
    ] = None,
    categorical: Annotated[
        Names, typer.Option(help="Columns to use as categories.", metavar="COLUMN", rich_help_panel=COLUMNS)
    ] = None,
    numeric: Annotated[
        Names, typer.Option(help="Columns to use as numbers.", metavar="COLUMN", rich_help_panel=COLUMNS)
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="binary, multiclass, multilabel, regression or count.",
            rich_help_panel=COLUMNS,
            show_default="inferred from the target",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="How to split the rows: random, stratified, group, time.",
            rich_help_panel=SPLIT,
            show_default="stratified for classes, else random",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column whose equal values stay in one set, for example a customer.",
            metavar="COLUMN",
            rich_help_panel=SPLIT,
        ),
    ] = None,
    when: Annotated[
        str | None,
        typer.Option(
            help="Column with the time of each row: the latest rows are the test set.",
            metavar="COLUMN",
            rich_help_panel=SPLIT,
        ),
    ] = None,
    test: Annotated[
        float | None,
        typer.Option(help="Fraction of the rows in the test set.", rich_help_panel=SPLIT, show_default="0.2"),
    ] = None,
    validation: Annotated[
        float | None,
        typer.Option(
            help="Fraction of the other rows in the validation set, which decides when to stop.",
            rich_help_panel=SPLIT,
            show_default="0.15",
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            help="Train on a random sample of this many rows.", rich_help_panel=SPLIT, show_default="all rows"
        ),
    ] = None,
    drop_duplicates: Annotated[
        bool,
        typer.Option(
            "--drop-duplicates",
            help="Leave out rows that are equal to an earlier one in every column that is not ignored.",
            rich_help_panel=SPLIT,
        ),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Stream tables that need more memory than this, for example 500MB or 4GB.",
            rich_help_panel=SPLIT,
            show_default="half of the free memory",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="auto: one net. best: an ensemble of nets and other models, which takes longer and predicts better.",
            rich_help_panel=NET,
            show_default="best for up to 1,000 rows if no option describes a net, else auto",
        ),
    ] = None,
    hidden: Annotated[str | None, of_net("hidden_layer_sizes", metavar="256,128")] = None,
    activation: Annotated[str | None, of_net("activation", "mish")] = None,
    norm: Annotated[str | None, of_net("norm", "none")] = None,
    dropout: Annotated[float | None, of_net("dropout", "0.1")] = None,
    learning_rate: Annotated[float | None, of_net("learning_rate_init", "0.005, or 0.003 for many rows")] = None,
    weight_decay: Annotated[float | None, of_net("weight_decay", "0.01")] = None,
    batch_size: Annotated[int | None, of_net("batch_size")] = None,
    epochs: Annotated[int | None, of_net("max_iter", "20 to 150, " + CHOSEN)] = None,
    patience: Annotated[int | None, of_net("n_iter_no_change", "half of the epochs")] = None,
    class_weight: Annotated[str | None, of_net("class_weight", "not weighted", metavar="balanced")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Train a net on a table, test it, and write a folder with the model and a report.

    \b
    Examples:
      madaline train penguins
      madaline train houses.csv --target price --out run --time 5m
      madaline train houses.csv --target price --preset best
      madaline train sales.csv -t units --when date --ignore invoice
      madaline train --resume run
      madaline train --config run/config.toml --out again
    """
    start("train", dict(locals()))


def start(command: str, typed: dict[str, Any]) -> None:
    """Start or resume the run of a command.

    Parameters
    ----------
    command : {"train", "search"}
    typed : dict
        The options of ``train``, and those of the command besides them.
    """
    from madaline.cli.checks import check_settings
    from madaline.cli.config import RunConfig
    from madaline.cli.run_folder import CONFIG, RunFolder
    from madaline.cli.screen import Screen
    from madaline.cli.source import one_source
    from madaline.cli.training import run

    reading = typed.pop("reading")
    typed |= reading.given()
    screen = Screen(as_json=typed["as_json"])
    if typed["resume"] is not None:
        folder = RunFolder(typed["resume"])
        _refuse(typed, ALSO_WITH_RESUME, "--resume")
        folder.resume()
        settings = RunConfig.read(folder.work / CONFIG)
        settings.training.time = o.seconds(typed["time"])
        settings.training.threads, settings.training.cluster = typed["threads"], typed["cluster"]
        settings.search.asynchronous = False
        _take_search(settings, typed)
        check_settings(settings)
        if command == "search" and not settings.search.is_wanted:
            raise ConfigError(f"The run in {str(folder.path)!r} is not a search. Use madaline train --resume.")
    else:
        settings = RunConfig() if typed["config"] is None else RunConfig.read(typed["config"])
        if settings.ended.by:
            settings.training.time = None  # the run is repeated up to its last step, however long that takes
        if typed["data"]:
            settings.data.source = one_source(typed["data"])
        if not settings.data.source:
            raise ConfigError(
                f"Choose a table: madaline {command} FILE --target COLUMN, or madaline {command} penguins."
            )
        _take(settings, typed)
        settings.search.is_wanted = settings.search.is_wanted or command == "search"
        _take_search(settings, typed)
        settings.reading = ReadOptions(**settings.reading.given() | reading.given())
        check_settings(settings)
        if typed.get("heal") and not typed["doctor"]:
            raise ConfigError("--heal needs the doctor. Leave out --no-doctor.")
        folder = RunFolder.free(typed["out"], settings.data.source)
        folder.start(force=typed["force"])
    run(
        settings,
        folder,
        screen,
        resume=typed["resume"] is not None,
        with_baselines=typed["baselines"],
        with_report=typed["report"],
        with_doctor=typed["doctor"],
        with_healing=bool(typed.get("heal")),
    )


def _take_search(settings: Any, given: dict[str, Any]) -> None:
    """Put the options of a search into the settings."""
    for name in SEARCH_OPTIONS:
        if (value := given.get(name)) is not None and value is not False:
            setattr(settings.search, name, given[name])


def _take(settings: Any, given: dict[str, Any]) -> None:
    """Put the options that were given into the settings."""
    for name in ("target", "ignore", "categorical", "numeric"):
        if names := o.several(given[name]):
            setattr(settings.data, name, names)
    training = ("task", "preset", "seed", "threads", "cluster", "replicas", "class_weight", "activation", "norm")
    places = [
        (settings.data, ("rows",)),
        (settings.split, ("test", "validation")),
        (
            settings.training,
            (*training, "dropout", "learning_rate", "weight_decay", "batch_size", "epochs", "patience"),
        ),
    ]
    of_run = {
        "data",
        "config",
        "resume",
        "out",
        "force",
        "as_json",
        "baselines",
        "doctor",
        "heal",
        "report",
        "cluster",
    }
    options = set(given) - of_run - set(SEARCH_OPTIONS)
    flags = {f"--{name.replace('_', '-')}" for name in options if given[name] not in (None, False, "auto")}
    settings.training.given = tuple(sorted(flags | set(settings.training.given)))
    for section, names in places:
        for name in names:
            if given[name] is not None:
                setattr(section, name, given[name])
    if given["rows"] is not None or given["memory"] is not None:
        settings.data.sample = None
        settings.data.memory = given["memory"]
    settings.data.drop_duplicates |= given["drop_duplicates"]
    if given["time"] is not None:
        settings.training.time = o.seconds(given["time"])
    if given["hidden"] is not None:
        settings.training.hidden = _widths(given["hidden"])
    _take_split(settings, given["split"], given["group"], given["when"])


def _take_split(settings: Any, way: str | None, group: str | None, when: str | None) -> None:
    if group is not None and when is not None:
        raise ConfigError("--group and --when split the rows in different ways. Use one of them.")
    by, implied = (group, "group") if group is not None else (when, "time")
    if by is None:
        if way in ("group", "time"):
            flag = "--group" if way == "group" else "--when"
            raise ConfigError(f"--split {way} needs a column: {flag} COLUMN.")
        settings.split.way = way or settings.split.way
        return
    if way not in (None, implied):
        raise ConfigError(f"--split {way} cannot be used with --group or --when; leave it out.")
    settings.split.way, settings.split.by = implied, by


def _widths(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in o.words(given))
    except ValueError:
        raise ConfigError(f"--hidden {given} must be numbers of units, separated by commas: 256,128.") from None


def _refuse(given: dict[str, Any], allowed: set[str], flag: str) -> None:
    other = [name for name, value in given.items() if name not in allowed and value not in (None, False, [])]
    if other:
        what = "the table" if other[0] == "data" else f"--{other[0].replace('_', '-')}"
        raise ConfigError(f"{flag} uses the settings of the run: {what} cannot be changed.")
