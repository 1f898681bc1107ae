"""Extreme outputs: right values and finite slopes, without a warning (warnings are errors)."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from losses.cases import CASES, N_ROWS
from madaline.losses.cross_entropy import BinaryCrossEntropy, CrossEntropy, KLDivergence
from madaline.losses.density import HeteroscedasticGaussian
from madaline.losses.focal import BinaryFocal, Focal
from madaline.losses.log_link import Poisson
from madaline.losses.ordinal import Ordinal
from madaline.losses.robust import Huber, LogCosh

GROWS_LIKE_EXP = {"poisson", "gamma", "tweedie"}
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@pytest.mark.parametrize("case", [c for c in CASES if c.loss.name not in GROWS_LIKE_EXP], ids=lambda case: case.name)
@each_dtype
def test_huge_outputs_have_finite_losses_and_slopes(case, dtype):
    z, y = case.arguments(dtype)
    for size in (1e4, -1e4):
        extreme = (size * np.sign(z)).astype(dtype)
        assert np.isfinite(case.loss(extreme, y, reduction="none")).all()
        value, slope = md.compile(md.value_and_grad(case.loss), rows=[0, 1])(extreme, y)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_outputs_of_zero_have_finite_losses_and_slopes(case):
    """A net whose last layer starts at zero gives them."""
    z, y = case.arguments()
    value, slope = md.value_and_grad(case.loss)(np.zeros_like(z), y)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@each_dtype
def test_cross_entropy_is_the_distance_to_the_best_logit(dtype):
    z = np.array([[1e4, -1e4, 0.0], [1e4, -1e4, 0.0]], dtype=dtype)
    np.testing.assert_array_equal(CrossEntropy()(z, [0, 1], reduction="none"), np.array([0.0, 2e4], dtype=dtype))
    np.testing.assert_array_equal(md.grad(CrossEntropy())(z, np.array([0, 1])), [[0, 0, 0], [0.5, -0.5, 0]])


def test_a_logit_of_minus_infinity_is_a_class_that_cannot_be():
    z = np.array([[0.0, -np.inf, 0.0]])
    assert CrossEntropy()(z, [0]) == pytest.approx(np.log(2.0))
    assert CrossEntropy()(z, [1]) == np.inf
    assert CrossEntropy()(z, [[0.5, 0.0, 0.5]]) == pytest.approx(np.log(2.0))
    assert KLDivergence()(z, [[0.5, 0.0, 0.5]]) == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(md.grad(CrossEntropy())(z, np.array([0])), [[-0.5, 0.0, 0.5]])


def test_a_weight_of_zero_removes_an_infinite_loss():
    z, y, weight = np.array([[0.0, -np.inf], [0.0, 0.0]]), np.array([1, 1]), np.array([0.0, 1.0])
    value, slope = md.value_and_grad(CrossEntropy())(z, y, weight)
    assert value == CrossEntropy()(z, y, weight) == pytest.approx(np.log(2.0))
    np.testing.assert_array_equal(slope, [[0.0, 0.0], [0.5, -0.5]])


def test_predictions_too_large_for_a_float_are_infinite():
    assert Poisson().predict([[1e4]]) == np.inf


@pytest.mark.parametrize("loss", [BinaryCrossEntropy(), BinaryFocal()], ids=lambda loss: loss.name)
def test_infinite_logits_are_certainty(loss):
    z = np.array([[np.inf], [-np.inf], [np.inf], [-np.inf]])
    np.testing.assert_array_equal(loss(z, [1, 0, 0, 1], reduction="none"), [0.0, 0.0, np.inf, np.inf])


def test_binary_cross_entropy_has_slope_one_half_at_zero():
    np.testing.assert_array_equal(
        md.grad(BinaryCrossEntropy())(np.zeros((2, 1)), np.array([0.0, 1.0])), [[0.25], [-0.25]]
    )


def test_a_sure_and_right_prediction_keeps_the_digits_of_its_small_loss():
    small = np.exp(-30.0)
    assert BinaryCrossEntropy()([[30.0]], [1]) == pytest.approx(small, rel=1e-12, abs=0)
    assert BinaryCrossEntropy()([[-30.0]], [0]) == pytest.approx(small, rel=1e-12, abs=0)
    offset = 1e4  # a constant on all logits changes nothing
    assert CrossEntropy()([[offset + 8.0, offset]], [0]) == pytest.approx(np.log1p(np.exp(-8.0)), rel=1e-12, abs=0)


def test_focal_loss_has_a_slope_where_cross_entropy_is_zero():
    """The derivative of a power below 1 is infinite at 0; the loss's is not."""
    z = np.array([[1e4, 0.0]])
    for gamma in (0.5, 1.0, 2.0):
        np.testing.assert_array_equal(md.grad(Focal(gamma=gamma))(z, np.array([0])), [[0.0, 0.0]])


def test_log_cosh_keeps_all_digits_near_zero_and_grows_like_the_distance():
    loss = LogCosh()
    assert loss([[1e-8]], [0.0]) == pytest.approx(5e-17, rel=1e-12, abs=0)
    assert loss([[1e6]], [0.0]) == pytest.approx(1e6 - np.log(2.0), rel=1e-15)
    below, above = loss([[np.nextafter(1.0, 0.0)]], [0.0]), loss([[1.0]], [0.0])
    assert below == pytest.approx(above, rel=1e-14)
    assert above == pytest.approx(np.log(np.cosh(1.0)), rel=1e-14)


@pytest.mark.parametrize("loss", [Huber(), LogCosh()], ids=lambda loss: loss.name)
def test_curvature_at_zero_is_one(loss):
    assert md.hessian(lambda z: loss.rows(z[None], np.zeros((1, 1)))[0])(np.zeros(1)) == pytest.approx(1.0)


def test_huber_of_a_huge_residual_does_not_overflow():
    assert Huber()([[1e300]], [0.0]) == 1e300


def test_an_infinite_rate_is_an_infinite_loss_and_a_rate_of_zero_predicts_zero():
    loss = Poisson()
    assert loss([[1e4]], [1.0]) == np.inf
    assert loss([[-np.inf]], [0]) == 0.0
    assert loss([[-np.inf]], [1]) == np.inf


@pytest.mark.parametrize("scale", ["log_variance", "softplus"])
def test_the_floor_bounds_the_likelihood(scale):
    """Without it the loss of an exact hit falls without bound as the variance does."""
    loss = HeteroscedasticGaussian(scale=scale, floor=1e-4)
    lowest = 0.5 * np.log(2 * np.pi * 1e-4)
    assert loss([[1.0, -1e4]], [1.0]) == pytest.approx(lowest, rel=1e-12)
    assert loss.variance([[1.0, -1e4]])[0, 0] == pytest.approx(1e-4, rel=1e-12, abs=0)


def test_probabilities_of_ordered_classes_add_up_to_one(rng):
    z = rng.normal(size=(50, 4)) * np.logspace(-1, 4, 50)[:, None]
    p = Ordinal().predict(z)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    loss = np.stack([Ordinal()(z, np.full(50, k), reduction="none") for k in range(5)], axis=1)
    np.testing.assert_allclose(np.exp(-loss), p, rtol=1e-9, atol=1e-300)


def test_ordered_classes_far_apart_are_told_apart_without_infinity():
    z = np.full((N_ROWS, 3), -1e4)
    assert np.isfinite(Ordinal()(z, np.arange(N_ROWS) % 4, reduction="none")).all()
