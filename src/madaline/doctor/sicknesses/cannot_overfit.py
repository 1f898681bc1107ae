"""A net that cannot learn a few rows."""

from __future__ import annotations

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.overfit import learns_few_rows
from madaline.doctor.sickness import Sickness, Symptom

LEARNED = 0.65
"A net whose loss is below this fraction of that of a constant learns, so that the test is left out."


class CannotOverfit(Sickness):
    """A net that cannot learn a few rows."""

    name = "cannot_overfit"
    number = 19
    title = "The net cannot learn even a few rows."
    severity = "error"
    cause = 8
    why = (
        "A net with more parameters than rows can memorize 32 rows, so a loss that stays high there is not a "
        "matter of the data. Loss, output, learning rate or width are wrong."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.before_losses.mean() < LEARNED * exam.constant_loss:
            return None
        left = learns_few_rows(exam)
        if left is None or left < 0.3:
            return None
        return Symptom({"loss on 32 rows over that of a constant": left}, "net and settings", 0.8)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.adam(exam), remedies.wider(exam, 64)]
