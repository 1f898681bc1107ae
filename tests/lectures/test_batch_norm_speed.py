"""The batch norm paper's table: fewer steps to what the net without it reaches. Lecture row E14.

``gallery/batch_norm_speed.py`` measures it on MNIST, which takes minutes; here are small images and fewer steps.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

import batch_norm_speed as speed


@pytest.fixture(scope="module")
def data():
    """Small images of digits, rows to learn from and rows to judge by."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype(np.float32)
    return (X[:1200], y[:1200]), (X[1200:], y[1200:])


def test_with_batch_norm_fewer_steps_reach_the_baselines_best(data):  # E14
    variants = tuple(variant for variant in speed.VARIANTS if variant.name in ("baseline", "BN", "BN x5"))
    runs = speed.measure(data, rate=0.03, variants=variants, seeds=[0], steps=600, every=20)
    found = speed.summary(runs, every=20)
    baseline, _ = found["baseline"]
    assert found["BN"][0] <= 0.8 * baseline
    assert found["BN x5"][0] <= baseline / 4
    assert found["BN"][1] > found["baseline"][1]


def test_batch_norm_bears_a_rate_that_the_baseline_does_not(data):  # E14
    plain, normed = (
        speed.accuracies(variant, data, rate=1.0, steps=400, every=40)
        for variant in (speed.BASELINE, speed.VARIANTS[2])
    )
    assert max(plain, default=0.0) < 0.6
    assert normed[-1] > 0.85


def test_a_run_that_diverges_before_it_is_judged_has_no_accuracy(data):  # E14
    assert speed.accuracies(speed.BASELINE, data, rate=1e4, steps=40, every=20) == []


def test_steps_are_counted_to_the_first_time_the_goal_is_reached():  # E14
    assert speed.steps_to(0.9, [0.5, 0.91, 0.8, 0.95], every=50) == 100
    assert speed.steps_to(0.9, [0.5], every=50) == np.inf


def test_the_page_says_what_was_measured():  # E14
    """At the careful rate batch norm is faster, and faster still with five times the rate."""
    numbers = json.loads(speed.NUMBERS.read_text())
    assert speed.PAGE.read_text() == speed.page(numbers)
    found = speed.summary(numbers["accuracies"]["0.03"])
    assert found["BN x5"][0] < found["BN"][0] < found["baseline"][0]
    assert found["BN x5"][1] > found["BN"][1] > found["baseline"][1]
    assert found["BN x30"][1] > found["baseline"][1] > found["BN x5, sigmoid"][1]
    bold = speed.summary(numbers["accuracies"]["0.3"])
    assert bold["BN"][0] < bold["baseline"][0]
    assert bold["BN x30"][0] == bold["baseline x5"][0] == np.inf
