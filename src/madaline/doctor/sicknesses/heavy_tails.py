"""Columns with a few extreme values."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.columns import is_measured
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FAR = 30.0
"Distance from the median, in quartile ranges."


class HeavyTails(Sickness):
    """Columns with a few extreme values."""

    name = "heavy_tails"
    number = 3
    title = "A few extreme values dominate some columns."
    cause = 2
    min_gain = 0.05
    why = (
        "A row with |x - median| far above the quartile range has a gradient as much larger, dL/dW = x^T delta, and "
        "decides the step. Scaling by the standard deviation then presses all other rows together."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        X = exam.columns
        found = {}
        for column in range(X.shape[1]):
            x = X[:, column]
            if is_measured(x):
                low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
                if high > low:
                    found[column] = float(np.max(np.abs(x - middle)) / (high - low))
        far = {column: value for column, value in found.items() if value > FAR}
        if not far:
            return None
        worst = sorted(far, key=lambda column: -far[column])[:3]
        return Symptom(
            {"largest distance from the median in quartile ranges": max(far.values()), "columns": len(far)},
            exam.problem.names.at(worst),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.clipped_inputs(exam)]
