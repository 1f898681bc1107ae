"""Probabilities that are too extreme."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST, LOW, HIGH = 30, 0.8, 1.25
LEAST = 0.03
"Part of the loss that the temperature must take away."
SURE = 2.0
"Standard errors of the gain of a temperature that was chosen on the other half of the rows."


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
        rows = np.stack([np.asarray(exam.loss(z / T, y, reduction="none"), dtype=np.float64) for T in temperatures])
        losses = rows.mean(axis=1)
        best = int(np.argmin(losses))
        own_rows = np.asarray(exam.loss(z, y, reduction="none"), dtype=np.float64)
        own = float(own_rows.mean())
        is_learned = losses[best] < (1 - LEAST) * exam.constant_loss
        if LOW <= temperatures[best] <= HIGH or losses[best] > (1 - LEAST) * own or not is_learned:
            return None
        if not _is_sure(own_rows, rows):
            return None
        evidence = {
            "temperature": float(temperatures[best]),
            "loss": own,
            "loss with this temperature": float(losses[best]),
        }
        return Symptom(evidence, "the output", 0.8)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        T = symptom.evidence["temperature"]
        return [Remedy(f"Divide the outputs by {T:.2g} before softmax or sigmoid.")]


def _is_sure(own: np.ndarray, rows: np.ndarray) -> bool:
    """Whether temperatures that are chosen on one half of the rows help on the other half, beyond chance."""
    fold = np.random.default_rng(0).permutation(len(own)) % 2
    gains = np.zeros(len(own))
    for half in (0, 1):
        best = int(np.argmin(rows[:, fold != half].mean(axis=1)))
        gains[fold == half] = own[fold == half] - rows[best, fold == half]
    return bool(gains.mean() > SURE * gains.std() / np.sqrt(len(own)))
