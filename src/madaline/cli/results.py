"""What a training run shows: the plan, how it went, how good the net is beside others, what to try next."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from madaline.cli.config import RunConfig
from madaline.cli.run_folder import RunFolder
from madaline.cli.screen import Screen
from madaline.data.reading.assumption import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from madaline.estimators.tabular.scores import Score
    from madaline.estimators.tabular.training import Prepared
    from madaline.train.history import History

SHOWN_COLUMNS = 40
FEW_ROWS = 10_000
ENDS = {"finished": "all that were asked for", "time": "then the time was over"}
"How a run ended, where one word would not do."


def show_plan(screen: Screen, prepared: Prepared, way: str) -> None:
    """Columns and their roles, the task, the split, the net."""
    roles = prepared.table.roles()
    screen.title("Columns")
    screen.table(["column", "used as", "because"], [(r.column, r.use, r.reason) for r in roles[:SHOWN_COLUMNS]])
    if len(roles) > SHOWN_COLUMNS:
        screen.say(f"  and {len(roles) - SHOWN_COLUMNS:,} more")
    for text in prepared.warnings:
        screen.say(f"  Warning: {text}  [--numeric, --categorical]", style="yellow")
    names = ", ".join(repr(name) for name in prepared.targets)
    screen.title(f"Task: {prepared.target.task} of {names} ({prepared.target.reason}).  [--task]")
    counts = {"train": prepared.n_train, "say when to stop": len(prepared.validation.y), "test": len(prepared.test.y)}
    parts = [f"{counted(count, 'row')} to {what}" for what, count in counts.items()]
    screen.say(f"  Split {way}: {', '.join(parts)}.  [--split, --test, --validation]")
    choices = prepared.recipe.choices
    hidden = ", ".join(map(str, choices["hidden"]))
    screen.say(
        f"  Net: hidden layers of {hidden} units ({choices['activation']}, dropout {choices['dropout']:g}), at most "
        f"{choices['epochs']} epochs in batches of {prepared.recipe.batch_size}.  [--hidden, --dropout, --epochs]"
    )


def show_history(screen: Screen, history: History, trainer: Any, ended: str) -> None:
    """How training went."""
    done = trainer.epochs_done
    epochs = counted(history.epochs, "epoch") if done == history.epochs else f"{done:.2g} epochs"
    best = f", the best was epoch {history.best_epoch}" if history.best_epoch is not None else ""
    seconds = (float(history["seconds"].sum()) if history.epochs else 0.0) + trainer.run.progress.seconds
    screen.title(f"Trained {epochs} in {seconds:.1f} s; {ENDS.get(ended, f'ended by {ended}')}{best}.")


def compare(
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
            with status(screen, f"fitting the {name} to compare"):
                others[name] = score(task, test.y, predicted())
    rows = [("this net", *map(str, scores)), *((name, *map(str, each)) for name, each in others.items())]
    screen.title(
        f"On {counted(len(test.y), 'row')} that training did not see (in brackets: where 95% of resamples are)"
    )
    screen.table(["model", *(each.name for each in scores)], rows, right=range(1, len(scores) + 1))
    show_meanings(screen, scores)
    return scores, others


def show_meanings(screen: Screen, scores: list[Score]) -> None:
    """What the scores of a table say."""
    screen.say()
    for score in scores:
        screen.say(f"  {score.name}: {score.meaning}.")


def advise(
    screen: Screen,
    prepared: Prepared,
    history: History,
    scores: list[Score],
    others: dict[str, list[Score]],
    folder: RunFolder,
    *,
    way: str,
) -> list[Any]:
    """What to try next."""
    from madaline.estimators.tabular import advice as advices

    found = advices.advise(prepared, history, scores, others, way=way)
    screen.title("To try next")
    for number, advice in enumerate(found, start=1):
        options = f"  [{advice.options.replace('RUN', folder.typed)}]" if advice.options else ""
        screen.say(f"  {number}. {advice.text}{options}")
    return found


@contextmanager
def status(screen: Screen, text: str) -> Iterator[None]:
    """A line that is there while something takes its time."""
    if screen.is_watched:
        print(f"{text} ...", end="\r", file=sys.stderr, flush=True)
    yield
    if screen.is_watched:
        print(" " * (len(text) + 4), end="\r", file=sys.stderr, flush=True)
