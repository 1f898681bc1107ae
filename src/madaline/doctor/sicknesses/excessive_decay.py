"""Penalties that are stronger than the loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.setup import Setup
from madaline.doctor.sickness import Sickness, Symptom
from madaline.optim.optimizer import Optimizer

KEPT, USUAL = 0.9, 0.1
"Weights that keep this fraction of their norm, and a decay that sound runs have, too: then more harm is needed."


class ExcessiveDecay(Sickness):
    """Penalties that are stronger than the loss."""

    name = "excessive_decay"
    number = 38
    title = "Weight decay or a penalty is too strong."
    severity = "warning"
    cause = 1
    why = (
        "Decay pulls every weight to 0 by eta lambda w in each step, against the gradient of the loss. Where lambda "
        "w exceeds the gradient, the weights shrink and the net forgets."
    )
    concept = "regularizers.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        recipe = exam.setup.recipe
        decay = recipe.optimizer.weight_decay if isinstance(recipe.optimizer, Optimizer) else 0.0
        if not decay and not recipe.regularizers:
            return None
        start, final = exam.start, exam.model
        if start is None or final is None or start.params.flat.size != final.params.flat.size:
            return None
        ratio = float(np.linalg.norm(final.params.flat) / max(float(np.linalg.norm(start.params.flat)), 1e-12))
        if ratio > KEPT and decay < 0.05:
            return None
        is_usual = ratio > KEPT and decay <= USUAL and not recipe.regularizers
        return Symptom(
            {"norm of the weights over that at the start": ratio, "weight decay": decay},
            "all weights",
            is_certain=ratio < 0.1,
            min_gain_factor=1.5 if is_usual else 1.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Use a hundredth of the weight decay and no other penalty.",
                _weaker,
                {"alpha": 1e-5},
                "--weight-decay 0",
            )
        ]


def _weaker(setup: Setup) -> Setup:
    optimizer = setup.recipe.optimizer
    if isinstance(optimizer, Optimizer):
        optimizer = replace(optimizer, weight_decay=optimizer.weight_decay / 100)
    return setup.with_recipe(optimizer=optimizer, regularizers=())
