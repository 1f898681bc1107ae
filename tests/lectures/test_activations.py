"""What the lectures say of sigmoid and of rectifiers,  Lecture row B6."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


def slopes(name, x):
    """The derivative of an activation."""
    return md.jvp(md.nn.as_activation(name), (x,), (np.ones_like(x),))[1]


def mean_output(name):
    """The mean output of a unit whose input is standard normal."""
    z = md.nn.initializers.stream(0, name, "input").standard_normal(100_000)
    return float(md.nn.as_activation(name)(z).mean())


def same_sign(X):
    """The fraction of rows for which all weights of a tanh unit have gradients of the same sign; random targets."""
    rng = md.nn.initializers.stream(0, "unit", "gradients")
    w, y = rng.standard_normal(X.shape[1]), rng.integers(0, 2, len(X)).astype(float)
    gradients = md.jacobian(lambda w: (np.tanh(X @ w) - y) ** 2)(w)
    return float(((gradients >= 0).all(axis=1) | (gradients <= 0).all(axis=1)).mean())


def zigzag(X, *, seed):
    """Learn the weights (1, -1) of a linear unit, one row at a time, at the largest rate that cannot diverge.

    Returns the number of steps until the weights are within 0.05, and their path.
    """
    goal = np.array([1.0, -1.0])
    gradient = md.compile(md.grad(lambda w, x: 0.5 * (x @ w - x @ goal) ** 2))
    rule = md.SGD(1.0 / float((X * X).sum(axis=1).max()))
    path = [np.zeros(2)]
    for t, row in enumerate(md.nn.initializers.stream(seed, "rows", "order").integers(0, len(X), 100_000), start=1):
        w, _ = rule.step(path[-1], gradient(path[-1], X[row]), (), t=t)
        path.append(w)
        if np.abs(w - goal).max() < 0.05:
            break
    return len(path) - 1, np.array(path)


def positive_and_centred():
    """Two columns of outputs of sigmoid units, and the same columns centred."""
    z = md.nn.initializers.stream(0, "rows", "inputs").standard_normal((500, 2))
    X = md.nn.activations.sigmoid(2.0 * z)
    return X, X - X.mean(axis=0)


def digits(folder, *, scaled=True):
    """2,000 images of MNIST: of unit variance, or minus their mean only, as for AlexNet."""
    with np.load(folder / "image" / "mnist.npz") as file:
        X, y = file["x_train"][:2000].reshape(2000, -1).astype(np.float32), file["y_train"][:2000].astype(np.int64)
    return (X - X.mean()) / X.std() if scaled else X - X.mean(axis=0), y


def train(X, y, *widths, activation, rate, steps, seed=0, init="auto"):
    """Plain SGD on mini-batches of 100 rows: the trainer, and the loss averaged over every 20 steps."""
    net = md.mlp(*widths, 10, activation=activation, init=init)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(rate), seed=seed, threads=1)
    history = trainer.fit(
        X,
        y,
        epochs=steps // 20,
        batch_size=100,
        sampler=lambda n_rows, rng: rng.integers(0, n_rows, 20 * 100),
        on_divergence="stop",
    )
    return trainer, np.array(history["loss"] if len(history) else [np.inf])


def steps_to_learn(X, y, name, rates, init="auto"):
    """Steps until the training loss is below 0.25, at the fastest of the rates."""
    fewest = 1200
    for rate in rates:
        _, losses = train(X, y, 128, 128, activation=name, rate=rate, steps=fewest, init=init)
        reached = np.flatnonzero(losses < 0.25)
        fewest = min(fewest, 20 * (1 + int(reached[0]))) if len(reached) else fewest
    return fewest


def test_sigmoid_saturates_and_lets_no_gradient_through():  # B6
    at = np.array([0.0, 5.0, 10.0, 20.0])
    found = slopes("sigmoid", at)
    assert found[0] == 0.25
    assert (found[1:] < [1e-2, 1e-4, 1e-8]).all()
    np.testing.assert_allclose(slopes("sigmoid", -at), found, rtol=1e-6)
    np.testing.assert_array_equal(slopes("relu", at[1:]), 1.0)


@pytest.mark.parametrize("shift", [-20.0, 20.0])
def test_a_saturated_unit_does_not_learn(shift):  # B6
    """Its target is at the other end, so the loss is as large as it can be, and yet nothing moves."""
    X = positive_and_centred()[1]

    def loss(params):
        w, b = params
        return np.mean((md.functional.sigmoid(X @ w + b) - (shift < 0)) ** 2)

    assert loss((np.zeros(2), shift)) > 0.99
    slopes = md.grad(loss)((np.zeros(2), shift))
    assert max(np.abs(slope).max() for slope in slopes) < 1e-8


def test_outputs_of_sigmoid_and_relu_are_not_zero_centred_and_those_of_tanh_are():  # B6
    assert mean_output("sigmoid") == pytest.approx(0.5, abs=0.01)
    assert mean_output("relu") == pytest.approx(1 / np.sqrt(2 * np.pi), abs=0.01)
    assert mean_output("tanh") == pytest.approx(0.0, abs=0.01)


def test_positive_inputs_pull_all_weights_the_same_way():  # B6
    """Of ten weights with independent signs, all agree in one of 2^9 rows."""
    z = md.nn.initializers.stream(0, "rows", "inputs").standard_normal((1000, 10))
    assert same_sign(md.nn.activations.sigmoid(z)) == 1.0
    assert same_sign(np.tanh(z)) < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_positive_inputs_make_descent_zigzag(seed):  # B6
    """The goal is to raise one weight and lower the other, which no single step can do."""
    positive, centred = positive_and_centred()
    steps, path = zigzag(positive, seed=seed)
    moves = np.diff(path, axis=0)
    assert (moves[:, 0] * moves[:, 1] >= 0).all()
    assert (np.diff(np.sign(moves[:, 0])) != 0).mean() > 0.2  # up and down in turn
    fewer, straighter = zigzag(centred, seed=seed)
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
    X = positive_and_centred()[1]
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
    """A dead unit is 0 for all rows, so a step of any size leaves its weights as they are."""
    X, y = digits(data_dir)
    dead = {}
    for rate in (0.1, 1.0):
        trainer, _ = train(X, y, 200, activation="relu", rate=rate, steps=300, seed=seed)
        dead[rate] = ~(trainer.model.activations(X)["1"] > 0).any(axis=0)
    assert dead[0.1].sum() <= 2
    assert dead[1.0].sum() > 50
    before = trainer.model.params["0.W"].copy()
    trainer.partial_fit(X, y, epochs=1, batch_size=None)
    moved = (trainer.model.params["0.W"] != before).any(axis=0)
    assert not moved[dead[1.0]].any()
    assert moved[~dead[1.0]].any()


def test_relu_learns_several_times_faster_than_tanh_and_sigmoid_on_raw_pixels(data_dir):  # B6
    """The conditions of the lecture's figure: pixels less their mean, N(0, 0.01^2). There it is 6 times against tanh
    in a convolutional net, here about 3."""
    X, y = digits(data_dir, scaled=False)
    init = md.nn.initializers.Normal(0.01)
    rates = {"relu": (0.01, 0.03), "tanh": (0.03, 0.1, 0.3), "sigmoid": (0.1, 0.3, 1.0)}
    steps = {name: steps_to_learn(X, y, name, some, init) for name, some in rates.items()}
    assert steps["tanh"] > 2 * steps["relu"]
    assert steps["sigmoid"] > 4 * steps["relu"]


def test_with_scaled_inputs_and_xavier_tanh_is_as_fast_as_relu_and_sigmoid_is_not(data_dir):  # B6
    X, y = digits(data_dir)
    steps = {name: steps_to_learn(X, y, name, (0.1, 0.3, 1.0)) for name in ("sigmoid", "tanh", "relu")}
    assert 0.4 < steps["tanh"] / steps["relu"] < 2.0
    assert steps["sigmoid"] > 1.4 * steps["relu"]


def test_relu_induces_sparsity(data_dir):  # B6
    X, y = digits(data_dir)
    for name, low, high in (("relu", 0.3, 0.8), ("tanh", 0.0, 0.0)):
        trainer, _ = train(X, y, 200, 200, activation=name, rate=0.1, steps=200)
        for model in (trainer.net.init(X), trainer.model):
            shares = [np.mean(model.activations(X)[layer] == 0) for layer in ("1", "3")]
            assert low <= np.mean(shares) <= high
