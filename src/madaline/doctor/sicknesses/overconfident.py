"""Probabilities that are too extreme."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST, LOW, HIGH = 200, 0.8, 1.25


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
        z, y = exam.outputs, exam.problem.held.y
        if (
            z is None
            or exam.loss.out_activation not in ("softmax", "sigmoid")
            or len(z) < FEWEST
            or not np.isfinite(z).all()
        ):
            return None
        temperatures = np.geomspace(0.25, 16.0, 49)
        losses = [float(exam.loss(z / T, y)) for T in temperatures]
        best = int(np.argmin(losses))
        own = float(exam.loss(z, y))
        is_learned = losses[best] < 0.97 * exam.constant_loss
        if LOW <= temperatures[best] <= HIGH or losses[best] > 0.97 * own or not is_learned:
            return None
        evidence = {"temperature": float(temperatures[best]), "loss": own, "loss with this temperature": losses[best]}
        return Symptom(evidence, "the output", 0.8)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        T = symptom.evidence["temperature"]
        return [Remedy(f"Divide the outputs by {T:.2g} before softmax or sigmoid.")]
