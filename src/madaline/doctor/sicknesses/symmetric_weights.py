"""Units that start equal and stay equal."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

SHARE = 0.5


class SymmetricWeights(Sickness):
    """Units that start equal and stay equal."""

    name = "symmetric_weights"
    number = 17
    title = "Units of a hidden layer are copies of each other."
    severity = "error"
    cause = 0
    why = (
        "Units with equal weights have equal outputs and equal gradients, so every step keeps them equal. A layer of n "
        "such units computes no more than one unit."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        for path, outputs in exam.start_activations.items():
            if outputs.shape[1] < 3:
                continue
            final = exam.final_activations.get(path)
            same_start, same_end = _copies(outputs), 1.0 if final is None else _copies(final)
            if same_start > SHARE and same_end > SHARE:
                return Symptom(
                    {"fraction of units with a copy": same_end, "units": outputs.shape[1]}, f"layer {path!r}", 0.95
                )
        return None

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.default_init(exam)]


def _copies(outputs: np.ndarray) -> float:
    """The fraction of units whose outputs equal those of another unit that varies, or that are all constant."""
    rounded = np.round(outputs / max(float(np.abs(outputs).max()), 1e-12), 5)
    _, first, counts = np.unique(rounded, axis=1, return_index=True, return_counts=True)
    alive = [count for place, count in zip(first, counts, strict=True) if np.abs(outputs[:, place]).max() > 0]
    if not alive:
        return 1.0 if len(counts) == 1 else 0.0
    return float(sum(count for count in alive if count > 1) / outputs.shape[1])
