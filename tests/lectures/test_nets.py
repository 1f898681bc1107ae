"""Nets of any depth, width and output, and why they need activations. Lecture rows A2, B3, B4, C1."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


@pytest.mark.parametrize("widths", [(3,), (7, 3), (4, 9, 2, 5), (6,) * 30 + (2,)], ids=len)
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
def test_the_feed_forward_algorithm_gives_what_a_model_gives(widths, activation, rng):  # A2
    """h_0 = x; z_k = W_k h_{k-1} + b_k, h_k = sigma(z_k); y = W h_l + b; p = softmax(y). Our W is the transpose."""
    model = md.Sequential(md.mlp(*widths, activation=activation), md.nn.Softmax()).init(5, dtype="float64")
    X, sigma = rng.normal(size=(8, 5)), md.nn.as_activation(activation)
    layers = [(model.params[f"0.{2 * k}.W"], model.params[f"0.{2 * k}.b"]) for k in range(len(widths))]
    h = X
    for W, b in layers[:-1]:
        h = sigma(h @ W + b)
    W, b = layers[-1]
    y = h @ W + b
    p = np.exp(y) / np.exp(y).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model(X), p, rtol=1e-10)


def problem(kind, rng):
    """Rows, targets, loss and a rule that tells which outputs are right."""
    X = rng.normal(size=(120, 2)).astype(np.float32)
    ring = np.hypot(*X.T)
    if kind == "one output":
        return X, (ring > 1.1).astype(float)[:, None], md.BinaryCrossEntropy(), lambda z, y: (z > 0) == (y > 0)
    if kind == "classes":
        return X, np.digitize(ring, [0.8, 1.5]), md.CrossEntropy(), lambda z, y: z.argmax(axis=1) == y
    if kind == "several labels":
        labels = np.column_stack([ring > 1.1, X[:, 0] * X[:, 1] > 0, X[:, 0] > 0]).astype(float)
        return X, labels, md.BinaryCrossEntropy(), lambda z, y: (z > 0) == (y > 0)
    values = np.column_stack([ring, X[:, 0] * X[:, 1]]).astype(np.float32)
    return X, values, md.MSE(), lambda z, y: np.abs(z - y) < 0.25


@pytest.mark.parametrize("kind", ["one output", "classes", "several labels", "vector of numbers"])
def test_a_net_learns_each_kind_of_output(kind, rng):  # C1
    """Only the width of the last layer and the loss differ."""
    X, y, loss, is_right = problem(kind, rng)
    n_out = {"one output": 1, "classes": 3, "several labels": 3, "vector of numbers": 2}[kind]
    trainer = md.Trainer(md.mlp(32, 32, n_out, activation="tanh"), loss=loss, optimizer=md.Adam(0.02))
    trainer.fit(X, y, epochs=250, batch_size=None)
    assert np.mean(is_right(trainer.model(X), y)) > 0.95
    if kind == "classes":
        np.testing.assert_allclose(loss.predict(trainer.model(X)).sum(axis=1), 1.0, rtol=1e-5)


def test_without_biases_a_net_is_silent_for_an_input_of_zeros(rng):  # C1
    """z = W^T h + b: the bias is the same for all inputs, learned, and what is left where the input is 0."""
    with_bias, without = md.mlp(6, 6, 2).init(3), md.mlp(6, 6, 2, bias=False).init(3)
    assert [name for name in with_bias.params if name.endswith("b")] == ["0.b", "2.b", "4.b"]
    assert [name for name in without.params if name.endswith("b")] == []
    with_bias.params["0.b"] = rng.normal(size=6)
    zeros = np.zeros((1, 3))
    assert np.any(with_bias(zeros))
    np.testing.assert_array_equal(without(zeros), 0.0)
    X = rng.normal(size=(5, 3))
    np.testing.assert_allclose(without(2.0 * X), 2.0 * without(X), rtol=1e-5)  # a relu net without biases is a cone


def test_without_activations_a_deep_net_is_one_matrix(rng):  # B3
    """f = W2 W1 x = W3 x, and W3 is C x D (the lecture prints C x H)."""
    D, H, C = 6, 10, 3
    deep = md.Sequential(md.Linear(H, bias=False), md.Linear(C, bias=False)).init(D, dtype="float64")
    W1, W2 = deep.params["0.W"].T, deep.params["1.W"].T
    one = md.functional.collapse(deep)
    assert repr(one.net) == "Sequential(Linear(3))"
    assert one.params["0.W"].T.shape == (C, D)
    X = rng.normal(size=(20, D))
    np.testing.assert_allclose(one.params["0.W"].T, W2 @ W1, rtol=1e-13)
    np.testing.assert_allclose(one(X), deep(X), rtol=1e-12)


def test_biases_norms_and_skips_collapse_as_well(rng):  # B3
    """Every affine part of a net without activations ends in one matrix and one bias."""
    layers = [md.Linear(5), md.BatchNorm(), md.Residual(md.Linear(5), md.Linear(5)), md.Dropout(0.5), md.Linear(2)]
    deep = md.Sequential(*layers).init(4, dtype="float64")
    deep.params.flat[...] = rng.normal(size=deep.params.flat.size)
    deep.state["1.mean"], deep.state["1.variance"] = rng.normal(size=5), rng.uniform(0.5, 2.0, 5)
    one = md.functional.collapse(deep)
    assert repr(one.net) == "Sequential(Linear(2))"
    X = rng.normal(size=(20, 4))
    np.testing.assert_allclose(one(X), deep(X), rtol=1e-10)
    np.testing.assert_allclose(one.params["0.b"], deep(np.zeros((1, 4)))[0], rtol=1e-10)
    assert np.abs(one.params["0.b"]).min() > 0.01


def test_with_an_activation_nothing_collapses(rng):  # B3
    """The 3-layer net W3 max(0, W2 max(0, W1 x)): no matrix does what it does."""
    X = rng.normal(size=(200, 4))
    deep = md.mlp(10, 10, 1).init(X, dtype="float64")
    assert len(md.functional.collapse(deep).net) == 5
    columns = np.column_stack([X, np.ones(200)])
    best, *_ = np.linalg.lstsq(columns, deep(X), rcond=None)
    assert np.std(deep(X) - columns @ best) > 0.1 * np.std(deep(X))


def rings(rng, n_rows=400):
    """Points within radius 1 (class 0) and between radii 1.5 and 2.5 (class 1)."""
    y = np.arange(n_rows) % 2
    r, angle = rng.uniform(1.5 * y, 1.0 + 1.5 * y), rng.uniform(-np.pi, np.pi, n_rows)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)]), y


def polar(X):
    """f(x, y) = (r, theta)."""
    return np.column_stack([np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])])


def test_polar_coordinates_make_circles_separable_by_a_line(rng):  # B4
    X, y = rings(rng)
    share = {}
    for name, features in {"cartesian": X, "polar": polar(X)}.items():
        trainer = md.Trainer(md.Linear(1), loss="binary_cross_entropy", optimizer=md.Adam(0.1))
        trainer.fit(features, y, epochs=400, batch_size=None)
        share[name] = np.mean((trainer.model(features)[:, 0] > 0) == y)
    assert share["polar"] == 1.0
    assert share["cartesian"] < 0.7


def test_a_net_finds_such_features_by_itself(rng):  # B4
    """Its last hidden layer is a transform after which a line, its last layer, separates the rings."""
    X, y = rings(rng)
    trainer = md.Trainer(md.mlp(16, 1, activation="tanh"), loss="binary_cross_entropy", optimizer=md.Adam(0.05))
    trainer.fit(X, y, epochs=300, batch_size=None)
    assert np.mean((trainer.model(X)[:, 0] > 0) == y) == 1.0
