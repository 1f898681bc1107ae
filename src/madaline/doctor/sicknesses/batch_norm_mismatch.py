"""Batch norm whose running statistics do not fit the batches."""

from __future__ import annotations

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom
from madaline.nn.layers.norm import BatchNorm

RATIO = 1.3
BATCH = 32


class BatchNormMismatch(Sickness):
    """Batch norm whose running statistics do not fit the batches."""

    name = "batch_norm_mismatch"
    number = 35
    title = "Batch norm differs between training and evaluation."
    cause = 3
    why = (
        "In training, batch norm uses mean and variance of the mini-batch; in evaluation, their running averages. "
        "If the batches are small or the averages lag behind, the net is evaluated with other numbers than it "
        "learned with."
    )
    before_training = False

    def symptom(self, exam: Exam) -> Symptom | None:
        model = exam.model
        if (
            model is None
            or not any(isinstance(layer, BatchNorm) for layer in exam.layers)
            or nets.most_dropout(exam.setup.net)
        ):
            return None
        sample = exam.problem.train
        trained = float(np.mean(exam.loss(model(sample.X, train=True), sample.y)))
        evaluated = exam.mean_loss(model, sample)
        batch = exam.setup.batch_size or exam.problem.n_train
        if evaluated < RATIO * trained and batch >= 16:
            return None
        return Symptom(
            {"loss in training mode": trained, "loss in evaluation mode": evaluated, "mini-batch": batch}, "batch norm"
        )

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        layer_norm = Remedy(
            "Use layer norm in place of batch norm.",
            lambda setup: setup.with_net(nets.with_layer_norm(setup.net)),
            {"norm": "layer"},
            "--norm layer",
        )
        batch = int(symptom.evidence["mini-batch"])
        if nets.with_usual_momentum(exam.setup.net) != exam.setup.net:
            usual = Remedy(
                "Average the statistics at the default speed: md.BatchNorm().",
                lambda setup: setup.with_net(nets.with_usual_momentum(setup.net)),
            )
            return [usual, layer_norm]
        if batch >= BATCH:
            return [layer_norm]
        # As many steps as before: the batch, not the length of training, is what changes.
        return [layer_norm, remedies.other_batches(exam, BATCH, exam.setup.epochs * BATCH // batch)]
