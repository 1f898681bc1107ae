"""What the lectures say about how weights should start, and the statistics they print. Lecture rows B9, D3, D4."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import madaline as md
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.activations import relu, tanh
from madaline.nn.initializers import INITIALIZERS, Constant, FanScaled, Normal, stream

ROUNDED = 0.5e-6
"The deck prints six decimals."

N_ROWS, WIDTH, N_LAYERS = 1000, 500, 10
SEEDS = range(8)

# Mean and standard deviation of each hidden layer, as printed in the deck.
PRINTED = {
    ("0.01 randn", "tanh"): [
        (-0.000117, 0.213081), (-0.000001, 0.047551), (-0.000002, 0.010630), (0.000001, 0.002378),
        (0.000002, 0.000532), (-0.000000, 0.000119), (0.000000, 0.000026), (-0.000000, 0.000006),
        (0.000000, 0.000001), (-0.000000, 0.000000),
    ],
    ("1.0 randn", "tanh"): [
        (-0.000430, 0.981879), (-0.000849, 0.981649), (0.000566, 0.981601), (0.000483, 0.981755),
        (-0.000682, 0.981614), (-0.000401, 0.981560), (-0.000237, 0.981520), (-0.000448, 0.981913),
        (-0.000899, 0.981728), (0.000584, 0.981736),
    ],
    ("Xavier", "tanh"): [
        (0.001198, 0.627953), (-0.000175, 0.486051), (0.000055, 0.407723), (-0.000306, 0.357108),
        (0.000142, 0.320917), (-0.000389, 0.292116), (-0.000228, 0.273387), (-0.000291, 0.254935),
        (0.000361, 0.239266), (0.000139, 0.228008),
    ],
    ("Xavier", "relu"): [
        (0.398623, 0.582273), (0.272352, 0.403795), (0.186076, 0.276912), (0.136442, 0.198685),
        (0.099568, 0.140299), (0.072234, 0.103280), (0.049775, 0.072748), (0.035138, 0.051572),
        (0.025404, 0.038583), (0.018408, 0.026076),
    ],
    ("He", "relu"): [
        (0.562488, 0.825232), (0.553614, 0.827835), (0.545867, 0.813855), (0.565396, 0.826902),
        (0.547678, 0.834092), (0.587103, 0.860035), (0.596867, 0.870610), (0.623214, 0.889348),
        (0.567498, 0.845357), (0.552531, 0.844523),
    ],
}  # fmt: skip

INITS = {
    "0.01 randn": Normal(0.01),
    "1.0 randn": Normal(1.0),
    "Xavier": INITIALIZERS["lecun_normal"],  # 1 / sqrt(fan_in), which the deck calls Xavier
    "He": INITIALIZERS["he_normal"],
}


def layers(init, activation, seed):
    """The activations of every hidden layer for unit Gaussian data: N_LAYERS times (N_ROWS, WIDTH)."""
    h = stream(seed, "data", "lecture").standard_normal((N_ROWS, WIDTH)).astype(np.float32)
    for number in range(N_LAYERS):
        W = INITS[init].draw((WIDTH, WIDTH), stream(seed, f"{number}.W", "init")).astype(np.float32)
        h = md.nn.as_activation(activation)(h @ W)
        yield h


@cache
def statistics(init, activation):
    """Mean and standard deviation of each layer for each seed: (n_seeds, n_layers, 2)."""
    return np.array(
        [
            [(h.mean(dtype=np.float64), h.std(dtype=np.float64)) for h in layers(init, activation, seed)]
            for seed in SEEDS
        ]
    )


@pytest.mark.parametrize(("init", "activation"), PRINTED)
def test_the_printed_statistics_lie_within_three_deviations_of_ours(init, activation):  # B9
    ours = statistics(init, activation)
    distance = np.abs(np.array(PRINTED[init, activation]) - ours.mean(axis=0))
    deviation = ours.std(axis=0, ddof=1)
    assert (distance <= 3.0 * deviation + ROUNDED).all(), (distance - ROUNDED) / deviation


def test_small_weights_lose_the_signal_and_large_ones_saturate_the_units():  # B9
    *_, last = layers("0.01 randn", "tanh", seed=0)
    assert np.abs(last).max() < 1e-5
    low, high = tanh.saturation
    W = Normal(1.0).draw((WIDTH, WIDTH), stream(0, "0.W", "init"))
    z = stream(0, "data", "lecture").standard_normal((N_ROWS, WIDTH)) @ W
    assert ((z < low) | (z > high)).mean() > 0.85


def test_weights_of_zero_give_zero_and_no_gradient_but_the_last_bias():  # B9
    def loss(params, X, y):
        (W1, b1), (W2, b2) = params
        return np.mean((np.tanh(X @ W1 + b1) @ W2 + b2 - y) ** 2)

    rng = stream(0, "data", "lecture")
    zeros = INITIALIZERS["zeros"]
    params = [(zeros.draw((4, 6), rng), np.zeros(6)), (zeros.draw((6, 1), rng), np.zeros(1))]
    slopes = md.grad(loss)(params, rng.normal(size=(20, 4)), rng.normal(size=(20, 1)))
    assert [bool(np.any(slope)) for layer in slopes for slope in layer] == [False, False, False, True]


def net_loss(params, X, y):
    W1, b1, W2, b2 = params
    return np.mean((np.tanh(X @ W1 + b1) @ W2 + b2 - y) ** 2)


@pytest.mark.parametrize(("init", "distinct"), [(Constant(1.0), 1), (INITIALIZERS["xavier_normal"], 8)])
def test_equal_weights_make_one_unit_of_many_and_stay_equal_while_learning(init, distinct):  # D3
    rng = stream(0, "data", "lecture")
    X = rng.normal(size=(100, 3))
    y = np.sin(X[:, :1]) * X[:, 1:2]
    params = [
        init.draw((3, 8), stream(0, "0.W", "init")),
        np.zeros(8),
        init.draw((8, 1), stream(0, "1.W", "init")),
        np.zeros(1),
    ]
    step = md.compile(md.value_and_grad(net_loss))
    first, _ = step(params, X, y)
    for _ in range(200):
        _, slopes = step(params, X, y)
        params = [w - 0.05 * slope for w, slope in zip(params, slopes, strict=True)]
    last, _ = step(params, X, y)
    assert last < first
    units = np.concatenate([params[0], params[1][None], params[2].T])  # all that belongs to a unit is a column
    assert len(np.unique(units.round(9), axis=1).T) == distinct


def test_the_forward_condition_asks_for_the_second_moment_and_not_the_variance():  # D4
    """n_in var(W) E[a^2] = 1. With relu's variance, 0.34, in place of E[a^2] = 1/2, the sums would grow."""
    rng = stream(0, "data", "lecture")
    a = relu(rng.standard_normal((4000, WIDTH)))
    unit = rng.standard_normal((WIDTH, 200)) / np.sqrt(WIDTH)
    assert (a**2).mean() == pytest.approx(0.5, rel=0.01)
    assert (a @ unit / np.sqrt(0.5)).var() == pytest.approx(1.0, rel=0.05)
    assert (a @ unit / np.sqrt(a.var())).var() == pytest.approx(0.5 / (0.5 - 0.5 / np.pi), rel=0.05)


