"""Training that ended while the loss was still falling."""

from __future__ import annotations

from madaline.doctor import remedies
from madaline.doctor.curves import still_falling
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom
from madaline.doctor.sicknesses.too_few_steps import ENOUGH, VERY_FEW, has_large_batches

FEW_EPOCHS = 6
"After so few epochs less harm is needed to report it."


class NotConverged(Sickness):
    """Training that ended while the loss was still falling."""

    name = "not_converged"
    number = 29
    title = "Training ended while the loss was still falling."
    cause = 6
    min_gain = 0.2
    why = (
        "The loss on held-out rows was at its lowest in the last epoch and still falling: more steps are expected "
        "to lower it further. Training had not reached a minimum, where dL/dw = 0."
    )
    concept = "guides/training.md"
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.setup.learning_rate is None or exam.is_limited:
            return None
        history = exam.history
        column = "val_loss" if "val_loss" in history else "loss"
        if column not in history or history.stopped == "diverged" or exam.stopped_early:
            return None
        loss = history[column]
        if not still_falling(loss) and len(loss) >= 5:
            return None
        steps = exam.setup.steps(exam.problem.n_train)
        return Symptom(
            {"epochs": len(loss), "last loss": float(loss[-1])},
            f"epoch {len(loss)}",
            0.7,
            Picture("held-out loss", loss.tolist()),
            is_certain=steps < VERY_FEW // 2 and not has_large_batches(exam),
            min_gain_factor=0.3 if steps < VERY_FEW else 0.5 if len(loss) <= FEW_EPOCHS else 1.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        enough = -(-ENOUGH // exam.setup.steps(exam.problem.n_train))
        factors = sorted({4, 10, enough} if enough > 10 else {4, 10})
        return [remedies.more_epochs(exam, factor) for factor in factors]
