"""Too few updates of the parameters."""

from __future__ import annotations

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

STEPS = 400
VERY_FEW = 100
"Hardly any sound run has so few steps, so that less harm is needed to report it."
BATCH, USUAL_BATCH = 32, 256
ENOUGH = 1000
"Steps of a training that is tried."
FEW_EPOCHS = 30


class TooFewSteps(Sickness):
    """Too few updates of the parameters."""

    name = "too_few_steps"
    number = 15
    title = "Training takes too few steps."
    cause = 6
    min_gain = 0.2
    is_relaxed = False  # sound runs on few rows take few steps, and more of them often help a little
    why = (
        "Each step moves a weight by about the learning rate at most, so n steps move it by n times the rate. Large "
        "mini-batches make few steps of an epoch."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        setup = exam.setup
        if setup.learning_rate is None or exam.stopped_early:
            return None
        steps = setup.steps(exam.problem.n_train)
        if steps >= STEPS:
            return None
        return Symptom(
            {"steps": steps, "epochs": setup.epochs},
            "batch_size and epochs",
            0.9 if has_large_batches(exam) else 0.6,
            is_certain=steps < VERY_FEW // 2,
            min_gain_factor=0.3 if steps < VERY_FEW else 1.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        n, setup = exam.problem.n_train, exam.setup
        batch = min(setup.batch_size or n, n)
        small = max(min(BATCH, batch), min(8, n))
        epochs = max(setup.epochs, -(-ENOUGH * small // n))
        found = [remedies.other_batches(exam, small, epochs)] if small < batch else []
        return [*found, remedies.more_epochs(exam, max(4, -(-ENOUGH // int(symptom.evidence["steps"]))))]


def has_large_batches(exam: Exam) -> bool:
    """Whether a short training is short because of its mini-batches; otherwise it has few epochs."""
    setup, n = exam.setup, exam.problem.n_train
    batch = min((setup.batch_size or n) * setup.accumulate, n)
    is_usual = batch <= USUAL_BATCH and batch < n
    return not is_usual or setup.epochs >= FEW_EPOCHS
