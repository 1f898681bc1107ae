"""A first loss far above that of a constant."""

from __future__ import annotations

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

RATIO = 4.0


class InitialLoss(Sickness):
    """A first loss far above that of a constant."""

    name = "initial_loss"
    number = 16
    title = "The first loss is far above that of a constant prediction."
    cause = 6
    min_gain = 0.15
    why = (
        "A net that knows nothing should predict the mean or the class frequencies: L0 is then the loss of a "
        "constant, log K for K balanced classes. A larger L0 means that steps are spent on unlearning confident "
        "first outputs."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.start is None:
            return None
        first = exam.mean_loss(exam.start, exam.problem.train)
        constant = exam.constant_loss
        if np.isfinite(first) and first < RATIO * constant + 1e-3:
            return None
        return Symptom({"first loss": first, "loss of a constant prediction": constant}, "the output layer")

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Let the last layer start at 0: md.Linear(n, init='zeros').",
                lambda setup: setup.with_net(nets.with_zero_output(setup.net)),
            )
        ]
