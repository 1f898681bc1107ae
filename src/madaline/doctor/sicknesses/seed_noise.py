"""A net that is better than a linear model by less than the random seed changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

SEEDS = (11, 12)
"Further random seeds."
SMALL = 0.15
"Only a smaller gain, as a fraction of what can be learned, is compared with the spread over seeds."


class SeedNoise(Sickness):
    """A net that is better than a linear model by less than the random seed changes."""

    name = "seed_noise"
    number = 43
    title = "The gain over a linear model is smaller than the spread over random seeds."
    severity = "info"
    proof = "fact"
    why = (
        "With k seeds the loss is mean ± s, and a single run is one draw from that. "
        "A gain smaller than the spread max - min over the seeds may be luck, and another seed may reverse it."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        if not exam.is_complete or exam.run_history is None or exam.linear is None or exam.clock.left <= 0:
            return None
        first = float(exam.held_losses(exam.before).mean())
        gain = float(exam.linear.mean()) - first
        if not 0 < gain < SMALL * exam.learnable:
            return None
        limited = replace(exam.setup, start=None).limited(len(exam.problem.train), exam.max_steps)
        losses = [first, *(float(exam.held_losses(exam.run(limited, seed=seed)).mean()) for seed in SEEDS)]
        spread = float(np.ptp(losses))
        if spread <= gain:
            return None
        return Symptom(
            {"gain over a linear model": gain, "spread over 3 seeds": spread},
            "the loss on held-out rows",
            0.7,
            Picture("loss by seed", losses),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Compare nets by the mean over several seeds or folds, or average several nets.",
                python="cross_val_score(estimator, X, y, cv=5)",
            )
        ]
