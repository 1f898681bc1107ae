"""A net that predicts the same for every row."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.net_edits import scales_inputs
from madaline.doctor.sickness import Sickness, Symptom


class ConstantPrediction(Sickness):
    """A net that predicts the same for every row."""

    name = "constant_prediction"
    number = 31
    title = "The net predicts nearly the same for every row."
    cause = 8
    why = (
        "The outputs hardly vary with the inputs, so the loss is that of a constant: the mean, or the class "
        "frequencies. The signal is lost on the way through the net, or the first steps destroyed it."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        z = exam.outputs
        if z is None or not np.isfinite(z).all():
            return None
        if exam.held_classes is not None and exam.predicted_classes is not None:
            share = float(np.bincount(exam.predicted_classes).max() / len(z))
            truth = float(np.bincount(exam.held_classes.astype(int)).max() / len(z))
            if share < 0.95 or truth > 0.8:
                return None
            return Symptom(
                {"share of the most frequent prediction": share, "share of the most frequent class": truth},
                "the output",
                0.8,
            )
        y = np.asarray(exam.problem.held.y, dtype=np.float64).reshape(len(z), -1)
        if exam.loss.out_activation != "identity" or y.shape != z.shape:
            return None
        ratio = float(np.max(z.std(axis=0) / np.maximum(y.std(axis=0), 1e-12)))
        return (
            None if ratio > 0.1 else Symptom({"spread of predictions over that of targets": ratio}, "the output", 0.8)
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        scale = [] if scales_inputs(exam.setup.net) else [remedies.scaled_inputs(exam)]
        return [remedies.adam(exam), remedies.default_init(exam), *scale]
