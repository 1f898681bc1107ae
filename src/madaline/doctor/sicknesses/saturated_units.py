"""Bounded units at the ends of their range."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.net_edits import scales_inputs
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

ENDS = {
    "tanh": (-0.97, 0.97),
    "sigmoid": (0.02, 0.98),
    "hard_tanh": (-0.99, 0.99),
    "hard_sigmoid": (0.01, 0.99),
    "softsign": (-0.95, 0.95),
}
SHARE = 0.4


class SaturatedUnits(Sickness):
    """Bounded units at the ends of their range."""

    name = "saturated_units"
    number = 26
    title = "Many units are saturated."
    cause = 3
    why = (
        "The slope of tanh is 1 - y^2 and that of the sigmoid y (1 - y): both are near 0 at the ends of the range. "
        "Saturated units pass no gradient on, so the weights before them hardly learn."
    )
    concept = "activations.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        functions = exam.functions()
        found = {}
        for path in exam.final_activations:
            if functions.get(path) in ENDS:
                low, high = ENDS[functions[path]]
                shares = [
                    float(np.mean(((y < low) | (y > high)).mean(axis=0) > 0.8))
                    for y in (exam.start_activations.get(path), exam.final_activations[path])
                    if y is not None
                ]
                found[path] = max(shares)
        if not found or max(found.values()) < SHARE:
            return None
        worst = max(found, key=lambda path: found[path])
        return Symptom(
            {"fraction of saturated units": found[worst]},
            f"layer {worst!r}",
            0.8,
            Picture("saturated units by layer", list(found.values())),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        scale = [] if scales_inputs(exam.setup.net) else [remedies.scaled_inputs(exam)]
        return [remedies.default_init(exam), *scale, remedies.activation(exam, "relu")]
