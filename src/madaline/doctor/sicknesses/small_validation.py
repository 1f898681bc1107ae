"""A validation set that is too small to compare with."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST = 100


class SmallValidation(Sickness):
    """A validation set that is too small to compare with."""

    name = "small_validation"
    number = 12
    title = "The validation set is small."
    severity = "info"
    proof = "fact"
    why = (
        "The mean over n rows has a standard error of s / sqrt(n). Differences smaller than twice that are chance, "
        "also those that early stopping acts on."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        held = exam.problem.validation
        if held is None or len(held) >= FEWEST or exam.model is None:
            return None
        losses = exam.losses_of(exam.model, held)
        error = float(np.std(losses) / np.sqrt(len(held)))
        return Symptom({"rows": len(held), "standard error of the loss": error}, "the validation set", 0.9)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Use a larger validation set, or cross-validation.",
                options="--validation 0.3",
                python="fit(..., validation=0.3)",
            )
        ]
