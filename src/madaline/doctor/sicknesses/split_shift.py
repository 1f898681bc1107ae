"""A validation set that differs from the training set."""

from __future__ import annotations

import numpy as np

from madaline.doctor.columns import is_measured, shift_auc
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

AUC = 0.72
FEWEST = 40


class SplitShift(Sickness):
    """A validation set that differs from the training set."""

    name = "split_shift"
    number = 11
    title = "The validation set differs from the training set."
    proof = "fact"
    cause = 0
    why = (
        "A classifier tells validation rows from training rows by their inputs, so the two sets come from different "
        "distributions. The validation loss then says little about training, and early stopping watches the wrong "
        "rows."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        held = exam.problem.validation
        if held is None or len(held) < FEWEST or not exam.columns.shape[1]:
            return None
        columns = [j for j in range(exam.columns.shape[1]) if is_measured(exam.columns[:, j])]
        if not columns:
            return None
        auc, error = shift_auc(exam.columns[:, columns], held.matrix[:, columns])
        if auc < AUC or auc - 0.5 < 4 * error:
            return None
        gaps = np.abs(held.matrix[:, columns].mean(axis=0) - exam.columns[:, columns].mean(axis=0))
        gaps = gaps / np.maximum(exam.columns[:, columns].std(axis=0), 1e-12)
        return Symptom(
            {"AUC of training against validation rows": auc, "largest shift in standard deviations": float(gaps.max())},
            exam.problem.names.at([columns[int(gaps.argmax())]]),
            0.85,
            harm=0.8,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Split the rows at random, or by time if the net is to predict the future.",
                options="--when COLUMN",
                python="fit(..., validation=0.2)",
            )
        ]
