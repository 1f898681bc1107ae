"""madaline: whole epochs with ``Trainer.partial_fit``, predictions by calling the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workloads import Array, Workload

import madaline as md

OPTIMIZERS = {"adam": md.Adam, "sgd": md.SGD}


def net(workload: Workload) -> md.Sequential:
    return md.mlp(
        *workload.widths[1:],
        activation=workload.activation,
        norm="batch" if workload.batch_norm else None,
        dropout=workload.dropout,
        input_dropout=workload.input_dropout,
    )


def started(net: md.nn.Layer, workload: Workload) -> md.Model:
    """A model with the initial weights of the workload."""
    model = net.init(workload.widths[0])
    names = [path.removesuffix("W") for path in model.params if path.endswith("W")]
    for name, (W, b) in zip(names, workload.start(), strict=True):
        model.params[f"{name}W"] = W
        if f"{name}b" in model.params:
            model.params[f"{name}b"] = b
    return model


def train(workload: Workload, threads: int, shuffle: bool = True) -> Callable[[int], float]:
    X, y = workload.data()
    trainer = md.Trainer(
        started(net(workload), workload),
        loss=workload.loss,
        optimizer=OPTIMIZERS[workload.optimizer](workload.rate),
        threads=threads,
    )

    def epochs(count: int) -> float:
        history = trainer.partial_fit(X, y, epochs=count, batch_size=workload.batch, shuffle=shuffle)
        return float(history["loss"][-1])

    return epochs


def predict(workload: Workload, threads: int) -> Callable[[Array], Any]:
    md.set_threads(threads)
    return started(md.Sequential(net(workload), "softmax"), workload)


TRAINERS = {"madaline": train}
PREDICTORS = {"madaline": predict}
