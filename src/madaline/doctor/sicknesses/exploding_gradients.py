"""Gradients that grow from the output to the input, or during training."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.curves import rises
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom
from madaline.optim.clipping import ClipNorm

RATIO, GROWTH, LARGE = 50.0, 50.0, 200.0


class ExplodingGradients(Sickness):
    """Gradients that grow from the output to the input, or during training."""

    name = "exploding_gradients"
    number = 22
    title = "Gradients explode."
    cause = 7
    why = (
        "The gradient of an early layer is a product over all later ones, delta_l = (W delta_{l+1}) f'(z_l). With "
        "large weights it grows by a factor in every layer, and a step becomes far too long."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        norms = list(exam.start_gradients.values())
        probes = exam.probes
        growth = 1.0
        if "gradient_norm" in probes:
            g = probes["gradient_norm"].astype(float)
            g = g[np.isfinite(g) & (g > 0)]
            half = len(g) // 2
            growth = float(g[half:].max() / np.median(g[:half])) if half >= 2 else 1.0
        ratio = max(norms[:-1]) / norms[-1] if len(norms) > 2 and norms[-1] > 0 else 1.0
        largest = max(norms, default=0.0)
        is_large = largest > LARGE * max(abs(exam.constant_loss), 1.0) or not np.isfinite(norms).all()
        loss = exam.before.history["loss"] if "loss" in exam.before.history else np.zeros(0)
        has_grown = growth > GROWTH and (rises(loss) or exam.before.diverged)
        # Where signals fade, the gradient of the last layer is the smallest one, and nothing explodes.
        is_steep = ratio > RATIO and largest > exam.output_gradient
        if not (is_steep or has_grown or is_large):
            return None
        return Symptom(
            {
                "largest gradient over that of the last layer": ratio,
                "largest gradient of the second half over the median of the first": growth,
            },
            "first layers",
            0.7,
            Picture("gradient norm by layer", norms, log=True),
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        clip = Remedy(
            "Clip the gradient: clip_norm=1.0.", lambda setup: setup.with_recipe(clip=ClipNorm(1.0)), {"clip_norm": 1.0}
        )
        return [clip, remedies.default_init(exam)]
