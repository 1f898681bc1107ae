"""What ``madaline train`` does, step by step, and shows on the way."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING, Any

from madaline.cli import source
from madaline.cli.config import Ended, RunConfig
from madaline.cli.drawing import Drawn, draw, without_held
from madaline.cli.options import said
from madaline.cli.results import advise, compare, show_history, show_plan, status
from madaline.cli.run_folder import CONFIG, MODEL, RunFolder, StoppedRun
from madaline.cli.screen import Screen
from madaline.data.reading.assumption import counted
from madaline.data.split import Split, split_rows
from madaline.data.times import times_of
from madaline.errors import ConfigError

if TYPE_CHECKING:
    from madaline.data.encode import TablePlan
    from madaline.data.reading.table_file import TableFile
    from madaline.data.target import TargetPlan
    from madaline.estimators.tabular.encoded import EncodedRows
    from madaline.train.history import History

CHOICES = (
    "hidden",
    "activation",
    "norm",
    "dropout",
    "learning_rate",
    "weight_decay",
    "batch_size",
    "epochs",
    "patience",
)


def run(
    settings: RunConfig, folder: RunFolder, screen: Screen, *, resume: bool, with_others: bool, with_report: bool
) -> None:
    """Train, test, compare, advise, write."""
    try:
        _run(settings, folder, screen, resume=resume, with_others=with_others, with_report=with_report)
    except BaseException:
        if not folder.checkpoint.exists() and not resume and not (folder.work / CONFIG).exists():
            folder.discard()
        raise


def _run(
    settings: RunConfig, folder: RunFolder, screen: Screen, *, resume: bool, with_others: bool, with_report: bool
) -> None:
    began = time.monotonic()
    # scikit-learn and the net's rooms take a second to import; what was read is on the screen by then.
    with ExitStack() as stack:
        with status(screen, "reading the table"):
            file = folder.input_of(settings.data.source, resume=resume)
            table = stack.enter_context(source.opened(settings, file))
            targets = source.targets_of(settings, table.names)
            drawn = draw(table, settings, targets)
        source.without_gaps(drawn, targets, table.assumptions)
        frame, assumptions, reading = drawn.frame, table.assumptions, table.format
        screen.title(f"{settings.data.source}: {counted(drawn.n_rows, 'row')}, {counted(frame.width, 'column')}")
        for assumption in assumptions:
            screen.say(f"  {assumption.text}  [{assumption.flag}]")

        from madaline.estimators.tabular import training

        target = training.target_of(drawn.shown_targets(), targets, settings.training.task)
        split = _split(settings, frame, targets, target)
        prepared = training.prepare(
            frame,
            targets,
            target,
            split,
            ignore=_ignored(settings, frame.columns, targets),
            categorical=[source.find_column(n, frame.columns, "--categorical") for n in settings.data.categorical],
            numeric=[source.find_column(name, frame.columns, "--numeric") for name in settings.data.numeric],
            told={name: getattr(settings.training, name) for name in CHOICES},
            stream=_stream(settings, folder, screen, table, drawn, split, targets) if drawn.is_sample else None,
        )
    show_plan(screen, prepared, split.way)
    if not resume:
        # What was chosen by the data is written down, so that a later version trains the same.
        settings.data.target, settings.split.way = targets, split.way
        for name in CHOICES:
            setattr(settings.training, name, prepared.recipe.choices[name])
        settings.versions = _versions()
        folder.write(CONFIG, settings.to_toml())

    left = None if settings.training.time is None else max(0.1, settings.training.time - (time.monotonic() - began))
    is_repeated = settings.ended.by == "time" and not resume and settings.training.time is None
    trainer, history = training.train(
        prepared,
        seed=settings.training.seed,
        threads=settings.training.threads,
        class_weight=settings.training.class_weight,
        max_seconds=left,
        last_epoch=settings.ended.epoch if is_repeated else None,
        last_step=settings.ended.step if is_repeated else None,
        checkpoint=folder.checkpoint,
        resume=resume and folder.checkpoint.exists(),
        progress=screen.is_watched,
    )
    if history.stopped == "interrupted":
        raise StoppedRun(f"Stopped in epoch {history.epochs + 1}. Go on with: madaline train --resume {folder.typed}")
    ended = "time" if is_repeated else history.stopped
    settings.ended = Ended(ended, history.epochs, trainer.run.progress.t)
    show_history(screen, history, trainer, ended)

    scores, others = compare(screen, prepared, trainer, settings, with_others=with_others)
    advice = advise(screen, prepared, history, scores, others, folder, way=split.way)
    document = {
        "source": settings.data.source,
        "rows": {
            "all": drawn.n_rows,
            "train": prepared.n_train,
            "validation": len(split.validation),
            "test": len(split.test),
        },
        "split": split.way,
        "assumptions": said(assumptions),
        "warnings": prepared.warnings,
        "task": prepared.target.task,
        "target": list(targets),
        "columns": [{"column": r.column, "role": r.role, "reason": r.reason} for r in prepared.table.roles()],
        "recipe": prepared.recipe.choices,
        "ended": vars(settings.ended),
        "scores": {score.name: vars(score) for score in scores},
        "baselines": {name: vars(each[0]) for name, each in others.items()},
        "advice": [vars(each) for each in advice],
        "seed": settings.training.seed,
        "versions": _versions(),
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 1),
    }
    if with_report:
        with status(screen, "writing the report"):
            from madaline.cli import report

            tested, config = frame[split.test], settings.to_toml()
            report.write(
                folder, prepared, trainer, history, scores, others, tested=tested, about=document, config=config
            )
    _write(folder, settings, training.learned(prepared, trainer, reading, document), history, screen)
    files = [MODEL, *(["report.html"] if with_report else []), "history.parquet, config.toml, result.json, log.txt"]
    screen.title(f"Written to {folder.path}: {', '.join(files)}")
    screen.say(f"  madaline predict {quote(str(folder.path / MODEL))} NEW.csv -o scored.csv")
    screen.result(document | {"folder": str(folder.path), "model": str(folder.path / MODEL)})


def _stream(
    settings: RunConfig,
    folder: RunFolder,
    screen: Screen,
    table: TableFile,
    drawn: Drawn,
    split: Split,
    targets: tuple[str, ...],
) -> Callable[[TablePlan, TargetPlan], EncodedRows]:
    """What writes the rows of a table that is not in memory into the folder of the run, as the net takes them."""

    def written(plan: TablePlan, target: TargetPlan) -> EncodedRows:
        from madaline.estimators.tabular.encoded import encode_rows

        by = _column_to_part_by(settings, drawn.frame.columns) if split.way in ("group", "time") else None
        with status(screen, "writing the rows as the net takes them"):
            rows = without_held(table, drawn, split, by, targets)
            return encode_rows(folder.work, rows, plan, target, targets, n_rows=drawn.n_rows)

    return written


def _column_to_part_by(settings: RunConfig, names: list[str]) -> str:
    flag = "--group" if settings.split.way == "group" else "--when"
    return source.find_column(settings.split.by or "", names, flag)


def _split(settings: RunConfig, frame: Any, targets: tuple[str, ...], target: TargetPlan) -> Split:
    chosen, by = settings.split, None
    way = chosen.way or ("stratified" if target.task in ("binary", "multiclass") else "random")
    if way == "stratified":
        by = target.encode(frame[targets[0]])
    elif way == "group":
        by = frame[_column_to_part_by(settings, frame.columns)].rank("dense").fill_null(0).to_numpy()
    elif way == "time":
        name, order = _column_to_part_by(settings, frame.columns), settings.reading.dates
        by = times_of(frame[name], name, order=None if order == "none" else order)
    return split_rows(
        len(frame), way=way, by=by, test=chosen.test, validation=chosen.validation, seed=settings.training.seed
    )


def _ignored(settings: RunConfig, names: list[str], targets: Sequence[str]) -> list[str]:
    """Columns that were told, and the one that says which rows belong together."""
    told = [("--ignore", name) for name in settings.data.ignore]
    if settings.split.way == "group" and settings.split.by is not None:
        told.append(("--group", settings.split.by))
    found = [source.find_column(name, names, flag) for flag, name in told]
    for (flag, _), name in zip(told, found, strict=True):
        if name in targets:
            raise ConfigError(f"{flag} {name}: it is the target, and cannot be left out.")
    return found


def _write(folder: RunFolder, settings: RunConfig, learned: Any, history: History, screen: Screen) -> None:
    """All files of the run, then the folder to its place."""
    import json

    from madaline.cli.screen import plain

    learned.about = plain(learned.about)
    learned.save(folder.work / MODEL)
    history.frame().write_parquet(folder.work / "history.parquet")
    folder.write(CONFIG, settings.to_toml())
    folder.write("result.json", json.dumps(learned.about, indent=2, ensure_ascii=False))
    folder.write("log.txt", "\n".join(screen.log) + "\n")
    folder.finish(goes_on=settings.ended.by == "time")


def _versions() -> dict[str, str]:
    import numpy as np
    import polars as pl
    import sklearn

    from madaline import __version__

    return {
        "madaline": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "polars": pl.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }
