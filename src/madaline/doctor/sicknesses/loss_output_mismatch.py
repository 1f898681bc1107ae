"""An activation of the output that does not fit the loss."""

from __future__ import annotations

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

BOUNDS = {
    "sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "relu": (0.0, np.inf),
    "softmax": (0.0, 1.0),
    "hard_tanh": (-1.0, 1.0),
    "hard_sigmoid": (0.0, 1.0),
    "softplus": (0.0, np.inf),
    "relu6": (0.0, 6.0),
    "elu": (-1.0, np.inf),
    "selu": (-1.76, np.inf),
}
"Range of the outputs of activations."


class LossOutputMismatch(Sickness):
    """An activation of the output that does not fit the loss."""

    name = "loss_output_mismatch"
    number = 5
    title = "The activation of the output does not fit the loss."
    severity = "error"
    cause = 0
    min_gain = 0.02
    why = (
        "The loss takes raw outputs z and applies softmax or sigmoid itself: p = softmax(z). After another "
        "activation z is bounded, so that probabilities near 0 and 1, or targets outside of its range, cannot be "
        "reached."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        last = nets.last_activation(exam.setup.net)
        if last is None or last.function.name in ("log_softmax", "leaky_relu"):
            return None
        name = last.function.name
        if exam.loss.out_activation in ("softmax", "sigmoid", "exp"):
            return Symptom({"outputs": exam.n_outputs}, f"{last!r} before {exam.loss!r}", 0.95, is_certain=True)
        if name not in BOUNDS:
            return None
        y = np.asarray(exam.problem.train.y, dtype=np.float64)
        low, high = BOUNDS[name]
        outside = float(np.mean((y < low - 1e-6) | (y > high + 1e-6)))
        if outside < 0.01 and not (name == "softmax" and exam.n_outputs == 1):
            return None
        return Symptom(
            {"fraction of targets outside of the range of the output": outside}, f"{last!r}", 0.95, is_certain=True
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Remove the activation after the last Linear layer; predict() applies the right one.",
                lambda setup: setup.with_net(nets.without_last_activation(setup.net)),
            )
        ]
