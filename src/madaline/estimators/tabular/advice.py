"""What to try next, told from how a run went; the most promising first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from shlex import quote

import numpy as np

from madaline.estimators.tabular.scores import Score, better
from madaline.estimators.tabular.training import Prepared
from madaline.train.history import History

HOW_MANY = 3
FEW_ROWS = 500
TOO_GOOD = 0.999
EARLY = 0.25
"A best epoch in this share of the epochs came early."
MANY_COLUMNS = 4
NAIVE = {"most frequent": "the most frequent answer", "mean": "the mean"}
"Baselines that do not look at the columns, and what they say."


@dataclass(frozen=True)
class Advice:
    """Something to try, why, and the options that do it."""

    text: str
    options: str = ""


def advise(
    prepared: Prepared,
    history: History,
    scores: Sequence[Score],
    baselines: Mapping[str, Sequence[Score]],
    *,
    way: str,
) -> list[Advice]:
    """Three things to try next.

    Parameters
    ----------
    prepared : Prepared
    history : History
        Of the run.
    scores : sequence of Score
        Of the net on the test rows, the one to judge by first.
    baselines : mapping of str to sequences of Score
        The same of simpler models.
    way : str
        How rows were parted.
    """
    about = (_about_data(prepared, scores, baselines), _about_rows(prepared, way), _about_training(prepared, history))
    found = [*chain.from_iterable(about), *_always(prepared)]
    return found[:HOW_MANY]


def _about_data(
    prepared: Prepared, scores: Sequence[Score], baselines: Mapping[str, Sequence[Score]]
) -> Iterator[Advice]:
    score, firsts = scores[0], {name: each[0] for name, each in baselines.items()}
    if score.larger_is_better and score.value > TOO_GOOD:
        yield Advice(
            "The score is nearly perfect. See whether a column is known only after the target is, and leave it out.",
            "--ignore COLUMN",
        )
    linear, boosting = firsts.get("linear model"), firsts.get("gradient boosting")
    naive = next((name for name in NAIVE if name in baselines), None)
    if naive is not None and not any(map(_is_surely_better, scores, baselines[naive])):
        yield Advice(
            f"The net is hardly better than always giving {NAIVE[naive]}: these columns say little of the target. Look "
            "for others that say more, and see whether some were left out or misread.",
            "--numeric COLUMN --categorical COLUMN",
        )
    is_more_to_see = linear is None or (boosting is not None and _is_surely_better(boosting, linear))
    if linear is not None and better(linear, score) and not is_more_to_see:
        yield Advice(
            "A linear model does as well or better on these rows: there may be no more to see. Make the net smaller, "
            "and drop more of its units.",
            "--hidden 32 --dropout 0.3",
        )
    elif boosting is not None and _is_surely_better(boosting, score):
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


def _is_surely_better(score: Score, other: Score) -> bool:
    """Whether a score is better than another by more than chance."""
    return other.value < score.low if score.larger_is_better else other.value > score.high


def _about_rows(prepared: Prepared, way: str) -> Iterator[Advice]:
    dates = [role.column for role in prepared.table.roles() if role.role == "date"]
    if dates and way in ("random", "stratified"):
        yield Advice(
            f"Rows have dates. If the model is to foretell what comes later, test it on the latest by {dates[0]!r}.",
            f"--when {quote(dates[0])}",
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
            f"The loss on rows not trained on ({held:.3g}) is well above that on the others ({train:.3g}): it "
            "learns rows by heart. Drop more units.",
            "--dropout 0.3 --weight-decay 0.1",
        )
    if history.stopped == "early stopping" and history.best_epoch and history.best_epoch <= EARLY * history.epochs:
        yield Advice(
            f"Epoch {history.best_epoch} of {history.epochs} was the best: the net learns fast and then too much. Take "
            "smaller steps.",
            f"--learning-rate {prepared.recipe.choices['learning_rate'] / 4:.2g}",
        )


def _always(prepared: Prepared) -> Iterator[Advice]:
    yield Advice("Train with another seed, to see how much of the score is chance.", "--seed 1")
    if sum(not role.is_left_out for role in prepared.table.roles()) > MANY_COLUMNS:
        yield Advice("See in the report which columns do not matter, and train without them.", "--ignore COLUMN")
    activation = prepared.recipe.choices["activation"]
    other = "mish" if activation != "mish" else "relu"
    yield Advice(f"Try another activation: {other}.", f"--activation {other}")
    yield Advice("Look at the columns that were left out or taken for categories.", "--numeric COLUMN")
