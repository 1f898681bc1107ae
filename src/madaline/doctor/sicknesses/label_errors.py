"""Labels that are probably wrong."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST, MOST = 100, 20


class LabelErrors(Sickness):
    """Labels that are probably wrong."""

    name = "label_errors"
    number = 41
    title = "Some labels are probably wrong."
    severity = "info"
    proof = "fact"
    why = (
        "For these held-out rows the net is almost sure of another class: p(label) < 0.05 and p(other) > 0.9. There "
        "are several times more of them than its probabilities imply."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        z, classes = exam.outputs, exam.held_classes
        if z is None or classes is None or len(z) < FEWEST or not np.isfinite(z).all():
            return None
        p = np.asarray(exam.loss.predict(z))
        p = np.column_stack([1 - p, p]) if p.shape[1] == 1 else p
        own, best = p[np.arange(len(p)), classes.astype(int)], p.max(axis=1)
        wrong = np.flatnonzero((own < 0.05) & (best > 0.9))
        expected = float(np.sum((1 - best)[best > 0.9]))
        if len(wrong) < 4 or len(wrong) < 3 * expected:
            return None
        rows = wrong[np.argsort(own[wrong])][:MOST]
        return Symptom(
            {"rows": len(wrong), "expected rows": expected}, f"held-out rows {', '.join(map(str, rows))}", 0.6
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [Remedy("Look at these rows, and correct labels that are wrong.")]
