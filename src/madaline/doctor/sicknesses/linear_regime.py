"""Rectifiers that are never 0."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom


class LinearRegime(Sickness):
    """Rectifiers that are never 0."""

    name = "linear_regime"
    number = 25
    title = "Nearly all rectifiers are always on: the net is linear."
    severity = "info"
    proof = "fact"
    why = (
        "A rectifier max(0, z) with z > 0 for all rows is the identity. A layer of such units is linear and adds "
        "nothing that the next linear layer could not do."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        functions = exam.functions()
        on = {
            path: float(np.mean((y > 0).mean(axis=0) > 0.99))
            for path, y in exam.final_activations.items()
            if functions.get(path) in ("relu", "relu6")
        }
        if not on or max(on.values()) < 0.8:
            return None
        worst = max(on, key=lambda path: on[path])
        return Symptom({"fraction of units that are always on": on[worst]}, f"layer {worst!r}", 0.9)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.scaled_inputs(exam)]
