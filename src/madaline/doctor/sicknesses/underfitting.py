"""A net that learns less than it could."""

from __future__ import annotations

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.nn.layers.linear import Linear

NARROW, VERY_NARROW, HEAVY = 8, 4, 0.7
"""Widths of hidden layers that are looked at, and widths and dropout that hardly any sound net has: less harm is needed
to report them."""
FEW, OF_SOUND_NETS = 6, 2.0
"Layers of this many units and a few more are common in sound nets for small tables, and need more harm to be reported."


class Underfitting(Sickness):
    """A net that learns less than it could."""

    name = "underfitting"
    number = 34
    title = "The net is too small or too restricted to fit the data."
    cause = 6
    min_gain = 0.15
    why = (
        "The training loss itself is high: the net cannot represent the function, or dropout and penalties hold it "
        "back. A layer of n units passes on at most n numbers per row."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        widths = [layer.n_out for layer in exam.layers if isinstance(layer, Linear)][:-1]
        drop = nets.most_dropout(exam.setup.net)
        train = exam.train_losses
        if train is None or not np.isfinite(train).all():
            return None
        evidence = {"training loss": float(train.mean()), "loss of a constant prediction": exam.constant_loss}
        if train.mean() < 0.1 * exam.constant_loss:
            return None
        if widths and min(widths) <= NARROW:
            factor = 0.5 if min(widths) < VERY_NARROW else 1.0 if min(widths) < FEW else OF_SOUND_NETS
            return Symptom(evidence | {"narrowest layer": min(widths)}, "hidden layers", min_gain_factor=factor)
        if drop >= 0.4:
            return Symptom(evidence | {"dropout": drop}, "dropout", min_gain_factor=0.5 if drop > HEAVY else 1.0)
        if widths and max(widths) >= 16:
            return None
        return Symptom(evidence, "hidden layers", 0.5, min_gain_factor=OF_SOUND_NETS if widths else 1.0)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        drop = [remedies.less_dropout(exam)] if nets.most_dropout(exam.setup.net) >= 0.4 else []
        return [*drop, remedies.wider(exam, 64)]
