"""Weights and temperature of an ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import log_softmax, softmax

from madaline.estimators.ensemble.weights import STEPS, best_temperature, greedy_weights


def test_greedy_weights_are_near_the_best_ones():
    """Against non-negative least squares, on members with independent errors of known size."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=2000)
    members = np.stack([y + s * rng.normal(size=2000) for s in (0.5, 1.0, 2.0)], axis=1)
    found = np.array(greedy_weights(3, lambda w: float(np.mean((members @ w - y) ** 2))))
    best, _ = nnls(np.vstack([members, 1e6 * np.ones(3)]), np.append(y, 1e6))  # that sum to 1
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found, best, atol=2.0 / STEPS)


def test_a_member_that_only_harms_has_no_weight():
    y = np.linspace(-1.0, 1.0, 50)
    members = np.stack([y, -y], axis=1)
    assert greedy_weights(2, lambda w: float(np.mean((members @ w - y) ** 2))) == [1.0, 0.0]


def test_a_single_member_has_all_the_weight():
    assert greedy_weights(1, lambda w: 3.0) == [1.0]


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_the_temperature_undoes_a_scale_of_logits(scale):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 4))
    y = np.array([rng.choice(4, p=p) for p in softmax(z, axis=1)])
    found = best_temperature(
        lambda t: float(-np.mean(log_softmax(scale * z / t, axis=1)[np.arange(len(y)), y])), len(y)
    )
    assert found == pytest.approx(scale, rel=0.05)


def test_rows_that_are_all_right_do_not_make_predictions_certain():
    z = np.array([[2.0, -2.0]] * 20)
    found = best_temperature(lambda t: float(-np.mean(log_softmax(z / t, axis=1)[:, 0])), len(z))
    assert 0.7 < found < 1.0
