"""Missing or infinite values."""

from __future__ import annotations

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom


class NonfiniteData(Sickness):
    """Missing or infinite values."""

    name = "nonfinite_data"
    number = 1
    title = "The data have missing or infinite values."
    severity = "error"
    proof = "fact"
    cause = 0
    why = (
        "One NaN among the inputs makes the sum x W, the loss and every gradient NaN. Training cannot take a single "
        "step."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        return None  # training refuses such data, so that there is nothing to examine; see of_arrays

    def of_arrays(self, X: np.ndarray, y: np.ndarray | None) -> Symptom | None:
        """The symptom of data as given to a checkup."""
        for name, array in (("X", X), ("y", y)):
            if array is None or array.dtype.kind != "f":
                continue
            bad = np.argwhere(~np.isfinite(array))
            if len(bad):
                place = f"{name}, row {bad[0][0]}" + (f", column {bad[0][1]}" if array.ndim > 1 else "")
                return Symptom({"missing or infinite values": len(bad)}, place, 1.0, harm=1.0)
        return None

    def remedies(self, exam: Exam | None, symptom: Symptom) -> list[Remedy]:
        return [
            Remedy(
                "Fill in the values and add a column that marks them, or drop those rows; estimators do the first with "
                "data='auto'.",
                parameters={"data": "auto"},
            )
        ]
