"""Keras on JAX: ``Model.fit``, compiled, many steps in one execution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from workloads import Workload

STEPS_AT_ONCE = 32
"Steps per execution: the fastest of 1, 8 and 32 for tiny, and not slower for tabular."
OPTIMIZERS = {
    "adam": lambda rate: keras.optimizers.Adam(rate, epsilon=1e-8),
    "sgd": keras.optimizers.SGD,
}


def net(workload: Workload) -> keras.Sequential:
    """A net with the initial weights of the workload."""
    layers = [keras.layers.Input((workload.widths[0],))]
    layers += [keras.layers.Dropout(workload.input_dropout)] if workload.input_dropout else []
    dense = []
    for position, (_, n_out) in enumerate(workload.layers):
        is_hidden = position < len(workload.layers) - 1
        dense.append(keras.layers.Dense(n_out, use_bias=not (is_hidden and workload.batch_norm)))
        layers.append(dense[-1])
        if is_hidden:
            normed = workload.batch_norm
            layers += [keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-5)] if normed else []
            layers.append(keras.layers.Activation(workload.activation))
            layers += [keras.layers.Dropout(workload.dropout)] if workload.dropout else []
    model = keras.Sequential(layers)
    for layer, (W, b) in zip(dense, workload.start(), strict=True):
        layer.set_weights([W, b] if layer.use_bias else [W])
    return model


def train(workload: Workload, threads: int, shuffle: bool = True) -> Callable[[int], float]:
    X, y = workload.data()
    losses = {
        "mse": keras.losses.MeanSquaredError(),
        "cross_entropy": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    }
    model = net(workload)
    model.compile(
        optimizer=OPTIMIZERS[workload.optimizer](workload.rate),
        loss=losses[workload.loss],
        steps_per_execution=min(STEPS_AT_ONCE, workload.steps),
    )

    def epochs(count: int) -> float:
        history = model.fit(X, y, batch_size=workload.batch, epochs=count, shuffle=shuffle, verbose=0)
        return float(np.asarray(history.history["loss"][-1]))

    return epochs


TRAINERS = {"keras": train}
PREDICTORS: dict[str, Any] = {}
