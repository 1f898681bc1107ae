"""What to try next, told from how a run went; the most promising first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from madaline.estimators.tabular.scores import Score, better
from madaline.estimators.tabular.training import Prepared
from madaline.train.history import History

HOW_MANY = 3
FEW_ROWS = 500
TOO_GOOD = 0.999


@dataclass(frozen=True)
class Advice:
    """Something to try, why, and the options that do it."""

    text: str
    options: str = ""


def advise(prepared: Prepared, history: History, score: Score, baselines: dict[str, Score]) -> list[Advice]:
    """Three things to try next.

    Parameters
    ----------
    prepared : Prepared
    history : History
        Of the run.
    score : Score
        Of the net on the test rows, the first of its task.
    baselines : dict of Score
        The same of simpler models.
    """
    found = [*_about_data(prepared, score, baselines), *_about_training(prepared, history), *_always(prepared)]
    return found[:HOW_MANY]


def _about_data(prepared: Prepared, score: Score, baselines: dict[str, Score]) -> Iterator[Advice]:
    if score.larger_is_better and score.value > TOO_GOOD:
        yield Advice(
            "The score is nearly perfect. See whether a column is known only after the target is, and leave it out.",
            "--ignore COLUMN",
        )
    linear, boosting = baselines.get("linear model"), baselines.get("gradient boosting")
    if linear is not None and better(linear, score):
        yield Advice(
            "A linear model does as well or better: the net sees more than there is. Make it smaller, drop more.",
            "--hidden 32 --dropout 0.3",
        )
    elif boosting is not None and better(boosting, score) and not score.low <= boosting.value <= score.high:
        yield Advice(
            "Gradient boosting is better on these rows. A larger net that trains longer often closes the gap.",
            "--hidden 512,512,512 --epochs 400 --patience 100",
        )
    if prepared.n_classes:
        counts = np.bincount(prepared.train.y.astype(int), minlength=prepared.n_classes)
        if counts.min() < 0.1 * counts.max():
            yield Advice(
                f"The rarest class has {counts.min():,} rows and the most frequent {counts.max():,}. Give them equal "
                "weight if each class matters as much.",
                "--class-weight balanced",
            )
    n_rows = prepared.n_train
    if n_rows < FEW_ROWS:
        yield Advice(f"{n_rows} rows to train on are few: more rows will help more than any option.")


def _about_training(prepared: Prepared, history: History) -> Iterator[Advice]:
    epochs = prepared.recipe.epochs
    if history.stopped == "time":
        yield Advice(
            f"The time was over after {history.epochs} of {epochs} epochs, before the learning rate came down. Go on.",
            "--resume RUN",
        )
    elif history.stopped == "finished" and history.best_epoch is not None and history.best_epoch >= 0.95 * epochs:
        yield Advice("The loss was still falling at the end. Train longer.", f"--epochs {2 * epochs}")
    if not history.epochs:
        return
    train, held = history["loss"][-1], history["val_loss"][-1]
    if held > 1.5 * train and held > train + 0.05:
        yield Advice(
            f"The loss on rows not trained on ({held:.3g}) is well above that on the others ({train:.3g}). Drop more.",
            "--dropout 0.3 --weight-decay 0.1",
        )


def _always(prepared: Prepared) -> Iterator[Advice]:
    yield Advice("Train with another seed, to see how much of the score is chance.", "--seed 1")
    activation = prepared.recipe.choices["activation"]
    other = "mish" if activation != "mish" else "relu"
    yield Advice(f"Try another activation: {other}.", f"--activation {other}")
    yield Advice(
        "Look at the columns that were left out, and at those that were taken for categories.", "--numeric COLUMN"
    )
