"""Layers that are not trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.setup import Setup
from madaline.doctor.sickness import Sickness, Symptom


class FrozenParameters(Sickness):
    """Layers that are not trained."""

    name = "frozen_parameters"
    number = 37
    title = "Some layers do not learn."
    cause = 1
    min_gain = 0.15
    why = (
        "Parameters that are frozen, or whose group has a rate of 0, keep their initial values. A layer of random "
        "weights passes on random features only."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        start, final = exam.start, exam.before.model
        if start is None or final is None:
            return None
        matrices = [path for path, entry in final.network.params.items() if len(entry.shape) == 2]
        still = [
            path
            for path in matrices
            if np.array_equal(start.params[path], final.params[path]) and np.any(start.params[path])
        ]
        if not still:
            return None
        # If some hidden layers are trained, others may be frozen on purpose: more harm is needed to report it.
        is_partial = bool(set(matrices[:-1]) - set(still))
        return Symptom(
            {"weight matrices that did not change": len(still)},
            ", ".join(still[:4]),
            0.8,
            min_gain_factor=2.0 if is_partial else 1.0,
            is_certain=not is_partial and _is_frozen(exam.setup),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [Remedy("Train all layers: freeze=() and no group with rate 0.", _free)]


def _is_frozen(setup: Setup) -> bool:
    """Whether layers are frozen by the settings, and not by gradients of 0."""
    return bool(setup.freeze) or bool(setup.recipe.groups) or nets.trainable(setup.net) != setup.net


def _free(setup: Setup) -> Setup:
    return replace(setup.with_net(nets.trainable(setup.net)).with_recipe(groups=()), freeze=())
