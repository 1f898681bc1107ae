"""A learning rate that is too low."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.curves import still_falling
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom
from madaline.doctor.sicknesses.init_gain import FAR_HIGH, gains_of

UPDATE = 5e-4
LEARNED = 0.5
MOST_USUAL = 10.0
"A rate above this multiple of a usual one is not too low."
FAR_BELOW = 0.05
"A rate below this fraction of a usual one is more likely to be the cause than a short training."
OVER = 0.01
"Below this fraction of the first rate, a schedule has come to its end; usual ones do so in the last epochs."


class RateTooLow(Sickness):
    """A learning rate that is too low."""

    name = "rate_too_low"
    number = 28
    title = "The learning rate is too low."
    cause = 5
    min_gain = 0.15
    why = (
        "The parameters move by about eta per step, so n steps cannot move them further than n eta. With a rate "
        "that is ten times too low, training needs ten times as many epochs for the same result."
    )
    concept = "optimizers.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        rate, probes = exam.setup.learning_rate, exam.probes
        if rate is None or exam.before.diverged or "update_ratio" not in probes or "loss" not in exam.before.history:
            return None
        if rate > MOST_USUAL * remedies.usual_rate(exam):
            return None  # small updates of a net whose units are dead
        if rate >= remedies.usual_rate(exam) and _has_large_weights(exam):
            return None  # a usual rate changes weights little that are far too large
        update = float(np.nanmedian(probes["update_ratio"]))
        loss = exam.before.history["loss"]
        # With a schedule, the loss is flat at the end although little was learned.
        has_learned = float(exam.before_losses.mean()) < LEARNED * exam.constant_loss
        if update > UPDATE or (has_learned and len(loss) >= 5 and not still_falling(loss)):
            return None
        is_far = rate < FAR_BELOW * remedies.usual_rate(exam)
        return Symptom(
            {"learning rate": rate, "change of the weights per step": update},
            "learning rate",
            0.9 if is_far else 0.7,
            Picture("training loss", loss.tolist()),
            min_gain_factor=0.4 if is_far else 1.0,
            is_certain=rate < 0.2 * FAR_BELOW * remedies.usual_rate(exam) and remedies.scales_steps(exam),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        found = remedies.rates(exam, 10.0, 100.0, 1000.0)
        found = [remedies.whole_schedule(exam), *found] if _is_over_early(exam) else found
        is_far = symptom.evidence["learning rate"] < FAR_BELOW * remedies.usual_rate(exam)
        return [*found, remedies.adam(exam)] if is_far and not remedies.scales_steps(exam) else found


def _is_over_early(exam: Exam) -> bool:
    """Whether the schedule ends in the first half of the run."""
    history = exam.before.history
    rates = history["learning_rate"] if "learning_rate" in history else np.zeros(0)
    return bool(len(rates) > 1 and np.median(rates) < OVER * rates[0])


def _has_large_weights(exam: Exam) -> bool:
    """Whether the initial weights of a layer are too large by any standard."""
    return exam.start is not None and max(gains_of(exam.start).values(), default=0.0) > FAR_HIGH
