"""A loss that is not finite."""

from __future__ import annotations

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom


class NonfiniteLoss(Sickness):
    """A loss that is not finite."""

    name = "nonfinite_loss"
    number = 21
    title = "Training diverged: the loss is not finite."
    severity = "error"
    proof = "fact"
    cause = 7
    why = (
        "A step that is too long increases the loss, the next gradient is larger, and the next step longer still: "
        "the parameters overflow. From then on every output is infinite or NaN."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        history = exam.run_history or exam.before.history
        if history.stopped != "diverged":
            return None
        return Symptom({"epochs before that": history.n_rows}, f"epoch {history.n_rows + 1}", 1.0, harm=0.5)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [
            remedies.rate_times(exam, 0.1),
            remedies.rate_times(exam, 0.01),
            remedies.scaled_inputs(exam),
            Remedy(
                "Clip the gradient: clip_norm=1.0.", lambda setup: setup.with_recipe(clip=_clip()), {"clip_norm": 1.0}
            ),
        ]


def _clip() -> object:
    from madaline.optim.clipping import ClipNorm

    return ClipNorm(1.0)
