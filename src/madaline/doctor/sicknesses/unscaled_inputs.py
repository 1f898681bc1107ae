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

SHOWN = 3


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
        measured = [column for column in range(X.shape[1]) if is_measured(X[:, column]) or _is_large(X[:, column])]
        if not measured:
            return None
        size = np.sqrt(np.mean(X[:, measured] ** 2, axis=0))
        low, high = np.quantile(X[:, measured], (0.05, 0.95), axis=0)
        bulk = np.sqrt(np.mean(np.clip(X[:, measured], low, high) ** 2, axis=0))
        is_large = size > LARGE
        size[is_large] = np.maximum(bulk[is_large], 1.0)  # a few extreme values are heavy tails
        offset = np.abs(X[:, measured].mean(axis=0)) / np.maximum(X[:, measured].std(axis=0), 1e-12)
        smallest, largest = float(size.min()), float(size.max())
        far = float(offset.max())
        if smallest >= SMALL and largest <= LARGE and largest / smallest <= RATIO and far < 5.0:
            return None
        is_far = (size < SMALL) | (size > LARGE) | (offset >= 5.0)
        order = np.argsort(-np.abs(np.log(np.maximum(size, 1e-300))))
        wrong = [measured[i] for i in order if is_far[i] or not is_far.any()]
        is_certain = smallest < 0.01 or largest > 20.0 or far > 10.0
        return Symptom(
            {
                "largest column size": largest,
                "smallest column size": smallest,
                "largest offset in standard deviations": far,
            },
            exam.problem.names.at(sorted(wrong[:SHOWN]), others=len(wrong[SHOWN:])),
            0.9 if is_certain else 0.7,
            Picture("size of the columns", size.tolist(), log=True),
            is_certain=is_certain,
            columns=wrong,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.scaled_inputs(exam)]


def _is_large(x: np.ndarray) -> bool:
    """Whether a column of two values is far from 0 and 1, and so not a switch."""
    return bool(x.min() < x.max() and np.sqrt(np.mean(x**2)) > LARGE)
