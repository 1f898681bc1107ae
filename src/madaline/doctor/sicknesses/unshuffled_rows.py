"""Sorted rows that are not shuffled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

PURE = 0.6
"Spread of the targets within mini-batches, relative to that of all rows."


class UnshuffledRows(Sickness):
    """Sorted rows that are not shuffled."""

    name = "unshuffled_rows"
    number = 14
    title = "Rows are sorted by the target and not shuffled."
    cause = 1
    min_gain = 0.05
    why = (
        "The gradient of a mini-batch estimates that of all rows only if the batch is a random sample. Mini-batches "
        "of one class pull the net to that class, and the last ones of an epoch are remembered best."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        setup = exam.setup
        y = np.asarray(exam.problem.targets)
        if setup.shuffle or setup.batch_size is None or setup.batch_size >= len(y):
            return None
        y = (y if y.ndim == 1 else y.argmax(axis=1) if exam.classes is not None else y[:, 0]).astype(np.float64)
        if exam.classes is not None:
            y = np.eye(int(y.max()) + 1)[y.astype(int)]
        y = y.reshape(len(y), -1)
        batches = np.array_split(y, np.arange(setup.batch_size, len(y), setup.batch_size))
        within = float(np.mean([batch.var(axis=0).sum() for batch in batches if len(batch) > 1]))
        ratio = within / max(float(y.var(axis=0).sum()), 1e-12)
        if ratio > PURE:
            return None
        return Symptom(
            {"variance of the target within mini-batches, relative to all rows": ratio},
            "order of the rows",
            0.9,
            is_certain=True,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Shuffle the rows in every epoch: shuffle=True.",
                lambda setup: replace(setup, shuffle=True),
                {"shuffle": True},
            )
        ]
