"""Too few updates of the parameters."""

from __future__ import annotations

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

STEPS = 400
VERY_FEW = 100
"Hardly any sound run has so few steps, so that less harm is needed to report it."
BATCH = 32


class TooFewSteps(Sickness):
    """Too few updates of the parameters."""

    name = "too_few_steps"
    number = 15
    title = "Training takes too few steps."
    cause = 6
    min_gain = 0.2
    why = (
        "Each step moves a weight by about the learning rate at most, so n steps move it by n times the rate. Large "
        "mini-batches make few steps of an epoch."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        setup = exam.setup
        if setup.learning_rate is None or setup.early_stopping is not None:
            return None
        steps = setup.steps(exam.problem.n_train)
        if steps >= STEPS:
            return None
        confidence = 0.9 if steps < 4 * setup.epochs else 0.6
        return Symptom(
            {"steps": steps, "epochs": setup.epochs},
            "batch_size and epochs",
            confidence,
            is_certain=steps < VERY_FEW // 2,
            min_gain_factor=0.3 if steps < VERY_FEW else 1.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        n, setup = exam.problem.n_train, exam.setup
        batch = min(setup.batch_size or n, n)
        small = max(min(BATCH, batch), min(8, n))
        epochs = max(setup.epochs, -(-1000 * small // n))
        found = [remedies.other_batches(exam, small, epochs)] if small < batch else []
        return [*found, remedies.more_epochs(exam, max(4, -(-1000 // int(symptom.evidence["steps"]))))]
