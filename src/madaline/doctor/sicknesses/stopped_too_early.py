"""Early stopping that ended training too soon."""

from __future__ import annotations

from dataclasses import replace

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

PATIENCE = 10
SHORT = 2
"With this patience, chance alone ends a training that is still learning; less harm is needed to report it."


LARGE_DELTA = 0.01
"Fraction of the first loss; improvements smaller than min_delta do not count, so a large one ends training early."


class StoppedTooEarly(Sickness):
    """Early stopping that ended training too soon."""

    name = "stopped_too_early"
    number = 30
    title = "Early stopping ended training too soon."
    cause = 3
    why = (
        "The score of a small validation set has a standard error of about s / sqrt(n), so it may not improve for "
        "several epochs by chance. A patience shorter than that stops a net that is still learning."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        rule = exam.setup.early_stopping
        history = exam.before.history
        if rule is None or history.stopped != "early stopping" or rule.patience >= 2 * PATIENCE:
            return None
        is_impatient = rule.patience <= SHORT or rule.min_delta > LARGE_DELTA * _first_loss(exam)
        return Symptom(
            {"patience": rule.patience, "epochs": history.n_rows},
            f"epoch {history.n_rows}",
            0.7,
            Picture("validation loss", history["val_loss"].tolist()) if "val_loss" in history else None,
            min_gain_factor=0.3 if is_impatient else 1.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        rule = exam.setup.early_stopping
        assert rule is not None
        patience = max(3 * PATIENCE, 4 * rule.patience)
        longer = replace(rule, patience=patience, min_delta=0.0, metric="val_loss", mode="auto")
        return [
            Remedy(
                f"Wait longer, and watch the loss: patience {patience} on val_loss.",
                lambda setup: replace(setup, early_stopping=longer, epochs=max(setup.epochs, 200)),
                {"n_iter_no_change": patience, "tol": 0.0},
                f"--patience {patience}",
            )
        ]


def _first_loss(exam: Exam) -> float:
    history = exam.before.history
    return abs(float(history["val_loss"][0])) if "val_loss" in history and history.n_rows else 1.0
