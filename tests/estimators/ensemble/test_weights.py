"""Weights and temperature of an ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import log_softmax, softmax

from madaline.estimators.ensemble.joining import FROM_MEAN, TO_MEAN
from madaline.estimators.ensemble.weights import STEPS, bagged_weights, best_temperature, greedy_weights
from madaline.nn.layers.ensemble import AVERAGES, averaged


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


def losses_of(members, y):
    return lambda w: (members @ np.asarray(w) - y) ** 2


def test_bagged_weights_spread_over_members_that_are_equally_good():
    """A single greedy selection on few rows prefers one of them by chance."""
    rng = np.random.default_rng(3)
    shared = rng.normal(size=30)
    members = np.stack([shared + 0.02 * rng.normal(size=30) for _ in range(3)], axis=1)
    y = shared + rng.normal(size=30)
    found = bagged_weights(3, losses_of(members, y))
    once = greedy_weights(3, lambda w: float(losses_of(members, y)(w).mean()))
    assert sum(found) == pytest.approx(1.0)
    assert max(found) < max(once)


def test_bagged_weights_leave_out_a_member_that_only_harms_and_agree_with_many_rows():
    rng = np.random.default_rng(0)
    y = rng.normal(size=3000)
    members = np.stack([y + s * rng.normal(size=3000) for s in (0.5, 1.0, 30.0)], axis=1)
    found = bagged_weights(3, losses_of(members, y))
    assert found[2] == 0.0
    assert found[0] == pytest.approx(0.8, abs=0.06)


def test_bagged_weights_follow_sample_weights():
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    is_first = np.arange(200) < 100
    members = np.stack([np.where(is_first, y, -y), np.where(is_first, -y, y)], axis=1)
    assert bagged_weights(2, losses_of(members, y), is_first.astype(float))[0] == pytest.approx(1.0)
    assert bagged_weights(2, losses_of(members, y), 1.0 - is_first)[1] == pytest.approx(1.0)


def test_outputs_for_choosing_weights_are_those_of_the_ensemble():
    rng = np.random.default_rng(0)
    for average in AVERAGES:
        outputs = [rng.normal(size=(5, 3)) for _ in range(2)]
        values = np.stack([TO_MEAN[average](each) for each in outputs])
        found = FROM_MEAN[average](np.tensordot([0.3, 0.7], values, axes=1))
        np.testing.assert_allclose(found, averaged(average, outputs, [0.3, 0.7]), rtol=1e-9)
