"""Advice for the next run, based on the last one; the most promising first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from shlex import quote

import numpy as np

from madaline.data.roles import Role
from madaline.estimators.tabular.scores import better
from madaline.report.findings import Score
from madaline.train.history import History

MOST = 3
FEW_ROWS = 500
TOO_GOOD = 0.999
BEST = "--preset best"
"The option that trains an ensemble."
ONE_NET = ("--preset", "--activation")
"Options that are not proposed for an ensemble: it is one, or they describe one net."
MANY_COLUMNS = 4
NAIVE = {"most frequent": "the most frequent class", "mean": "the mean"}
"Baselines that do not use the columns, and their predictions."


@dataclass(frozen=True)
class Advice:
    """Something to try, the reason, and the options that do it."""

    text: str
    options: str = ""


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run, other than history and scores, that advice depends on.

    Attributes
    ----------
    n_train : int
        Number of training rows.
    max_epochs : int
        Number of epochs that were allowed.
    activation : str
    split : str
        How rows were split.
    roles : sequence of Role
        How columns are used.
    class_counts : array, optional
        Number of training rows of each class.
    given : collection of str
        Options that the user gave, such as ``--dropout``; they are not suggested again.
    is_ensemble : bool
        Whether there are several members; the history is that of the first one.
    has_finding : bool
        Whether the doctor found a problem of the training.
    """

    n_train: int
    max_epochs: int
    activation: str
    split: str
    roles: Sequence[Role] = ()
    class_counts: np.ndarray | None = None
    given: Collection[str] = ()
    is_ensemble: bool = False
    has_finding: bool = False


def advise(
    facts: RunFacts, history: History, scores: Sequence[Score], baselines: Mapping[str, Sequence[Score]]
) -> list[Advice]:
    """Up to three things to try next.

    Parameters
    ----------
    facts : RunFacts
    history : History
    scores : sequence of Score
        Scores of the net on the test set, the main one first.
    baselines : mapping of str to sequences of Score
        The same scores of simpler models.
    """
    found = chain(
        _about_findings(facts),
        _about_data(facts, scores, baselines),
        _about_rows(facts),
        _about_training(facts, history),
        _always(facts),
    )
    done = {*facts.given, *(ONE_NET if facts.is_ensemble else ())}
    new = [advice for advice in found if not set(re.findall(r"--[a-z-]+", advice.options)) & done]
    first = {advice.options or advice.text: advice for advice in reversed(new)}  # the first with these options
    return [advice for advice in new if first[advice.options or advice.text] is advice][:MOST]


def _about_findings(facts: RunFacts) -> Iterator[Advice]:
    if facts.has_finding:
        yield Advice("Solve the problem that the doctor found first, or let madaline try the remedies.", "--heal")


def _about_data(facts: RunFacts, scores: Sequence[Score], baselines: Mapping[str, Sequence[Score]]) -> Iterator[Advice]:
    score, firsts = scores[0], {name: each[0] for name, each in baselines.items()}
    if score.larger_is_better and score.value > TOO_GOOD:
        yield Advice(
            "The score is nearly perfect. Check whether a column is known only after the target, and leave it out.",
            "--ignore COLUMN",
        )
    linear, boosting = firsts.get("linear model"), firsts.get("gradient boosting")
    naive = next((name for name in NAIVE if name in baselines), None)
    if naive is not None and not facts.has_finding and not any(map(_is_clearly_better, scores, baselines[naive])):
        yield Advice(
            f"The net is hardly better than always predicting {NAIVE[naive]}: these columns say little about the "
            "target. Look for other columns, and check whether some were left out or read wrongly.",
            "--numeric COLUMN --categorical COLUMN",
        )
    has_more_to_learn = linear is None or (boosting is not None and _is_clearly_better(boosting, linear))
    if linear is not None and better(linear, score) and not has_more_to_learn:
        yield Advice(
            "A linear model does as well or better here. Train an ensemble of nets and other models.",
            BEST,
        )
    elif boosting is not None and _is_clearly_better(boosting, score):
        yield Advice(
            "Gradient boosting is better here. An ensemble of nets makes the gap smaller.",
            BEST,
        )
    counts = facts.class_counts
    if counts is not None and counts.min() < 0.1 * counts.max():
        yield Advice(
            f"The rarest class has {counts.min():,} rows and the most frequent {counts.max():,}. Give the classes "
            "equal weight if they matter equally.",
            "--class-weight balanced",
        )


def _is_clearly_better(score: Score, other: Score) -> bool:
    """Whether a score is better than another by more than chance."""
    return other.value < score.low if score.larger_is_better else other.value > score.high


def _about_rows(facts: RunFacts) -> Iterator[Advice]:
    dates = [role.column for role in facts.roles if role.role == "date"]
    if dates and facts.split in ("random", "stratified"):
        yield Advice(
            f"Rows have dates. If the model is to predict the future, test it on the latest rows by {dates[0]!r}.",
            f"--when {quote(dates[0])}",
        )
    if facts.n_train < FEW_ROWS:
        yield Advice(f"{facts.n_train} training rows are few: more rows will help more than any option.")


def _about_training(facts: RunFacts, history: History) -> Iterator[Advice]:
    if facts.is_ensemble:
        if history.stopped == "time":
            yield Advice("The time limit ended training before all members were complete. Resume it.", "--resume RUN")
        return
    if history.stopped == "time":
        yield Advice(
            f"The time limit ended training after {history.epochs} of {facts.max_epochs} epochs, before the learning "
            "rate came down. Resume it.",
            "--resume RUN",
        )
    elif (
        history.stopped == "finished"
        and history.best_epoch is not None
        and history.best_epoch >= 0.95 * facts.max_epochs
    ):
        yield Advice("The loss was still falling at the end. Train longer.", f"--epochs {2 * facts.max_epochs}")
    if not history.epochs:
        return
    kept = history.epochs - 1 if history.best_epoch is None else history.best_epoch - 1
    train, valid = history["loss"][kept], history["val_loss"][kept]
    if valid > 1.5 * train and valid > train + 0.05:
        yield Advice(
            f"The loss on the validation set ({valid:.3g}) is well above that on the training set ({train:.3g}): the "
            "net overfits. The mean of several nets overfits less.",
            BEST,
        )


def _always(facts: RunFacts) -> Iterator[Advice]:
    yield Advice("Train an ensemble of nets and other models. It takes longer and is usually better.", BEST)
    yield Advice("Train with another random seed, to see how much of the score is chance.", "--seed 1")
    if sum(not role.is_left_out for role in facts.roles) > MANY_COLUMNS:
        yield Advice("See in the report which columns do not matter, and train without them.", "--ignore COLUMN")
    other = "mish" if facts.activation != "mish" else "relu"
    yield Advice(f"Try another activation: {other}.", f"--activation {other}")
    yield Advice("Check the columns that were left out or used as categories.", "--numeric COLUMN")
