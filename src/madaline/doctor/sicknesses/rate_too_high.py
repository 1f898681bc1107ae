"""A learning rate that is too high."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.curves import noise, overfits, rises
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

FITTED = 0.1
"A training loss below this fraction of that of a constant: the steps were not too long to fit the rows."
UPDATE = 0.01
"Median change of the weights in a step, relative to the weights."
FAR_ABOVE = 10.0
"Times a usual rate: no sound run has such a rate, so that less harm is needed to report it."


class RateTooHigh(Sickness):
    """A learning rate that is too high."""

    name = "rate_too_high"
    number = 27
    title = "The learning rate is too high."
    cause = 5
    min_gain = 0.1
    why = (
        "A step lowers the loss only while it is short: gradient descent needs eta < 2 / lambda, with lambda the "
        "largest curvature. Longer steps jump back and forth across the valley, or out of it."
    )
    concept = "optimizers.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        rate = exam.setup.learning_rate
        if rate is None:
            return None
        history = exam.before.history
        loss = history["loss"] if "loss" in history else np.zeros(0)
        probes = exam.probes
        update = float(np.nanmedian(probes["update_ratio"])) if "update_ratio" in probes else float("nan")
        evidence = {"learning rate": rate, "change of the weights per step": update, "swings of the loss": noise(loss)}
        picture = Picture("training loss", loss.tolist(), log=True) if len(loss) > 2 else None
        is_far = rate > FAR_ABOVE * remedies.usual_rate(exam)
        symptom = Symptom(
            evidence,
            "learning rate",
            0.9 if is_far else 0.7,
            picture,
            min_gain_factor=0.4 if is_far else 1.0,
            is_certain=rate > 3 * FAR_ABOVE * remedies.usual_rate(exam),
        )
        if exam.before.diverged or (exam.run_history is not None and exam.run_history.stopped == "diverged"):
            return symptom
        usual = remedies.usual_rate(exam)
        fitted = len(loss) and loss[-1] < FITTED * abs(exam.constant_loss)
        if not is_far and overfits(exam.history, exam.setup.early_stopping) and not rises(loss):
            return None  # a lower rate would only end training earlier
        if rises(loss) or noise(loss, 0.1 * abs(exam.constant_loss)) > 0.1:
            return symptom
        if is_far or (not fitted and (update > UPDATE or rate > usual)):
            return symptom
        return None

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        found = remedies.rates(exam, 0.1, 0.01, 0.001)
        is_far = symptom.evidence["learning rate"] > FAR_ABOVE * remedies.usual_rate(exam)
        return [*found, remedies.adam(exam)] if is_far and not remedies.scales_steps(exam) else found
