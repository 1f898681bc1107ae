"""Rows of the validation set that are in the training set, too."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

SHARE = 0.02


class SplitDuplicates(Sickness):
    """Rows of the validation set that are in the training set, too."""

    name = "split_duplicates"
    number = 10
    title = "The training and the validation set share rows."
    severity = "error"
    proof = "fact"
    cause = 0
    why = (
        "A validation row that was trained on can be known by heart, so its loss does not estimate that of new "
        "rows. Early stopping and all comparisons are then too optimistic."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        held = exam.problem.validation
        if held is None or not exam.columns.shape[1]:
            return None
        train, other = exam.columns, held.matrix
        distinct = [len(np.unique(train[:, j])) for j in range(train.shape[1])]
        if sum(np.log(distinct)) < np.log(100.0 * len(train)) or max(distinct) < 0.2 * len(train):
            return None  # few possible rows repeat by chance
        known = {row.tobytes() for row in np.ascontiguousarray(train)}
        shared = np.array([row.tobytes() in known for row in np.ascontiguousarray(other)])
        # Of a sample of the training set, only a part of the duplicates is seen.
        share = float(shared.mean()) * exam.problem.n_train / max(len(train), 1)
        if share < SHARE or shared.sum() < 3:
            return None
        return Symptom(
            {"fraction of validation rows in the training set": min(share, 1.0)},
            f"validation rows {', '.join(map(str, np.flatnonzero(shared)[:5]))} ...",
            0.95,
            harm=0.9,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Drop duplicates before splitting, or keep all rows of a group in one set.", options="--group COLUMN"
            )
        ]
