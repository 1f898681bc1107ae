"""Probabilities that are too extreme."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam, is_sure
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST, LOW, HIGH = 200, 0.8, 1.25
FEW, SURE = 100, 3.0
"""With fewer held-out rows, those of further splits count as well: there must be this many, and the gain must be this
many standard errors."""


class Overconfident(Sickness):
    """Probabilities that are too extreme."""

    name = "overconfident"
    number = 33
    title = "Predicted probabilities are too extreme, or not extreme enough."
    severity = "info"
    proof = "fact"
    why = (
        "Dividing the outputs by a temperature T, p = softmax(z / T), lowers the loss on held-out rows. The predicted "
        "classes stay the same; only the probabilities change: T above 1 makes them less extreme."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        z, y = exam.outputs, np.asarray(exam.problem.held.y)
        if z is None or exam.loss.out_activation not in ("softmax", "sigmoid"):
            return None
        is_few = len(z) < FEWEST
        if is_few:
            z, y = exam.with_folds(z, y)
        if len(z) < FEW or not np.isfinite(z).all():
            return None
        temperatures = np.geomspace(0.25, 16.0, 49)
        losses = [float(exam.loss(z / T, y)) for T in temperatures]
        best = int(np.argmin(losses))
        own = float(exam.loss(z, y))
        is_learned = losses[best] < 0.97 * exam.constant_loss
        if is_few and not is_sure(
            exam.loss(z, y, reduction="none") - exam.loss(z / temperatures[best], y, reduction="none"), SURE
        ):
            return None
        if LOW <= temperatures[best] <= HIGH or losses[best] > 0.97 * own or not is_learned:
            return None
        evidence = {"temperature": float(temperatures[best]), "loss": own, "loss with this temperature": losses[best]}
        return Symptom(evidence, "the output", 0.8)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        T = symptom.evidence["temperature"]
        return [Remedy(f"Divide the outputs by {T:.2g} before softmax or sigmoid.")]
