"""A column that gives the target away."""

from __future__ import annotations

import numpy as np

from madaline.doctor.columns import rank_auc
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.leaks import (
    explained_by_column,
    is_made_from_target,
    loss_of_column,
    loss_without,
    others_say_something,
)
from madaline.doctor.sickness import Sickness, Symptom

NEARLY_ALL = 0.995
EASY = 0.15
"Without the column, a linear model has at most this fraction of the loss of a constant: the data are easy, not leaky."

COPY = 1.0 - 2e-4
"""From this squared correlation on, a column is the target itself in other units, whatever else there is. The rest is
rounding, or noise of about 1 %."""
RANKED = 0.5
"A monotone curve is fitted only to columns whose ranks agree at least like this with those of the target."
EXACT, FAR_BETTER = 0.002, 20.0
"For numbers: the column leaves less than this fraction of the variance, and all others leave this many times more."
ALMOST, MOST_LEFT, NOISY_BETTER, LEAST_LEFT, SOME = 0.95, 0.2, 3.0, 0.4, 0.9
"""For a column with noise: its score is above this, it leaves at most this fraction of the loss of a constant, all
others leave this many times more, with them at least this fraction of it is left, and they alone leave at most this
fraction of the loss of a constant."""


class TargetLeak(Sickness):
    """A column that gives the target away."""

    name = "target_leak"
    number = 9
    title = "One column gives the target away."
    severity = "error"
    proof = "fact"
    cause = 0
    why = (
        "A column that alone predicts the target with an AUC or R2 near 1 is often made from the target, or known "
        "only after it. The scores are then too good, and the net fails where the column is not yet known."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        X = np.concatenate([exam.columns, exam.problem.held.matrix])
        if X.shape[1] < 2 or len(X) < 50:
            return None
        scores = self._scores(exam, X)
        if scores is None:
            return None
        leaky = np.flatnonzero(scores > NEARLY_ALL)
        if not len(leaky):
            return self._noisy(exam, scores)
        if not 0 < len(leaky) <= max(1, X.shape[1] // 3):
            return None
        rest = loss_without(exam, leaky.tolist())
        if rest is None:
            return None
        left = (1.0 - float(scores.max())) * exam.constant_loss
        is_exact = exam.classes is None and rest > FAR_BETTER * left and left < EXACT * exam.constant_loss
        if rest < EASY * exam.constant_loss and not is_exact:
            return None
        # A target that depends on one column only is what a law looks like: a leak knows what other columns say, too.
        is_law = exam.classes is None and not self._is_copy(exam, X, leaky) and not others_say_something(exam, leaky)
        return Symptom(
            {"R2 or AUC of the column alone": float(scores.max()), "loss of a linear model without it": rest},
            exam.problem.names.at(leaky.tolist()),
            0.5 if is_law else 0.85,
            harm=0.0 if is_law else 1.0,
            columns=leaky.tolist(),
            severity="info" if is_law else None,
        )

    def _is_copy(self, exam: Exam, X: np.ndarray, columns: np.ndarray) -> bool:
        """Whether one of the columns is the target in other units."""
        y = np.concatenate([np.asarray(exam.problem.train.y), np.asarray(exam.problem.held.y)]).reshape(len(X))
        return bool(_squared_correlations(X[:, columns], y).max() > COPY)

    def _noisy(self, exam: Exam, scores: np.ndarray) -> Symptom | None:
        """A column that gives the target away with some noise.

        It is far better than all others together, they add little to it, and given the target they say nothing about
        it. A cause that dominates fails one of these.
        """
        column = int(np.argmax(scores))
        own = loss_of_column(exam, column) if scores[column] > ALMOST else np.inf
        if own > MOST_LEFT * exam.constant_loss or not is_made_from_target(exam, column):
            return None
        rest = loss_without(exam, [column])
        if rest is None or rest < NOISY_BETTER * own:
            return None
        rest = loss_without(exam, [column], with_net=True)
        whole = min(float(exam.held_losses(each).mean()) for each in (exam.before, exam.reference))
        if rest is None:
            return None
        is_downstream = exam.classes is not None or rest < SOME * exam.constant_loss
        if rest < NOISY_BETTER * own or whole < LEAST_LEFT * own or not is_downstream:
            return None
        return Symptom(
            {"loss of the column alone": own, "loss of a net without it": rest},
            exam.problem.names.at([column]),
            0.7,
            harm=1.0,
            columns=[column],
        )

    def _scores(self, exam: Exam, X: np.ndarray) -> np.ndarray | None:
        y = np.concatenate([np.asarray(exam.problem.train.y), np.asarray(exam.problem.held.y)])
        if exam.classes is not None and exam.held_classes is not None:
            classes = np.concatenate([exam.classes, exam.held_classes]).astype(int)
            each = [
                [
                    _either_end(X[:, j], classes == k)
                    for k in range(int(classes.max()) + 1)
                    if 0 < np.sum(classes == k) < len(X)
                ]
                for j in range(X.shape[1])
            ]
            return np.array([min(found, default=0.0) for found in each])
        y = y.reshape(len(y), -1)
        if y.shape[1] > 1 or exam.loss.out_activation != "identity" or not y.std():
            return None
        from scipy.stats import rankdata

        # Ranks as well: scaling may have bent the column. A target with ties has fewer ranks than the column.
        by_rank = _squared_correlations(rankdata(X, axis=0), rankdata(y[:, 0]))
        found = np.maximum(_squared_correlations(X, y[:, 0]), by_rank)
        for j in np.flatnonzero((found < NEARLY_ALL) & (by_rank > RANKED)):
            found[j] = max(found[j], explained_by_column(X[:, j], y[:, 0]))
        return found

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Ask whether the column is known before the target. If not, leave it out.",
                options=exam.problem.names.option("--ignore", symptom.columns),
            )
        ]


def _squared_correlations(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The squared correlation of each column with the target."""
    with np.errstate(all="ignore"):
        found = [np.corrcoef(X[:, j], y)[0, 1] ** 2 if X[:, j].std() else 0.0 for j in range(X.shape[1])]
    return np.asarray(np.nan_to_num(np.array(found)))


def _either_end(x: np.ndarray, is_class: np.ndarray) -> float:
    """How well a class is an interval of the column: by AUC, or by distance from the centre of the class."""
    centre = np.median(x[is_class])
    return max(rank_auc(x, is_class), rank_auc(-x, is_class), rank_auc(-np.abs(x - centre), is_class))
