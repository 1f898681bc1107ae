"""A validation loss that rises while the training loss falls."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.curves import overfits
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sample import MIN_VALIDATION
from madaline.doctor.sickness import Sickness, Symptom

BY_HEART, RISEN = 0.3, 1.5
"""Training loss below this fraction of that of a constant, with a validation loss above that of a constant and this
many times its minimum: overfitted by any standard."""
FAR_ABOVE = 10.0
"A validation loss this many times the training loss: the training rows are known by heart."
UNSURE = 0.7
"""Confidence if the loss rises by less and is not that far above, or if the validation set is very small. The remedy
picks its epoch by the rows that it is compared on, so that its gain is lucky and must be surer."""


class Overfitting(Sickness):
    """A validation loss that rises while the training loss falls."""

    name = "overfitting"
    number = 32
    title = "The net overfits: it memorizes the training rows."
    cause = 6
    min_gain = 0.12
    why = (
        "The training loss falls while the validation loss rises: the net fits the noise of the training rows. The "
        "gap L_val - L_train grows with the number of free parameters and steps per row."
    )
    concept = "guides/training.md"
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        history = exam.history
        if not overfits(history, exam.setup.early_stopping):
            return None
        held, train = history["val_loss"], history["loss"]
        low = int(np.argmin(held))
        last = float(np.mean(held[-max(len(held) // 10, 1) :]))
        is_clear = (
            last > min(RISEN * held[low], FAR_ABOVE * max(train[-1], 0.0))
            and len(exam.problem.monitored or exam.problem.held) >= MIN_VALIDATION
        )
        return Symptom(
            {
                "last validation loss": last,
                "lowest validation loss": float(held[low]),
                "training loss": float(train[-1]),
            },
            f"after epoch {low + 1}",
            0.8 if is_clear else UNSURE,
            Picture("validation loss", held.tolist()),
            is_certain=bool(
                0 <= train[-1] < BY_HEART * exam.constant_loss and last > max(exam.constant_loss, RISEN * held[low])
            ),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.early_stopping(exam, max(10, exam.history.n_rows // 10))]
