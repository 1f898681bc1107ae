"""Labels that are probably wrong."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam, class_of
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

FEWEST_ROWS, FEWEST_WRONG = 60, 3
RATE, FLAT = 0.04, 0.3
"Fraction of the surest predictions that is wrong, and the same relative to all predictions."
LEARNED = 0.9
"The loss must be below this fraction of that of a constant: otherwise the net is not sure of anything."


class LabelErrors(Sickness):
    """Labels that are probably wrong."""

    name = "label_errors"
    number = 41
    title = "Some labels are probably wrong."
    severity = "info"
    proof = "fact"
    why = (
        "Where classes overlap, errors are rare among the predictions with the highest p(class) and frequent among "
        "the others. Here they are frequent among the surest third of the held-out rows, too, as if labels were "
        "exchanged at random."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.held_classes is None:
            return None
        outputs, classes = _best_outputs(exam)
        if outputs is None or len(outputs) < FEWEST_ROWS:
            return None
        p = np.asarray(exam.loss.predict(outputs))
        p = np.column_stack([1 - p, p]) if p.shape[1] == 1 else p
        is_wrong = p.argmax(axis=1) != classes.astype(int)
        surest = np.argsort(-p.max(axis=1), kind="stable")[: len(p) // 3]
        count, rate, of_all = int(is_wrong[surest].sum()), float(is_wrong[surest].mean()), float(is_wrong.mean())
        if count < FEWEST_WRONG or rate < RATE or rate < FLAT * of_all:
            return None
        return Symptom(
            {"wrong among the surest third": rate, "wrong among all": of_all, "rows": count},
            "the targets",
            0.6,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "List suspicious rows with md.doctor.find_label_errors(trainer_or_estimator, X, y), look at them, and "
                "correct labels that are wrong."
            )
        ]


def _best_outputs(exam: Exam) -> tuple[np.ndarray | None, np.ndarray]:
    """Raw outputs for the held-out rows, of the run or of a net with usual settings, whichever has the lower loss.

    With few held-out rows those of the further splits are added. The second array has the classes of the rows.
    """
    own = float(exam.held_losses(exam.before).mean())
    usual = float(exam.held_losses(exam.reference).mean())
    model = exam.before.model if own < usual else exam.reference.model
    y = np.asarray(exam.problem.held.y)
    found: np.ndarray | None = None
    if min(own, usual) <= LEARNED * exam.constant_loss and model is not None:
        found = np.asarray(model(exam.problem.held.X), dtype=np.float64).reshape(len(y), -1)
        if own < usual:
            found, y = exam.with_folds(found, y)
    classes = class_of(exam.loss, y, exam.n_outputs)
    is_usable = found is not None and classes is not None and bool(np.isfinite(found).all())
    return (found if is_usable else None), np.zeros(0) if classes is None else classes
