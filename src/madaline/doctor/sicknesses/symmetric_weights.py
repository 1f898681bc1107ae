"""Units that start equal and stay equal."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.nn.layers.linear import Linear

SHARE = 0.5


class SymmetricWeights(Sickness):
    """Units that start equal and stay equal."""

    name = "symmetric_weights"
    number = 17
    title = "Units of a hidden layer are copies of each other."
    severity = "error"
    cause = 0
    why = (
        "Units with equal weights have equal outputs and equal gradients, so every step keeps them equal. A layer "
        "of n such units computes no more than one unit."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        start, final = exam.start, exam.model
        if start is None:
            return None
        homes = [row.home for row in start.network.rows if isinstance(row.layer, Linear)]
        for home in homes[:-1]:
            path = f"{home}.W" if home else "W"
            units = start.params[path].shape[-1]
            end = 1.0 if final is None or path not in final.params else copies(final.params[path])
            if units > 2 and copies(start.params[path]) > SHARE and end > SHARE:
                return Symptom(
                    {"fraction of units with a copy": end, "units": units}, f"layer {home!r}", 0.95, is_certain=True
                )
        return None

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.default_init(exam)]


def copies(W: np.ndarray) -> float:
    """The fraction of units whose weights equal those of another unit."""
    rounded = np.round(W / max(float(np.abs(W).max()), 1e-30), 4)
    counts = np.unique(rounded, axis=1, return_counts=True)[1]
    return float(counts[counts > 1].sum() / W.shape[1])
