"""Dropout before batch norm."""

from __future__ import annotations

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import BatchNorm

SMALL = 0.1


class NormOrder(Sickness):
    """Dropout before batch norm."""

    name = "norm_order"
    number = 7
    title = "Dropout stands before a batch norm, or a bias does."
    severity = "info"
    proof = "fact"
    why = (
        "Dropout changes the variance of units by 1 / (1 - p) in training only, so a later batch norm averages "
        "variances that evaluation does not have. A bias before a batch norm is subtracted again with the mean."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        dropped = 0.0
        biased = 0
        for before, layer in zip([None, *exam.layers], exam.layers, strict=False):
            if isinstance(layer, Dropout):
                dropped = max(dropped, layer.p)
            elif isinstance(layer, BatchNorm):
                biased += isinstance(before, Linear) and before.bias
                if dropped > SMALL:
                    return Symptom({"dropout before batch norm": dropped}, repr(layer), 0.9)
        return Symptom({"biases before batch norms": biased}, "linear layers", 0.9) if biased else None

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        return [Remedy("Put dropout after the last batch norm, and use md.Linear(n, bias=False) before a batch norm.")]
