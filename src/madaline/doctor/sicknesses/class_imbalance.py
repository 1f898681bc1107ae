"""A rare class that is never predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.functional.model import Model

RATIO, RECALL, FEWEST = 8.0, 0.4, 25
LEAST, ENOUGH = 0.1, 0.65
"With class weights, this net or one with usual settings has a mean recall larger by this, and at least this one."


class ClassImbalance(Sickness):
    """A rare class that is never predicted."""

    name = "class_imbalance"
    number = 8
    title = "A rare class is hardly ever predicted."
    proof = "fact"
    cause = 0
    why = (
        "The mean loss weighs each row alike, so a class with a share of 1 % contributes 1 % of it. The net can "
        "ignore the class at little cost."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        classes, held = exam.classes, exam.held_classes
        if classes is None or held is None or exam.setup.class_weight is not None or exam.model is None:
            return None
        counts = np.bincount(classes.astype(int))
        if len(counts) < 2 or counts.min() == 0 or counts.max() / counts.min() < RATIO:
            return None
        rare = int(counts.argmin())
        rows = held == rare
        if counts[rare] + rows.sum() < FEWEST or rows.sum() < 5:
            return None
        recall, balanced = _recalls(exam, exam.model)
        if recall[rare] > RECALL:
            return None
        better, after = recall, balanced
        for setup in (exam.setup, exam.reference.setup):
            weighted = replace(setup, class_weight="balanced").limited(len(classes), exam.max_steps)
            model = exam.run(weighted).model
            if model is not None and after < max(balanced + LEAST, ENOUGH):
                better, after = _recalls(exam, model)
        if after < balanced + LEAST or after < ENOUGH:
            return None
        return Symptom(
            {
                "recall of the rare class": recall[rare],
                "recall with class weights": better[rare],
                "largest over smallest class": float(counts.max() / counts.min()),
            },
            exam.problem.names.class_at(rare),
            0.9,
            harm=after - balanced,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Give the classes equal weight: class_weight='balanced'.",
                lambda setup: replace(setup, class_weight="balanced"),
                {"class_weight": "balanced"},
                "--class-weight balanced",
                "fit(..., class_weight='balanced')",
            )
        ]


def _recalls(exam: Exam, model: Model) -> tuple[list[float], float]:
    z = np.asarray(model(exam.problem.held.X)).reshape(len(exam.problem.held), -1)
    predicted = (z[:, 0] > 0).astype(int) if z.shape[1] == 1 else z.argmax(axis=1)
    truth = np.asarray(exam.held_classes)
    found = [
        float(np.mean(predicted[truth == k] == k)) if (truth == k).any() else 0.0 for k in range(int(truth.max()) + 1)
    ]
    return found, float(np.mean(found))
