"""Early stopping that ended training too soon."""

from __future__ import annotations

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom
from madaline.train.stopping import EarlyStopping

PATIENCE = 10
SHORT = 2
"With this patience, chance alone ends a training that is still learning; less harm is needed to report it."


PATIENT = 1.5
"With a usual patience, more harm is needed: which epochs have the lowest validation loss is partly chance."
OF_TRAINING_LOSS = 2.5
"A training loss that no longer falls is a usual end, as in scikit-learn: more harm is needed to report it."
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
        if rule is None or not exam.stopped_early:
            return None
        history = exam.before.history if exam.run_history is None else exam.run_history
        column = "val_loss" if "val_loss" in history else "loss"
        is_large = rule.min_delta > LARGE_DELTA * abs(float(history[column][0]))
        if rule.patience >= 2 * PATIENCE and not is_large:
            return None
        is_usual = rule.patience > SHORT and not is_large
        evidence = {"patience": rule.patience, "epochs": history.n_rows}
        return Symptom(
            evidence | ({"smallest change that counts": rule.min_delta} if is_large else {}),
            f"epoch {history.n_rows}",
            0.7,
            Picture("validation loss" if column == "val_loss" else "loss", history[column].tolist()),
            min_gain_factor=_factor(rule) if is_usual else 0.3,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        rule = exam.setup.early_stopping
        assert rule is not None
        return [remedies.more_patience(exam, rule, max(3 * PATIENCE, 4 * rule.patience))]


def _factor(rule: EarlyStopping) -> float:
    """The factor of the gain that waiting longer must have."""
    return OF_TRAINING_LOSS if rule.metric == "loss" else PATIENT if rule.patience >= PATIENCE else 1.0
