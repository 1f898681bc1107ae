"""The search of a run: its call, what is shown, and its files."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from madaline.cli.config import RunConfig
from madaline.cli.run_folder import RunFolder
from madaline.cli.screen import Screen
from madaline.data.reading.assumption import counted

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator

SPACE, STUDY, TRIALS = "space.toml", "study.db", "trials.csv"
"Files in the folder: the space if it was given, the storage of Optuna, and a table of all trials."
SEARCHED = ("--preset", "--activation", "--epochs", "--resume")
"Options that are not suggested after a search."
SECONDS = 600.0
"Time limit by default."


def run(
    settings: RunConfig,
    folder: RunFolder,
    estimator: NetEstimator,
    X: Any,
    y: Any,
    *,
    began: float,
    resume: bool,
    **options: Any,
) -> None:
    """Fit an estimator by a search."""
    from madaline.tune.progress import SearchLimits
    from madaline.tune.search import fit_search
    from madaline.tune.space import read_space

    wanted, limit = settings.search, settings.training.time
    if limit is None and wanted.trials is None:
        limit = SECONDS
    space = None
    if wanted.space is not None:
        space = folder.checkpoint / SPACE
        if not resume:
            read_space(wanted.space, estimator)  # errors name the file as it was given
            folder.checkpoint.mkdir()
            shutil.copyfile(wanted.space, space)
            wanted.space = str(folder.path / SPACE)
    fit_search(
        estimator,
        X,
        y,
        space=space,
        limits=SearchLimits(wanted.trials, began, limit),
        storage=wanted.storage,
        sampler=wanted.sampler,
        checkpoint=folder.checkpoint,
        resume=resume,
        cluster=settings.training.cluster,
        asynchronous=wanted.asynchronous,
        **options,
    )


def show(screen: Screen, estimator: Any) -> None:
    """Show what a search found."""
    from madaline.report.search_summary import SearchSummary, value_text

    found, summary = estimator.search_, SearchSummary.of(estimator)
    assert summary is not None
    counts = ", ".join(f"{count} {state}" for state, count in summary.states().items())
    ends = {"time": "; the time limit was reached", "interrupted": "; it was stopped by Ctrl-C"}
    screen.title(
        f"Searched {counted(len(summary.trials), 'trial')} in {found['seconds']:.1f} s ({counts})"
        f"{ends.get(found['stopped'], '')}."
    )
    screen.table(
        ["", "loss on held-out rows"], [(name, f"{loss:.5g}") for name, loss in summary.losses.items()], right=(1,)
    )
    best = ", ".join(f"{name} {value_text(value)}" for name, value in estimator.best_params_.items())
    screen.say(f"  Best: {best}.")
    for text in summary.advice():
        screen.say(f"  {text}  [--space]")


def document(estimator: Any) -> dict[str, Any]:
    """What ``result.json`` has about the search."""
    return {"search": estimator.search_ | {"best_params": estimator.best_params_}, "trials": estimator.trials_}


def write(folder: RunFolder, estimator: Any) -> None:
    """Write the table of trials, and keep the space and the storage where people find them."""
    import polars as pl

    names = list(dict.fromkeys(name for trial in estimator.trials_ for name in trial))
    rows = [{name: trial.get(name) for name in names} for trial in estimator.trials_]
    folder.write(TRIALS, pl.DataFrame(rows, infer_schema_length=None).write_csv())
    for name in (SPACE, STUDY):
        if (folder.checkpoint / name).exists():
            shutil.copyfile(folder.checkpoint / name, folder.work / name)
