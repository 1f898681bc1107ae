"""Skip connections: the paths of the gradient, and nets of hundreds of layers. Lecture rows C9, D9."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

# D9: the scalar net of three layers, a_l = g(W_l a_{l-1}) + a_{l-1}


def scalar_net(activation, *, skips=True):
    block = md.Residual if skips else md.Sequential
    return md.Sequential(*(block(md.Linear(1, bias=False), activation) for _ in range(3))).init(1, dtype="float64")


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "softplus", "relu"])
@pytest.mark.parametrize("weights", [(0.5, -1.2, 0.8), (2.0, 1.5, 0.3), (-0.4, 0.9, 1.1)])
def test_the_gradient_by_the_first_weight_is_the_sum_over_four_paths(activation, weights):  # D9
    """dL/dW1 = (a3 - y) (delta1 + delta3 W3 g1' + g2' W2 g1' + g1') a0 for L = (a3 - y)^2 / 2."""
    model = scalar_net(activation)
    model.params.flat[...] = W1, W2, W3 = weights
    g, x, y = md.nn.as_activation(activation), 0.7, 0.2

    def slope(f):
        return md.grad(g)(float(f))

    f1 = W1 * x
    a1 = g(f1) + x
    f2 = W2 * a1
    a2 = g(f2) + a1
    f3 = W3 * a2
    a3 = g(f3) + a2
    assert model([[x]])[0, 0] == pytest.approx(a3, rel=1e-12)

    delta3 = slope(f3)
    delta2 = delta3 * W3 * slope(f2)
    delta1 = delta2 * W2 * slope(f1)
    paths = [
        delta1,  # through layers 2 and 3
        delta3 * W3 * slope(f1),  # around layer 2, through layer 3
        slope(f2) * W2 * slope(f1),  # through layer 2, around layer 3
        slope(f1),  # around both
    ]

    def loss(w):
        output = model.network.run(w, model.state.flat, np.array([[x]])).outputs[""]
        return 0.5 * np.sum((output - y) ** 2)

    assert md.grad(loss)(model.params.flat)[0] == pytest.approx((a3 - y) * sum(paths) * x, rel=1e-12)


def test_without_skips_only_the_path_through_all_layers_is_left():  # D9
    """It is a product of all slopes and weights; with skips one path is the slope of the first layer alone."""

    def first_slope(skips):
        model = scalar_net("tanh", skips=skips)
        output = lambda w: model.network.run(w, model.state.flat, np.array([[0.7]])).outputs[""][0, 0]  # noqa: E731
        return md.grad(output)(np.array([0.5, 0.1, 0.1]))[0]

    assert abs(first_slope(skips=False)) < 0.01 * abs(first_slope(skips=True))


def test_a_block_learns_what_is_to_be_added_to_its_input(rng):  # C9
    """Don't force a layer to learn everything about a mapping: with weights 0 it is the identity already."""
    X = rng.normal(size=(10, 6))
    block = md.Residual(md.Linear(6), "relu", md.Linear(6, init="zeros")).init(X)
    np.testing.assert_allclose(block(X), X, rtol=1e-6)


# C9: 200 hidden layers

DEPTH, WIDTH = 200, 16


def plain_net():
    """Linear, ReLU, Linear, ReLU ... with He's weights."""
    return md.mlp(*[WIDTH] * DEPTH, 1)


def skip_net():
    """The same layers in blocks of two with a way around; a block's second layer starts at 0, so it adds nothing."""
    blocks = [md.Residual(md.Linear(WIDTH), "relu", md.Linear(WIDTH, init="zeros")) for _ in range(DEPTH // 2)]
    return md.Sequential(md.Linear(WIDTH), *blocks, md.Linear(1))


def first_step_loss(w, model, X, y):
    return md.MSE()(model.network.run(w, model.state.flat, X).outputs[""], y)


def test_two_hundred_layers_train_with_skips_and_not_without(rng):  # C9
    """With plain descent; rules that divide by the size of the gradient, as Adam, may wake the plain net by noise."""
    X = rng.normal(size=(64, 4)).astype(np.float32)
    y = np.sin(X[:, :1]) * X[:, 1:2]
    at_first, lowest = {}, {}
    for kind, net in {"plain": plain_net(), "skips": skip_net()}.items():
        model = net.init(X)
        slope = md.grad(first_step_loss)(model.params.flat, model, X, y)
        at_first[kind] = np.linalg.norm(model.network.params["0.W"].of(slope))
        trainer = md.Trainer(model, loss="mse", optimizer=md.SGD(1e-3, momentum=0.9))
        lowest[kind] = trainer.fit(X, y, epochs=60, batch_size=None)["loss"].min()
    assert at_first["skips"] > 1e4 * at_first["plain"]
    assert lowest["skips"] < 0.1 * y.var()
    assert lowest["plain"] > 0.99 * y.var()  # no better than saying the mean of all targets
