"""The batch norm paper's table: fewer steps to what the net without it reaches. Lecture row E14.

The example ``batch_norm_speed`` of the gallery counts more steps, also on MNIST.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import madaline as md


@pytest.fixture(scope="module")
def data():
    """Small images of digits, rows to learn from and rows to judge by."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype(np.float32)
    return (X[:1200], y[:1200]), (X[1200:], y[1200:])


def accuracies(data, *, rate, norm, steps, every):
    """Test accuracies at regular intervals; a run that diverges ends early."""
    net = md.mlp(100, 100, 100, 10, norm=norm)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(rate), threads=1)
    history = trainer.fit(
        *data[0],
        epochs=steps // every,
        batch_size=60,
        sampler=lambda n_rows, rng: rng.integers(0, n_rows, every * 60),
        validation=data[1],
        metrics="accuracy",
        on_divergence="stop",
    )
    return list(history["val_accuracy"]) if len(history) else []


def test_with_batch_norm_fewer_steps_reach_the_baselines_best(data):  # E14
    baseline, normed, faster = (
        np.array(accuracies(data, rate=rate, norm=norm, steps=600, every=20))
        for rate, norm in ((0.03, None), (0.03, "batch"), (0.15, "batch"))
    )
    steps = [int(np.argmax(found >= baseline.max())) for found in (baseline, normed, faster)]
    assert normed.max() > baseline.max()
    assert steps[1] <= 0.8 * steps[0]
    assert faster.max() >= baseline.max()
    assert steps[2] <= steps[0] / 4


def test_batch_norm_bears_a_rate_that_the_baseline_does_not(data):  # E14
    plain, normed = (accuracies(data, rate=1.0, norm=norm, steps=400, every=40) for norm in (None, "batch"))
    assert max(plain, default=0.0) < 0.6
    assert normed[-1] > 0.85


def test_a_run_that_diverges_before_it_is_judged_has_no_accuracy(data):  # E14
    assert accuracies(data, rate=1e4, norm=None, steps=40, every=20) == []
