"""Columns with a few extreme values."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.columns import is_measured
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.net_edits import after_scaling, scales_inputs
from madaline.doctor.sickness import Sickness, Symptom

FAR = 30.0
"Distance from the median, in quartile ranges."
PRESSED = 22.0
"""Standard deviation in quartile ranges: scaling by it presses the other rows together. Columns of real records, such
as amounts of money, have smaller ones; that bounding them helps is information."""
REPEATED = 0.5
"Part of the rows that may have the same value: in a column that hardly varies, the others look far away."
RARE = 0.05
"""Part of the rows at either end that may differ from all others. Such a column has no quartile range, so that of the
other columns takes its place, or the size that a net expects of its inputs, 1, unless the net scales its columns."""
SHOWN = 3


class HeavyTails(Sickness):
    """Columns with a few extreme values."""

    name = "heavy_tails"
    number = 3
    title = "A few extreme values dominate some columns."
    cause = 2
    min_gain = 0.2
    is_relaxed = False  # real tables have extreme values, and bounding them often helps a little
    why = (
        "A row with |x - median| far above the quartile range has a gradient as much larger, dL/dW = x^T delta, and "
        "decides the step. Scaling by the standard deviation then presses all other rows together."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        X = exam.columns
        far, pressed, rare = {}, 0.0, []
        for column in range(X.shape[1]):
            x = X[:, column]
            if is_measured(x) and np.unique(x, return_counts=True)[1].max() < REPEATED * len(x):
                low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
                if high > low:
                    far[column] = float(np.max(np.abs(x - middle)) / (high - low))
                    pressed = max(pressed, float(x.std() / (high - low)))
            elif np.ptp(np.quantile(x, (RARE, 1 - RARE))) == 0 < np.ptp(x):
                rare.append(column)
        if rare and not scales_inputs(exam.setup.net):
            Z = after_scaling(exam.setup.net, X)
            unit = _usual_range(Z[:, list(far)])
            far |= {column: float(np.max(np.abs(Z[:, column] - np.median(Z[:, column])))) / unit for column in rare}
            pressed = max(pressed, float(Z[:, rare].std(axis=0).max()) / unit)
        far = {column: value for column, value in far.items() if value > FAR}
        if not far:
            return None
        worst = sorted(far, key=lambda column: -far[column])
        return Symptom(
            {"largest distance from the median in quartile ranges": max(far.values()), "columns": len(far)},
            exam.problem.names.at(sorted(worst[:SHOWN]), others=len(worst[SHOWN:])),
            severity=None if pressed > PRESSED else "info",
            columns=worst,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.clipped_inputs(exam)]


def _usual_range(X: np.ndarray) -> float:
    """The quartile range of most columns, at least 1."""
    return max(1.0, float(np.median(np.ptp(np.quantile(X, (0.25, 0.75), axis=0), axis=0)))) if X.shape[1] else 1.0
