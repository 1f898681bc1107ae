"""Input columns of very different size."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.columns import is_measured
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.net_edits import after_scaling, scales_inputs
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom

SMALL, LARGE, RATIO = 0.05, 8.0, 30.0
"Root mean square of a column outside of this range, or largest over smallest above the ratio."


class UnscaledInputs(Sickness):
    """Input columns of very different size."""

    name = "unscaled_inputs"
    number = 2
    title = "Input columns are not scaled."
    cause = 2
    why = (
        "The gradient of a weight is proportional to its input, dL/dW = x^T delta, so one learning rate cannot suit "
        "columns of very different size. Large columns also saturate units, and small ones are ignored."
    )
    concept = "concepts.md"

    def symptom(self, exam: Exam) -> Symptom | None:
        if scales_inputs(exam.setup.net) or not exam.columns.shape[1]:
            return None
        X = after_scaling(exam.setup.net, exam.columns)
        measured = [column for column in range(X.shape[1]) if is_measured(X[:, column])]
        if not measured:
            return None
        size = np.sqrt(np.mean(X[:, measured] ** 2, axis=0))
        offset = np.abs(X[:, measured].mean(axis=0)) / np.maximum(X[:, measured].std(axis=0), 1e-12)
        smallest, largest = float(size.min()), float(size.max())
        far = float(offset.max())
        if smallest >= SMALL and largest <= LARGE and largest / smallest <= RATIO and far < 5.0:
            return None
        is_far = (size < SMALL) | (size > LARGE) | (offset >= 5.0)
        order = np.argsort(-np.abs(np.log(np.maximum(size, 1e-300))))
        worst = [measured[i] for i in order if is_far[i] or not is_far.any()][:3]
        return Symptom(
            {
                "largest column size": largest,
                "smallest column size": smallest,
                "largest offset in standard deviations": far,
            },
            exam.problem.names.at(worst),
            picture=Picture("size of the columns", size.tolist(), log=True),
            is_certain=smallest < 0.01 or largest > 20.0 or far > 10.0,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.scaled_inputs(exam)]
