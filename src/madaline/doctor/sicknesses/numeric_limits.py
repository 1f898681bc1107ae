"""Results that depend on the precision of numbers."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

DIFFERENCE = 1e-3
DENORMAL = 0.01
"Fraction of the inputs that may be smaller than the smallest normal number, where digits are lost."


class NumericLimits(Sickness):
    """Results that depend on the precision of numbers."""

    name = "numeric_limits"
    number = 40
    title = "float32 is not precise enough for these numbers."
    severity = "info"
    proof = "fact"
    why = (
        "float32 has 7 digits: a sum of numbers of size 1e6 is exact to about 0.1 only. The loss computed in "
        "float64 differs from that in float32. Below 1e-38 digits are lost as well."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        model = exam.model
        if model is None or model.network.dtype != np.float32 or not np.isfinite(model.params.flat).all():
            return None
        sample = exam.problem.train
        size = np.abs(exam.columns)
        denormal = float(np.mean((size > 0) & (size < np.finfo(np.float32).tiny))) if size.size else 0.0
        if denormal > DENORMAL:
            return Symptom({"fraction of inputs below the smallest normal number": denormal}, "the inputs", 0.9)
        own = exam.mean_loss(model, sample)
        with np.errstate(all="ignore"):
            wide = float(
                np.mean(exam.loss(model.with_parameters(model.params.flat.astype(np.float64))(sample.X), sample.y))
            )
        difference = abs(own - wide) / max(abs(wide), 1e-12)
        if difference < DIFFERENCE or abs(own - wide) < 1e-5 * abs(exam.constant_loss) or not np.isfinite(difference):
            return None
        return Symptom({"loss in float32": own, "loss in float64": wide}, "arithmetic", 0.9)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Scale inputs and target, or train in float64.",
                python="Trainer(..., dtype='float64')",
                parameters={"dtype": "float64"},
            )
        ]
