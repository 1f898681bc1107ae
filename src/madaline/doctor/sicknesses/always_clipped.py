"""A limit of the gradient that holds in most steps."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.optim.clipping import ClipNorm


class AlwaysClipped(Sickness):
    """A limit of the gradient that holds in most steps."""

    name = "always_clipped"
    number = 36
    title = "The gradient is clipped in most steps."
    cause = 1
    min_gain = 0.2
    why = (
        "Clipping scales a gradient to the norm c if it is longer. If that happens in most steps, c acts as a lower "
        "learning rate, eta c / |g|, and the size of the gradient no longer counts."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        clip = exam.setup.recipe.clip
        norms = list(exam.start_gradients.values())
        if not isinstance(clip, ClipNorm) or not norms:
            return None
        norm = float(np.linalg.norm([*norms]))
        return (
            None if norm < 3 * clip.limit else Symptom({"norm of the gradient": norm, "limit": clip.limit}, "clip_norm")
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        limit = float(f"{symptom.evidence['norm of the gradient']:.2g}")
        return [
            Remedy(
                f"Raise the limit to {limit:g}.",
                lambda setup: setup.with_recipe(clip=ClipNorm(limit)),
                {"clip_norm": limit},
            )
        ]
