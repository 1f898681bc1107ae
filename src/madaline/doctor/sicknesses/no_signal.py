"""A target that the inputs say nothing about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from madaline.doctor.baselines import constant_rows, linear_rows
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sample import Problem, more_splits
from madaline.doctor.setup import FAILED
from madaline.doctor.sickness import Sickness, Symptom

FEWEST = 100
NOT_CHANCE = 0.1
"A loss that is lower by this fraction may be more than chance, also if the held-out rows are too few to be sure."
SPLITS = 4
"Other splits of the rows, on which a linear model must not find a signal either."
NEAREST, AGREE, MOST = 10, 5.0, 2000
"""Rows that are compared with each row, standard errors of the correlation of their mean target with its own, and the
number of rows that are looked at: black and white fields are a signal, though nets need many steps to find it."""
LIKELY = 1.5
"Standard errors by which a model must be ahead of a constant: with so many, nobody can say that there is no signal."


class NoSignal(Sickness):
    """A target that the inputs say nothing about."""

    name = "no_signal"
    number = 13
    title = "The inputs say nothing about the target."
    proof = "fact"
    cause = 0
    why = (
        "Neither this net, nor a linear model, nor a net with usual settings has a lower loss on held-out rows than "
        "a constant. Often rows of X and y do not belong together, as after a join or a shuffle of one of them."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.problem.n_train < FEWEST or not np.asarray(exam.problem.train.y).std() or exam.linear is None:
            return None
        before, constant = exam.held_losses(exam.before), _best_constant(exam, [exam.problem])
        if any(_is_better(found, constant) for found in (before, exam.linear)):
            return None
        reference = exam.held_losses(exam.reference)
        if _is_better(reference, constant) or exam.reference.diverged:
            return None
        if self._has_signal_elsewhere(exam) or _shows_in_near_rows(exam):
            return None
        return Symptom(
            {
                "loss": float(before.mean()),
                "loss of a constant prediction": exam.constant_loss,
                "loss of a linear model": float(exam.linear.mean()),
                "loss with usual settings": float(reference.mean()),
            },
            "the target",
            0.8,
            harm=0.6,
        )

    def _has_signal_elsewhere(self, exam: Exam) -> bool:
        """Whether other splits of all rows show a signal: to a linear model, and to the net if there are folds."""
        splits = exam.folds or more_splits(exam.problem, SPLITS)
        linear = [linear_rows(exam.setup, split, exam.n_outputs) for split in splits]
        known = [each for each in linear if each is not None]
        rows = [np.concatenate(known)] if len(known) == len(linear) else []
        rows += [exam.before_losses[len(exam.constant) :]] if exam.folds else []
        constant = _best_constant(exam, splits)
        return any(_is_better(found, constant) for found in rows)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [Remedy("Check that row i of X and row i of y belong together, and look for other columns.")]


def _best_constant(exam: Exam, splits: Sequence[Problem]) -> np.ndarray:
    """The loss of each held-out row for the best constant: that of the training targets or of the held-out ones.

    The mean of a target with a few huge values differs from split to split: to predict less is then no signal.
    """

    def rows(split: Problem) -> np.ndarray:
        known, ideal = (
            constant_rows(exam.loss, y, split.held.y, exam.n_outputs) for y in (split.train.y, split.held.y)
        )
        return ideal if ideal.mean() < known.mean() else known

    return np.concatenate([rows(split) for split in splits])


def _is_better(found: np.ndarray, constant: np.ndarray) -> bool:
    top = constant.mean() + FAILED * np.abs(constant).mean()  # for both: a few extreme rows would decide otherwise
    d = np.minimum(constant, top) - np.minimum(found, top)
    is_likely = d.mean() > LIKELY * d.std() / np.sqrt(len(d)) and d.mean() > 0.005 * abs(constant.mean())
    return bool(is_likely or d.mean() > NOT_CHANCE * abs(constant.mean()))


def _shows_in_near_rows(exam: Exam) -> bool:
    """Whether rows that are near each other have similar targets; copies of a row do not count."""
    X = np.concatenate([exam.columns, exam.problem.held.matrix])
    if not np.isfinite(X).all() or not X.shape[1]:
        return False
    from scipy.spatial.distance import cdist

    low, middle, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
    X = np.clip((X - middle) / np.where(high > low, high - low, np.maximum(X.std(axis=0), 1e-12)), -3.0, 3.0)
    y = np.concatenate([np.asarray(exam.problem.train.y), np.asarray(exam.problem.held.y)])
    if exam.classes is not None and exam.held_classes is not None:
        y = np.concatenate([exam.classes, exam.held_classes])[:, None] == np.arange(max(exam.n_outputs, 2))
    y = y.reshape(len(X), -1).astype(float)
    step = -(-len(X) // MOST)
    X, y = X[::step], y[::step]
    distances = cdist(X, X)
    distances[distances == 0] = np.inf
    near = y[np.argpartition(distances, NEAREST, axis=1)[:, :NEAREST]].mean(axis=1)
    near, y = near - near.mean(axis=0), y - y.mean(axis=0)
    size = np.sqrt((near**2).sum(axis=0) * (y**2).sum(axis=0))
    return bool(np.max((near * y).sum(axis=0) / np.maximum(size, 1e-12)) * np.sqrt(len(X)) > AGREE)
