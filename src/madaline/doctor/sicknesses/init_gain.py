"""Initial weights that are too large or too small."""

from __future__ import annotations

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import Sickness, Symptom
from madaline.functional.model import Model
from madaline.nn.layers.linear import Linear

LOW, HIGH = 0.3, 3.0
"Gain of a weight matrix, sqrt(n_in) std(W), outside of this range."
FAR_LOW, FAR_HIGH = 0.2, 5.0
"A gain outside of this range is wrong by any standard."


class InitGain(Sickness):
    """Initial weights that are too large or too small."""

    name = "init_gain"
    number = 18
    title = "Initial weights are too large or too small."
    cause = 4
    why = (
        "A layer multiplies the variance of its input by n_in Var(W), so a gain g = sqrt(n_in Var(W)) away from 1 "
        "to sqrt(2) changes signals and gradients by g in every layer. Signals vanish, explode or saturate the "
        "units."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        if exam.start is None:
            return None
        gains = gains_of(exam.start)
        wrong = {path: gain for path, gain in gains.items() if not LOW <= gain <= HIGH and gain > 0}
        if not wrong:
            return None
        worst = max(wrong, key=lambda path: abs(np.log(wrong[path])))
        return Symptom(
            {"gain of the layer": wrong[worst], "layers": len(wrong)},
            f"layer {worst!r}",
            picture=Picture("gain by layer", list(gains.values()), log=True),
            is_certain=not FAR_LOW <= wrong[worst] <= FAR_HIGH,
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [remedies.default_init(exam)]


def gains_of(model: Model) -> dict[str, float]:
    """The gain of the weights of each hidden layer, by path."""
    linears = [row.home for row in model.network.rows if isinstance(row.layer, Linear)]
    gains = {}
    for home in linears[:-1] or linears:
        W = model.params[f"{home}.W" if home else "W"]
        if W.ndim == 2:
            gains[home] = float(np.sqrt(W.shape[0] * np.mean(np.square(W, dtype=np.float64))))
    return gains
