"""The output of a training run: the plan, the training, scores compared with simpler models, and advice."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from madaline.cli import memory
from madaline.cli.run_folder import RunFolder
from madaline.cli.screen import Screen
from madaline.data.reading.assumption import counted
from madaline.data.task import TASK_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from madaline.cli.watching import RunWatcher
    from madaline.data.target import TargetReader
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.tabular.advice import Advice
    from madaline.report.findings import Score
    from madaline.train.history import History

SHOWN_COLUMNS = 40
FEW_VALUES = 10_000_000
"Baselines of smaller tables are fitted by one thread: on a busy computer, threads that wait for each other are slower."
ENDS = {
    "finished": "all epochs were run",
    "time": "the time limit was reached",
    "early stopping": "stopped early",
    "diverged": "it diverged",
}
"Reasons for the end of a run."


def show_plan(
    screen: Screen,
    estimator: NetEstimator,
    target: TargetReader,
    counts: Mapping[str, int],
    split: str,
    warnings: Sequence[str],
) -> None:
    """Columns and their roles, the task, the split, the net."""
    roles = estimator.table_plan_.roles()
    screen.title("Columns")
    screen.table(["column", "used as", "reason"], [(r.column, r.use, r.reason) for r in roles[:SHOWN_COLUMNS]])
    if len(roles) > SHOWN_COLUMNS:
        screen.say(f"  and {len(roles) - SHOWN_COLUMNS:,} more")
    for text in warnings:
        option = "  [--numeric, --categorical]" if " is left out" in text else "  [--ignore]"
        screen.say(f"  Warning: {text}{option}", style="yellow")
    names = ", ".join(repr(name) for name in target.names)
    screen.title(f"Task: {TASK_NAMES[target.task]} of {names} ({target.reason}).  [{_other_task(target)}]")
    sets = {"train": "training", "validation": "validation", "test": "test"}
    parts = [f"{counted(counts[name], 'row')} for {what}" for name, what in sets.items() if name in counts]
    screen.say(f"  Split ({split}): {', '.join(parts)}.  [--split, --test, --validation]")
    used = estimator.resolved_params_
    hidden = ", ".join(map(str, used["hidden_layer_sizes"]))
    nets = "Net"
    if used["preset"] == "best":
        screen.say("  Model: an ensemble of nets and other models, weighted on held-out rows.  [--preset]")
        nets = "Nets"
    screen.say(
        f"  {nets}: hidden layers of {hidden} units ({used['activation']}, dropout {used['dropout']:g}), at most "
        f"{used['max_iter']} epochs in mini-batches of {used['batch_size']}.  [--hidden, --dropout, --epochs]"
    )


def _other_task(target: TargetReader) -> str:
    """The option that changes the task: where whole numbers may be meant otherwise, with the other task."""
    is_whole = target.task == "count" or (
        target.task == "multiclass" and all(isinstance(c, int) for c in target.classes)
    )
    return "--task regression" if is_whole else "--task"


def show_history(screen: Screen, history: History, watcher: RunWatcher, ended: str) -> None:
    """Show a summary of training."""
    done = watcher.epochs
    epochs = counted(history.epochs, "epoch") if done == history.epochs else f"{done:.2g} epochs"
    best = f"; the best epoch was {history.best_epoch}" if history.best_epoch is not None else ""
    seconds = (float(history["seconds"].sum()) if history.epochs else 0.0) + watcher.seconds
    screen.title(f"Trained {epochs} in {seconds:.1f} s; {ENDS.get(ended, f'ended by {ended}')}{best}.")


def show_members(screen: Screen, estimator: NetEstimator, ended: str, seconds: float) -> None:
    """Show the kinds of members of an ensemble and their weights, and what a prediction costs."""
    from madaline.estimators.ensemble.size import ensemble_size

    members = estimator.members_
    end = ENDS.get(ended, "") if ended in ("time", "interrupted") else ""
    screen.title(f"Trained an ensemble of {len(members)} members in {seconds:.1f} s{f'; {end}' if end else ''}.")
    for kind in dict.fromkeys(str(member["kind"]) for member in members):
        of_kind = [member for member in members if member["kind"] == kind]
        weight = sum(float(member["weight"]) for member in of_kind)
        folds = len({member["fold"] for member in of_kind})
        where = f" on {counted(folds, 'fold')}" if len(of_kind) > 1 else ""
        screen.say(f"  {kind}: {counted(len(of_kind), 'member')}{where}, weight {weight:.2f}")
    size = ensemble_size(estimator.model_)
    screen.say(
        f"  Predictions use {counted(size.n_members, 'member')}: {memory.shown(size.n_bytes)} of parameters, "
        f"{size.times_largest:.1f} times the arithmetic of the largest member."
    )


def compare(
    screen: Screen,
    estimator: NetEstimator,
    parts: Mapping[str, tuple[Any, Any]],
    *,
    seed: int,
    threads: int | None,
    wanted: bool,
) -> tuple[list[Score], dict[str, list[Score]]]:
    """The net's scores on the test set, and those of simpler models."""
    from threadpoolctl import threadpool_limits

    from madaline.estimators.tabular.baselines import BaselineRows, baselines
    from madaline.estimators.tabular.predictions import called, classes_of, scored_prediction, scored_truth, task_of
    from madaline.estimators.tabular.scores import score
    from madaline.report.value_text import shown

    task = task_of(estimator)
    truth = scored_truth(estimator, parts["test"][1])
    scores = score(task, truth, scored_prediction(estimator, parts["test"][0]))
    others: dict[str, list[Score]] = {}
    if wanted:
        train, test = (
            BaselineRows(estimator.table_plan_.encode(parts[name][0]), scored_truth(estimator, parts[name][1]))
            for name in ("train", "test")
        )
        n_classes = len(classes_of(estimator)) if task in ("binary", "multiclass") else 0
        with threadpool_limits(1 if len(train.y) * len(estimator.table_plan_.columns) < FEW_VALUES else threads):
            for name, predicted in baselines(task, train, test, n_classes, seed=seed):
                with status(screen, f"fitting the {name} to compare"):
                    others[name] = score(task, truth, predicted())
    screen.title(f"Scores on {counted(len(truth), 'test row')} (in brackets: 95% bootstrap interval)")
    rows = [
        (each.name, str(each), *(shown(other[k].value, size(other[k])) for other in others.values()))
        for k, each in enumerate(scores)
    ]
    screen.table(["", called(estimator), *others], rows, right=range(1, len(others) + 2))
    show_meanings(screen, scores, classes_of(estimator) if task == "binary" else ())
    return scores, others


