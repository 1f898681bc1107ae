"""The disc experiment: batch norm trains deep nets from weights of any size. Lecture row E13.

The example ``disc`` of the gallery is the whole of it; here are a few sizes, one seed and fewer epochs.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import madaline as md

STDS = (1e-3, 1e-2, 0.25, 1.0, 10.0)


def disc(n_rows, *, purpose):
    """Points of the square [-1, 1]^2, and whether each lies in the disc of half its area, |x|^2 < 2 / pi."""
    X = md.nn.initializers.stream(0, "disc", purpose).uniform(-1.0, 1.0, (n_rows, 2)).astype(np.float32)
    return X, ((X * X).sum(axis=1) < 2.0 / math.pi).astype(np.int64)


def net(std, *, batch_norm):
    """The lecture's ``create_model``: 2 inputs, 1 + 16 hidden layers of 32, 2 outputs, all weights N(0, std^2)."""
    init = md.nn.initializers.Normal(std)
    layers = []
    for _ in range(1 + 16):
        layers += [md.Linear(32, init=init), *([md.BatchNorm()] if batch_norm else []), md.ReLU()]
    return md.Sequential(*layers, md.Linear(2, init=init))


def error(std, *, batch_norm):
    """The test error after 30 epochs; a net that returns NaN is counted as guessing."""
    trainer = md.Trainer(net(std, batch_norm=batch_norm), loss="cross_entropy", optimizer=md.SGD(0.1))
    trainer.fit(*disc(1000, purpose="train"), epochs=30, batch_size=100, on_divergence="stop")
    X, y = disc(1000, purpose="test")
    outputs = trainer.model(X)
    return np.where(np.isnan(outputs).any(axis=1), 0.5, outputs.argmax(axis=1) != y).mean()


def test_the_net_is_the_lectures():  # E13
    """Linear, batch norm, ReLU, 1 + 16 times; then Linear to 2 outputs."""
    plain, normed = (net(0.1, batch_norm=batch_norm) for batch_norm in (False, True))
    kinds = [type(layer).__name__ for layer in normed]
    assert kinds == ["Linear", "BatchNorm", "ReLU"] * 17 + ["Linear"]
    model = plain.init(2)
    assert [model.params[name].shape for name in ("0.W", "2.W", "34.W")] == [(2, 32), (32, 32), (32, 2)]
    assert model.params["2.W"].std() == pytest.approx(0.1, rel=0.1)


def test_half_of_the_points_lie_in_the_disc():  # E13
    assert disc(10_000, purpose="test")[1].mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("std", STDS)
def test_with_batch_norm_any_size_of_weights_trains_and_without_it_hardly_any(std):  # E13
    assert error(std, batch_norm=True) < 0.1
    if std != 0.25:  # He's
        assert error(std, batch_norm=False) == pytest.approx(0.5, abs=0.05)  # guessing
