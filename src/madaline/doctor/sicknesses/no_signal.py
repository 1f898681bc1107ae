"""A target that the inputs say nothing about."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST = 100
NOT_CHANCE = 0.1
"A loss that is lower by this fraction may be more than chance, also if the held-out rows are too few to be sure."


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
        before = exam.held_losses(exam.before)
        rows = [before, exam.linear]
        if any(_is_better(found, exam.constant) for found in rows):
            return None
        reference = exam.held_losses(exam.reference)
        if _is_better(reference, exam.constant) or exam.reference.diverged:
            return None
        return Symptom(
            {
                "loss": float(before.mean()),
                "loss of a constant": exam.constant_loss,
                "loss of a linear model": float(exam.linear.mean()),
                "loss with usual settings": float(reference.mean()),
            },
            "the target",
            0.8,
            harm=0.6,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [Remedy("Check that row i of X and row i of y belong together, and look for other columns.")]


def _is_better(found: np.ndarray, constant: np.ndarray) -> bool:
    d = constant - np.minimum(found, 10 * np.abs(constant).mean() + constant)
    is_sure = d.mean() > 2.0 * d.std() / np.sqrt(len(d)) and d.mean() > 0.005 * abs(constant.mean())
    return bool(is_sure or d.mean() > NOT_CHANCE * abs(constant.mean()))