@pytest.mark.parametrize(
    ("name", "forward", "backward"),
    [("lecun_normal", 1.0, 400 / 100), ("xavier_normal", 200 / 500, 800 / 500), ("xavier_uniform", 0.4, 1.6)],
)
def test_variances_forward_and_backward_for_linear_units(name, forward, backward):  # D4
    """n_in var(W) of the data and n_out var(W) of the gradient: only Xavier's mean of both treats them alike."""
    W = INITIALIZERS[name].draw((100, 400), stream(0, "0.W", "init"))
    rng = stream(0, "data", "lecture")
    x, y_bar = rng.standard_normal((2000, 100)), rng.standard_normal((2000, 400))
    assert (x @ W).var() == pytest.approx(forward, rel=0.03)
    (x_bar,) = md.vjp(lambda x: x @ W, x)[1](y_bar)
    assert x_bar.var() == pytest.approx(backward, rel=0.03)


@pytest.mark.parametrize("name", ["tanh", "relu", "elu", "swish", "gelu", "selu", "softsign"])
def test_with_its_gain_an_activation_passes_a_signal_through_ten_layers(name):  # D4
    """The second moment of the sums stays 1, where without the gain it falls or grows with each layer."""
    activation = ACTIVATIONS[name]
    init = FanScaled(1.0, "in", gain=activation.gain)
    h = stream(0, "data", "lecture").standard_normal((300, WIDTH))
    for number in range(N_LAYERS):
        z = h @ init.draw((WIDTH, WIDTH), stream(0, f"{number}.W", "init")) if number else h
        h = activation(z)
    assert (z**2).mean() == pytest.approx(1.0, rel=0.25)
