"""What the lectures say of sigmoid and of rectifiers, asked of ``gallery/activation_problems.py``. Lecture row B6."""

from __future__ import annotations

import numpy as np
import pytest

import activation_problems as measured
import madaline as md


def test_sigmoid_saturates_and_lets_no_gradient_through():  # B6
    at = np.array([0.0, 5.0, 10.0, 20.0])
    slopes = measured.slopes("sigmoid", at)
    assert slopes[0] == 0.25
    assert (slopes[1:] < [1e-2, 1e-4, 1e-8]).all()
    np.testing.assert_allclose(measured.slopes("sigmoid", -at), slopes, rtol=1e-6)
    np.testing.assert_array_equal(measured.slopes("relu", at[1:]), 1.0)


@pytest.mark.parametrize("shift", [-20.0, 20.0])
def test_a_saturated_unit_does_not_learn(shift):  # B6
    """Its target is at the other end, so the loss is as large as it can be, and yet nothing moves."""
    X = measured.positive_and_centred()[1]

    def loss(params):
        w, b = params
        return np.mean((md.functional.sigmoid(X @ w + b) - (shift < 0)) ** 2)

    assert loss((np.zeros(2), shift)) > 0.99
    slopes = md.grad(loss)((np.zeros(2), shift))
    assert max(np.abs(slope).max() for slope in slopes) < 1e-8


def test_outputs_of_sigmoid_and_relu_are_not_zero_centred_and_those_of_tanh_are():  # B6
    assert measured.mean_output("sigmoid") == pytest.approx(0.5, abs=0.01)
    assert measured.mean_output("relu") == pytest.approx(1 / np.sqrt(2 * np.pi), abs=0.01)
    assert measured.mean_output("tanh") == pytest.approx(0.0, abs=0.01)


def test_positive_inputs_pull_all_weights_the_same_way():  # B6
    """Of ten weights with independent signs, all agree in one of 2^9 rows."""
    z = md.nn.initializers.stream(0, "rows", "inputs").standard_normal((1000, 10))
    assert measured.same_sign(measured.row_gradients(md.nn.activations.sigmoid(z))) == 1.0
    assert measured.same_sign(measured.row_gradients(np.tanh(z))) < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_positive_inputs_make_descent_zigzag(seed):  # B6
    """The goal is to raise one weight and lower the other, which no single step can do."""
    positive, centred = measured.positive_and_centred()
    steps, path = measured.zigzag(positive, seed=seed)
    moves = np.diff(path, axis=0)
    assert (moves[:, 0] * moves[:, 1] >= 0).all()
    assert (np.diff(np.sign(moves[:, 0])) != 0).mean() > 0.2  # up and down in turn
    fewer, straighter = measured.zigzag(centred, seed=seed)
    assert steps > 2 * fewer
    length = np.linalg.norm(moves, axis=1).sum()
    assert length > 1.3 * np.linalg.norm(np.diff(straighter, axis=0), axis=1).sum()


def never_fires(activation, X, y):
    """A net of two units, of which the second is below 0 for every row: parameters before and after 100 steps."""
    params = [np.array([[1.0, 0.1], [0.5, -0.1]]), np.array([0.0, -10.0]), np.array([0.5, -0.5]), 0.0]

    def loss(params):
        W, b, v, c = params
        return np.mean((activation(X @ W + b) @ v + c - y) ** 2)

    slope = md.compile(md.grad(loss))
    start = params
    for _ in range(100):
        params = [w - 0.05 * g for w, g in zip(params, slope(params), strict=True)]
    return start, params


def test_a_rectifier_that_never_fires_keeps_its_very_bits_and_a_leaky_one_learns():  # B6
    X = measured.positive_and_centred()[1]
    y = 3.0 * X[:, 0]
    start, end = never_fires(md.nn.activations.relu, X, y)
    np.testing.assert_array_equal(start[0][:, 1], end[0][:, 1])
    assert start[1][1] == end[1][1]
    assert not np.array_equal(start[0][:, 0], end[0][:, 0])  # the other unit learns
    start, end = never_fires(md.nn.activations.leaky_relu, X, y)
    assert not np.array_equal(start[0][:, 1], end[0][:, 1])
    assert start[1][1] != end[1][1]


@pytest.mark.parametrize("seed", range(2))
def test_large_steps_kill_rectifiers(data_dir, seed):  # B6
    X, y = measured.digits(data_dir)
    dead, slopes = measured.dead_units(X, y, rate=1.0, seed=seed)
    assert dead.sum() > 50
    assert (slopes[dead] == 0.0).all()
    assert measured.dead_units(X, y, rate=0.1, seed=seed)[0].sum() <= 2


def test_relu_learns_several_times_faster_than_tanh_and_sigmoid_on_raw_pixels(data_dir):  # B6
    """The conditions of the lecture's figure: pixels less their mean, N(0, 0.01^2). There it is 6 times against tanh
    in a convolutional net, here between 3 and 4."""
    X, y = measured.digits(data_dir, scaled=False)
    steps = {
        name: len(measured.learn(name, X, y, seed=0, init=md.nn.initializers.Normal(0.01)))
        for name in measured.ACTIVATIONS
    }
    assert steps["tanh"] > 2.5 * steps["relu"]
    assert steps["sigmoid"] > 5 * steps["relu"]


def test_with_scaled_inputs_and_xavier_tanh_is_as_fast_as_relu_and_sigmoid_is_not(data_dir):  # B6
    X, y = measured.digits(data_dir)
    steps = {name: len(measured.learn(name, X, y, seed=0)) for name in measured.ACTIVATIONS}
    assert 0.5 < steps["tanh"] / steps["relu"] < 2.0
    assert steps["sigmoid"] > 1.4 * steps["relu"]


def test_relu_induces_sparsity(data_dir):  # B6
    X, y = measured.digits(data_dir)
    for share in measured.silent_share("relu", X, y, seed=0, steps=200):
        assert 0.3 < share < 0.8
    assert measured.silent_share("tanh", X, y, seed=0, steps=200) == (0.0, 0.0)
