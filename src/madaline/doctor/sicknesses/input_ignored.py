"""A net whose predictions do not depend on its inputs."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.net_edits import scales_inputs
from madaline.doctor.sickness import Sickness, Symptom
from madaline.graph.tree import tree_map

SAME = 0.02


class InputIgnored(Sickness):
    """A net whose predictions do not depend on its inputs."""

    name = "input_ignored"
    number = 20
    title = "The net ignores its inputs."
    cause = 8
    why = (
        "The loss stays the same if the rows of X are exchanged at random, so predictions do not depend on the "
        "inputs. The signal is lost in the net: by dead or saturated units, by scaling, or by zero weights."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.model is None:
            return None
        sample = exam.problem.train
        order = np.random.default_rng(0).permutation(len(sample))
        with np.errstate(all="ignore"):
            mixed = float(exam.loss(exam.model(tree_map(lambda x: x[order], sample.X)), sample.y))
        own = exam.mean_loss(exam.model, sample)
        if not np.isfinite(mixed) or not np.isfinite(own) or abs(mixed - own) > SAME * abs(own):
            return None
        return Symptom({"loss": own, "loss with exchanged inputs": mixed}, "the inputs", 0.8)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        scale = [] if scales_inputs(exam.setup.net) else [remedies.scaled_inputs(exam)]
        return [remedies.adam(exam), remedies.default_init(exam), *scale]