def size(score: Score) -> float:
    """The size by which the digits of a score are chosen."""
    return 1.0 if score.larger_is_better else 0.0


def show_meanings(screen: Screen, scores: Sequence[Score], classes: Sequence[Any]) -> None:
    """Show the meanings of the scores."""
    from madaline.report.findings import meanings

    screen.say()
    for name, meaning in meanings(scores, classes):
        screen.say(f"  {name}: {meaning}.")


def advise(
    screen: Screen,
    estimator: NetEstimator,
    y: Any,
    history: History,
    scores: Sequence[Score],
    baselines: Mapping[str, Sequence[Score]],
    folder: RunFolder,
    *,
    n_train: int,
    split: str,
    given: Collection[str],
    has_finding: bool,
) -> list[Advice]:
    """Show advice for further runs."""
    import numpy as np

    from madaline.estimators.tabular import advice as advices
    from madaline.estimators.tabular.predictions import classes_of, scored_truth, task_of

    used = estimator.resolved_params_
    has_classes = task_of(estimator) in ("binary", "multiclass")
    facts = advices.RunFacts(
        n_train=n_train,
        max_epochs=used["max_iter"],
        activation=used["activation"],
        split=split,
        roles=estimator.table_plan_.roles(),
        class_counts=np.bincount(scored_truth(estimator, y), minlength=len(classes_of(estimator)))
        if has_classes
        else None,
        given=given,
        is_ensemble=getattr(estimator, "members_", None) is not None,
        has_finding=has_finding,
    )
    found = advices.advise(facts, history, scores, baselines)
    screen.title("To try next")
    for number, advice in enumerate(found, start=1):
        options = f"  [{advice.options.replace('RUN', folder.typed)}]" if advice.options else ""
        screen.say(f"  {number}. {advice.text}{options}")
    return found


@contextmanager
def status(screen: Screen, text: str) -> Iterator[None]:
    """A status line that is shown during a longer operation."""
    if screen.is_watched:
        print(f"{text} ...", end="\r", file=sys.stderr, flush=True)
    yield
    if screen.is_watched:
        print(" " * (len(text) + 4), end="\r", file=sys.stderr, flush=True)
