"""What the lectures say about how weights should start, and the statistics they print. Lecture rows B9, D3, D4."""

from __future__ import annotations

import numpy as np
import pytest

import initialisation
import madaline as md
from initialisation import N_LAYERS, N_ROWS, PRINTED, WIDTH, layers, statistics
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.activations import relu, tanh
from madaline.nn.initializers import INITIALIZERS, Constant, FanScaled, Normal, stream

ROUNDED = 0.5e-6
"The deck prints six decimals."


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


def test_the_page_holds_the_statistics_of_every_layer():  # B9
    """Its tables are what the functions measure, to the third decimal: sums may end differently elsewhere."""
    text = initialisation.PAGE.read_text()
    for column, title in ((1, "Standard deviations"), (0, "Means")):
        lines = text.split(f"## {title}")[1].split("| 1 |")[1].splitlines()[:N_LAYERS]
        cells = [line.removeprefix(f"| {number} |").split("|") for number, line in enumerate(lines, start=1)]
        found = np.array([[float(cell.split()[0]) for cell in row if cell.strip()] for row in cells])
        measured = [statistics(*case).mean(axis=0)[:, column] for case in PRINTED]
        np.testing.assert_allclose(found.T, measured, atol=1e-3)


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
