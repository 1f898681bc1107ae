"""Rectifiers that are 0 for every row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

SHARE = 0.4
FROM_INIT, NEARLY_ALL = 4, 0.9
"""Place among causes if the units are 0 before the first step: initial weights are then at fault, and no step. From
this fraction of a layer on, that is wrong by any standard."""
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
        dead = _dead(exam, exam.final_activations)
        if not dead or max(dead.values()) < SHARE:
            return None
        worst = max(dead, key=lambda path: dead[path])
        units = exam.final_activations[worst].shape[1]
        at_start = max(_dead(exam, exam.start_activations).values(), default=0.0)
        return Symptom(
            {"fraction of dead units": dead[worst], "units": units},
            f"layer {worst!r}, {round(dead[worst] * units)} of {units} units",
            0.8,
            Picture("dead units by layer", list(dead.values())),
            is_certain=at_start > NEARLY_ALL,
            cause=FROM_INIT if at_start > SHARE else None,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        activation, init = remedies.activation(exam, "leaky_relu"), remedies.default_init(exam)
        if symptom.cause == FROM_INIT:
            return [init, activation]
        return [activation, init, remedies.rate_times(exam, 0.1)]


def _dead(exam: Exam, activations: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The fraction of dead units of each layer of rectifiers."""
    functions = exam.functions()
    return {
        path: float(np.mean(~(outputs > 0).any(axis=0)))
        for path, outputs in activations.items()
        if functions.get(path) in RECTIFIERS and np.isfinite(outputs).all()
    }
