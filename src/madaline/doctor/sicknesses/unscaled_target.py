"""A regression target far from mean 0 and standard deviation 1."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom


class UnscaledTarget(Sickness):
    """A regression target far from mean 0 and standard deviation 1."""

    name = "unscaled_target"
    number = 4
    title = "The target is not scaled."
    severity = "error"
    cause = 1
    why = (
        "The output starts near 0, so the net first has to move by |mean(y)| / std(y), at a speed that the learning "
        "rate limits. The gradient of the squared error, 2 (z - y), grows with the unit of the target."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.loss.out_activation != "identity" or exam.classes is not None:
            return None
        y = np.asarray(exam.problem.train.y, dtype=np.float64).reshape(len(exam.problem.train), -1)
        mean, std = np.abs(y.mean(axis=0)), y.std(axis=0)
        if not (std > 0).all():
            return None
        size = float(np.sqrt(np.mean(y**2, axis=0)).max())  # the way from outputs near 0
        offset, largest, smallest = float(np.max(mean / std)), float(std.max()), float(std.min())
        if offset < 4.0 and largest < 10.0 and smallest > 0.03:
            return None
        return Symptom(
            {
                "mean over standard deviation": offset,
                "largest standard deviation": largest,
                "smallest standard deviation": smallest,
            },
            "the target",
            is_certain=offset > 10.0 or size > 100.0 or smallest < 0.01,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.scaled_target(exam)]

    def last_resorts(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        # The rate of plain gradient descent was often lowered until training no longer diverged.
        return [] if remedies.scales_steps(exam) else [remedies.scaled_target(exam, with_adam=True)]
