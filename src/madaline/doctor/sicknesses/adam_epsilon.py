"""An epsilon of Adam that is not small."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom


class AdamEpsilon(Sickness):
    """An epsilon of Adam that is not small."""

    name = "adam_epsilon"
    number = 39
    title = "Adam's epsilon is larger than most gradients."
    cause = 1
    why = (
        "Adam steps by eta m / (sqrt(v) + eps). Where eps is above sqrt(v), the step is m eta / eps: plain gradient "
        "descent with another rate."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        eps = getattr(exam.setup.recipe.optimizer, "eps", None)
        eps = getattr(eps, "epsilon", eps)  # an estimator's epsilon is that of scikit-learn's formula
        if not isinstance(eps, (int, float)) or exam.start is None:
            return None
        sizes = [
            norm / np.sqrt(np.prod(exam.start.network.params[path].shape))
            for path, norm in exam.start_gradients.items()
        ]
        typical = float(np.median(sizes)) if sizes else 0.0
        if not typical or eps < 0.1 * typical:
            return None
        is_far = eps > max(typical, 1e-3)
        return Symptom(
            {"epsilon": eps, "typical gradient": typical},
            "optimizer",
            is_certain=is_far,
            min_gain_factor=0.3 if is_far else 1.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy("Use the default epsilon, 1e-8.", lambda setup: setup.with_optimizer(eps=1e-8), {"epsilon": 1e-8})
        ]
