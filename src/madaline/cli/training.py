"""What ``madaline train`` does, step by step, and shows on the way."""

from __future__ import annotations

import platform
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from madaline.cli import source
from madaline.cli.config import Ended, RunConfig
from madaline.cli.options import said
from madaline.cli.run_folder import CHECKPOINT, CONFIG, MODEL, RunFolder
from madaline.cli.screen import Screen
from madaline.data.reading.assumption import counted
from madaline.data.split import Split, split_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from madaline.data.target import TargetPlan
    from madaline.estimators.tabular.scores import Score
    from madaline.estimators.tabular.training import Prepared
    from madaline.train.history import History

SHOWN_COLUMNS = 40
FEW_ROWS = 10_000
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


def run(settings: RunConfig, folder: RunFolder, screen: Screen, *, resume: bool, compare: bool) -> None:
    """Train, test, compare, advise, write."""
    began = time.monotonic()
    try:
        _run(settings, folder, screen, began, resume=resume, compare=compare)
    except BaseException:
        if not folder.checkpoint.exists() and not resume and not (folder.work / CONFIG).exists():
            folder.discard()
        raise


def _run(settings: RunConfig, folder: RunFolder, screen: Screen, began: float, *, resume: bool, compare: bool) -> None:
    frame, assumptions, reading = source.read(settings)
    targets = source.targets_of(settings, frame.columns)
    frame = source.without_gaps(frame, targets, assumptions)
    screen.title(f"{settings.data.source}: {counted(len(frame), 'row')}, {counted(frame.width, 'column')}")
    for assumption in assumptions:
        screen.say(f"  {assumption.text}  [{assumption.flag}]")

    # scikit-learn and the net's rooms take a second to import; what was read is on the screen by then.
    from madaline.estimators.tabular import training

    target = training.target_of(frame, targets, settings.training.task)
    split = _split(settings, frame, targets, target)
    prepared = training.prepare(
        frame,
        targets,
        target,
        split,
        ignore=_ignored(settings, frame.columns),
        categorical=[source.find_column(name, frame.columns, "--categorical") for name in settings.data.categorical],
        numeric=[source.find_column(name, frame.columns, "--numeric") for name in settings.data.numeric],
        told={name: getattr(settings.training, name) for name in CHOICES},
    )
    _show_plan(screen, prepared, split)
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
        checkpoint=folder.checkpoint,
        resume=resume and folder.checkpoint.exists(),
        progress=screen.is_watched,
    )
    if history.stopped == "interrupted":
        raise KeyboardInterrupt(f"Go on with: madaline train --resume {folder.path}")
    ended = "time" if is_repeated else history.stopped
    settings.ended = Ended(ended, history.epochs, trainer.run.progress.t)
    _show_history(screen, prepared, history, ended)

    scores, others = _compare(screen, prepared, trainer, settings, with_others=compare)
    advice = _advise(screen, prepared, history, scores, others, folder)
    document = {
        "source": settings.data.source,
        "rows": {"all": len(frame)} | {part: len(getattr(split, part)) for part in ("train", "validation", "test")},
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
    with _status(screen, "writing the report"):
        from madaline.cli import report

        tested, config = frame[split.test], settings.to_toml()
        report.write(folder, prepared, trainer, history, scores, others, tested=tested, about=document, config=config)
    _write(folder, settings, training.learned(prepared, trainer, reading, document), history, screen)
    screen.title(f"Written to {folder.path}: {MODEL}, report.html, history.parquet, config.toml, result.json, log.txt")
    screen.say(f"  madaline predict {folder.path / MODEL} NEW.csv -o scored.csv")
    screen.result(document | {"folder": str(folder.path), "model": str(folder.path / MODEL)})


def _split(settings: RunConfig, frame: Any, targets: tuple[str, ...], target: TargetPlan) -> Split:
    chosen, by = settings.split, None
    way = chosen.way or ("stratified" if target.task in ("binary", "multiclass") else "random")
    if way == "stratified":
        by = target.encode(frame[targets[0]])
    elif way in ("group", "time"):
        name = source.find_column(chosen.by or "", frame.columns, "--group" if way == "group" else "--when")
        column = frame[name]
        by = column.rank("dense").fill_null(0).to_numpy()
    return split_rows(
        len(frame), way=way, by=by, test=chosen.test, validation=chosen.validation, seed=settings.training.seed
    )


def _ignored(settings: RunConfig, names: list[str]) -> list[str]:
    """Columns that were told, and the one that says which rows belong together."""
    found = [source.find_column(name, names, "--ignore") for name in settings.data.ignore]
    if settings.split.way == "group" and settings.split.by is not None:
        found.append(source.find_column(settings.split.by, names, "--group"))
    return found


def _show_plan(screen: Screen, prepared: Prepared, split: Split) -> None:
    roles = prepared.table.roles()
    screen.title("Columns")
    screen.table(["column", "used as", "because"], [(r.column, r.role, r.reason) for r in roles[:SHOWN_COLUMNS]])
    if len(roles) > SHOWN_COLUMNS:
        screen.say(f"  and {len(roles) - SHOWN_COLUMNS:,} more")
    for text in prepared.warnings:
        screen.say(f"  Warning: {text}", style="yellow")
    names = " and ".join(repr(name) for name in prepared.targets)
    screen.title(f"Task: {prepared.target.task} of {names} ({prepared.target.reason}).  [--task]")
    parts = [f"{len(rows):,} rows to {what}" for rows, what in _parts(split)]
    screen.say(f"  Split {split.way}: {', '.join(parts)}.  [--split, --test, --validation]")
    choices = prepared.recipe.choices
    hidden = ", ".join(map(str, choices["hidden"]))
    screen.say(
        f"  Net: hidden layers of {hidden} units ({choices['activation']}, dropout {choices['dropout']:g}), at most "
        f"{choices['epochs']} epochs in batches of {prepared.recipe.batch_size}.  [--hidden, --dropout, --epochs]"
    )


def _parts(split: Split) -> list[tuple[Any, str]]:
    return [(split.train, "train"), (split.validation, "say when to stop"), (split.test, "test")]


def _show_history(screen: Screen, prepared: Prepared, history: History, ended: str) -> None:
    best = f", the best was epoch {history.best_epoch}" if history.best_epoch is not None else ""
    seconds = float(history["seconds"].sum())
    screen.title(f"Trained {counted(history.epochs, 'epoch')} in {seconds:.1f} s; ended by {ended}{best}.")


def _compare(
    screen: Screen, prepared: Prepared, trainer: Any, settings: RunConfig, *, with_others: bool
) -> tuple[list[Score], dict[str, list[Score]]]:
    """The net's scores on the test rows, and those of simpler models."""
    from threadpoolctl import threadpool_limits

    from madaline.estimators.tabular.baselines import baselines
    from madaline.estimators.tabular.scores import score
    from madaline.estimators.tabular.training import outputs

    task, seed = prepared.target.task, settings.training.seed
    train, test = prepared.in_units(prepared.train), prepared.in_units(prepared.test)
    scores = score(task, test.y, outputs(prepared, trainer, prepared.test))
    others: dict[str, list[Score]] = {}
    models = baselines(task, train, test, prepared.n_classes, seed=seed) if with_others else []
    # Threads that wait for each other over few rows take longer than one.
    with threadpool_limits(1 if len(train.y) < FEW_ROWS else settings.training.threads):
        for name, predicted in models:
            with _status(screen, f"fitting the {name} to compare"):
                others[name] = score(task, test.y, predicted())
    rows = [("this net", *map(str, scores)), *((name, *map(str, each)) for name, each in others.items())]
    screen.title(
        f"On {counted(len(test.y), 'row')} that training did not see (in brackets: where 95% of resamples are)"
    )
    screen.table(["model", *(each.name for each in scores)], rows, right=range(1, len(scores) + 1))
    return scores, others


def _advise(
    screen: Screen,
    prepared: Prepared,
    history: History,
    scores: list[Score],
    others: dict[str, list[Score]],
    folder: RunFolder,
) -> list[Any]:
    from madaline.estimators.tabular.advice import advise

    found = advise(prepared, history, scores[0], {name: each[0] for name, each in others.items()})
    screen.title("To try next")
    for number, advice in enumerate(found, start=1):
        options = f"  [{advice.options.replace('RUN', str(folder.path))}]" if advice.options else ""
        screen.say(f"  {number}. {advice.text}{options}")
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
    if settings.ended.by != "time":
        (folder.work / CHECKPOINT).unlink(missing_ok=True)
    folder.finish()


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


@contextmanager
def _status(screen: Screen, text: str) -> Iterator[None]:
    """A line that is there while something takes its time."""
    if screen.is_watched:
        print(f"{text} ...", end="\r", file=sys.stderr, flush=True)
    yield
    if screen.is_watched:
        print(" " * (len(text) + 4), end="\r", file=sys.stderr, flush=True)
