"""Gradients that vanish or explode with depth, and the cures, measured layer by layer. Lecture row C10."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

DEPTH, WIDTH, N_ROWS = 30, 32, 64


def gradients(activation, *, init="auto", norm=None, skips=False):
    """The gradients with respect to the outputs of the hidden layers, first layer first.

    The gradient at the last layer is standard normal, so that all other gradients are this times a product of
    Jacobians.
    """
    X, back = (md.nn.initializers.stream(0, "depth", end).standard_normal((N_ROWS, WIDTH)) for end in ("in", "back"))
    kind = md.Residual if skips else md.Sequential
    norms = {None: [], "batch": [md.BatchNorm()], "layer": [md.LayerNorm()]}
    blocks = [kind(md.Linear(WIDTH, init=init), *norms[norm], activation) for _ in range(DEPTH)]
    model = md.Sequential(*blocks).init(X, dtype="float64")
    layers = [model[position] for position in range(DEPTH)]

    def objective(shifts):
        h = X
        for layer, shift in zip(layers, shifts, strict=True):
            h = layer.network.run(model.params.flat, model.state.flat, h, train=True).outputs[""] + shift
        return np.sum(back * h)

    return md.grad(objective)([np.zeros_like(X)] * DEPTH)


def sizes(*net, **settings):
    """The norm of the gradient with respect to each layer's output, relative to that of the last layer."""
    norms = np.array([np.linalg.norm(gradient) for gradient in gradients(*net, **settings)])
    return norms / norms[-1]


CURES = {
    "relu and He's weights": {"activation": "relu"},
    "tanh and Xavier's weights": {"activation": "tanh"},
    "skips around sigmoid": {"activation": "sigmoid", "skips": True},
    "skips around small weights": {"activation": "relu", "init": md.nn.initializers.Normal(0.05), "skips": True},
    "batch norm before sigmoid": {"activation": "sigmoid", "norm": "batch"},
    "layer norm, small weights": {"activation": "relu", "init": md.nn.initializers.Normal(0.05), "norm": "layer"},
    "layer norm, large weights": {"activation": "relu", "init": md.nn.initializers.Normal(1.0), "norm": "layer"},
    "batch norm and skips, large weights": {
        "activation": "relu",
        "init": md.nn.initializers.Normal(1.0),
        "norm": "batch",
        "skips": True,
    },
}
GLOROT = {
    "U(-1/√n, 1/√n)": {"activation": "tanh", "init": md.nn.initializers.Uniform(WIDTH**-0.5)},
    "Xavier's weights": {"activation": "tanh", "init": "xavier_uniform"},
}
"The two initializers whose histograms Glorot & Bengio (2010) draw in figures 6 and 7."


def test_the_slope_of_sigmoid_is_at_most_a_quarter():  # C10
    z = np.linspace(-10, 10, 2001)
    slopes = md.jvp(md.nn.activations.sigmoid, (z,), (np.ones_like(z),))[1]
    assert slopes.max() == slopes[1000] == 0.25


def test_a_gradient_is_a_product_of_jacobians_and_bounded_by_their_sizes(rng):  # C10
    """One layer's Jacobian is diag(g'(z)) W^T: through sigmoid it is at most |W| / 4 large."""
    model = md.Sequential(*(md.Sequential(md.Linear(6), "sigmoid") for _ in range(4))).init(6, dtype="float64")
    x, product, bound = rng.normal(size=6), np.eye(6), 1.0
    whole = md.jacobian(lambda x: model.network.run(model.params.flat, model.state.flat, x[None]).outputs[""][0])(x)
    for position in range(4):
        W, z = model.params[f"{position}.0.W"], model[position][:1](x)
        h = md.nn.activations.sigmoid(z)
        product = np.diag(h * (1 - h)) @ W.T @ product
        bound *= np.linalg.norm(W, 2) / 4
        x = h
    np.testing.assert_allclose(whole, product, rtol=1e-10, atol=1e-18)
    assert np.linalg.norm(whole, 2) <= bound


def test_through_sigmoid_gradients_vanish_layer_by_layer():  # C10
    found = sizes("sigmoid")
    assert (found[:-1] < 0.5 * found[1:]).all()
    assert found[0] < 1e-15


@pytest.mark.parametrize(("std", "low", "high"), [(0.05, 0.0, 1e-15), (1.0, 1e15, np.inf)], ids=["small", "large"])
def test_small_weights_make_gradients_vanish_and_large_ones_explode(std, low, high):  # C10
    assert low <= sizes("relu", init=md.nn.initializers.Normal(std))[0] < high


@pytest.mark.parametrize("cure", CURES)
def test_a_cure_brings_gradients_through_thirty_layers(cure):  # C10
    """Between a tenth and ten times what was sent back, at every layer."""
    found = sizes(**CURES[cure])
    assert (found > 0.1).all()
    assert (found < 10.0).all()


def test_with_batch_norm_the_scale_of_the_weights_means_nothing():  # C10
    """Not even with relu, though there gradients grow by sqrt(pi / (pi - 1)) = 1.21 a layer (Yang et al. 2019)."""
    small, large = (sizes("relu", init=md.nn.initializers.Normal(std), norm="batch") for std in (0.05, 1.0))
    np.testing.assert_allclose(small, large, rtol=0.25)  # but for eps
    growth = (large[0] / large[-1]) ** (1 / (DEPTH - 1))
    assert growth == pytest.approx(np.sqrt(np.pi / (np.pi - 1)), rel=0.05)


def test_the_two_weights_of_glorot_and_bengio():  # C10
    """Their histograms: U(-1/sqrt(n), 1/sqrt(n)) loses sqrt(3) a layer, the "normalised" weights lose little."""
    standard, normalised = (sizes(**net) for net in GLOROT.values())
    loss_a_layer = (standard[0] / standard[-1]) ** (1 / (DEPTH - 1))
    assert loss_a_layer == pytest.approx(1 / np.sqrt(3), rel=0.05)
    assert normalised[0] > 0.03
