"""Rectifiers that are 0 for every row."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

SHARE = 0.4
RECTIFIERS = ("relu", "relu6", "threshold", "shifted_relu")


class DeadUnits(Sickness):
    """Rectifiers that are 0 for every row."""

    name = "dead_units"
    number = 24
    title = "Many units are 0 for every row."
    cause = 7
    min_gain = 0.12
    why = (
        "A rectifier max(0, z) has slope 0 for z < 0: a unit with z < 0 for all rows gets no gradient and cannot "
        "recover. It contributes nothing, as if the layer were narrower."
    )
    concept = "activations.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        functions = exam.functions()
        dead = {
            path: float(np.mean(~(outputs > 0).any(axis=0)))
            for path, outputs in exam.final_activations.items()
            if functions.get(path) in RECTIFIERS and np.isfinite(outputs).all()
        }
        if not dead or max(dead.values()) < SHARE:
            return None
        worst = max(dead, key=lambda path: dead[path])
        units = exam.final_activations[worst].shape[1]
        return Symptom(
            {"fraction of dead units": dead[worst], "units": units},
            f"layer {worst!r}, {round(dead[worst] * units)} of {units} units",
            0.8,
            Picture("dead units by layer", list(dead.values())),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.activation(exam, "leaky_relu"), remedies.default_init(exam), remedies.rate_times(exam, 0.1)]
