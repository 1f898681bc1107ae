"""Gradients that fade from the output to the input."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.net_edits import hidden_activations
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

RATIO = 0.05
FLAT = ("sigmoid", "tanh", "softsign", "hard_sigmoid", "hard_tanh", "step")
"Activations whose slope is small almost everywhere; with others only deep nets are looked at."
DEEP = 5
FROM_INIT = 7
"Place among causes if all layers have small gradients: initial weights that are too small are then the cause."
LOST = 1e-3
"Gradient of the first layer relative to that of the output: signals fade forwards as well as backwards."


class VanishingGradients(Sickness):
    """Gradients that fade from the output to the input."""

    name = "vanishing_gradients"
    number = 23
    title = "Gradients vanish on the way to the first layers."
    cause = 3
    why = (
        "The gradient of an early layer is a product over all later ones, delta_l = (W delta_{l+1}) f'(z_l). With "
        "slopes below 1, at most 1/4 for the sigmoid, it shrinks by a factor in every layer."
    )
    concept = "activations.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        hidden = [layer.function.name for layer in hidden_activations(exam.setup.net)]
        if len(hidden) < (2 if any(name in FLAT for name in hidden) else DEEP):
            return None
        norms = list(exam.start_gradients.values())
        if len(norms) < 3 or not np.isfinite(norms).all() or norms[-1] == 0:
            return None
        ratio = norms[0] / norms[-1]
        whole = norms[0] / max(exam.output_gradient, 1e-30)
        if ratio > RATIO and whole > LOST:
            return None
        return Symptom(
            {"gradient of the first layer, relative to the last": ratio, "relative to the output": whole},
            "first layers",
            0.8,
            Picture("gradient norm by layer", norms, log=True),
            cause=FROM_INIT if ratio > RATIO else None,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        relu, init = remedies.activation(exam, "relu"), remedies.default_init(exam)
        changed = relu.change is not None and relu.change(exam.setup).net != exam.setup.net
        return [relu, init, *([remedies.both(relu, remedies.adam(exam))] if changed else [])]
