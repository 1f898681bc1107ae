"""Gradient descent with all rows, with one, and with a few; with and without replacement. Lecture row A9.

The example ``batch_size`` of the gallery is the experiment on MNIST; here is a small part of it.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import madaline as md

RATE = 0.05


@pytest.fixture
def problem(rng):
    """Rows, targets, and where the descent of a linear unit starts."""
    X = rng.normal(size=(12, 3))
    return X, X @ rng.normal(size=(3, 1)) + rng.normal(size=(12, 1)), rng.normal(size=(3, 1))


def descend(X, y, W, **settings):
    """The weights after md.Trainer's descent, from W."""
    model = md.Linear(1, bias=False).init(3, dtype="float64")
    model.params["W"] = W
    trainer = md.Trainer(model, loss="mse", optimizer=md.SGD(RATE))
    trainer.fit(X, y, **settings)
    return trainer.model.params["W"]


def last_loss(X, y, *, size, rate):
    """The loss on all rows after five epochs of a net with one hidden layer."""
    trainer = md.Trainer(md.mlp(100, 10), loss="cross_entropy", optimizer=md.SGD(rate), threads=1)
    history = trainer.fit(X, y, epochs=5, batch_size=size, validation=(X, y), on_divergence="stop")
    return float(history["val_loss"][-1])


def slope(W, X, y):
    """The gradient of mean((X W - y)^2) by hand."""
    return 2.0 * X.T @ (X @ W - y) / len(X)


def test_the_full_batch_is_plain_gradient_descent(problem):  # A9
    X, y, W = problem
    found = descend(X, y, W, epochs=4, batch_size=None)
    for _ in range(4):
        W = W - RATE * slope(W, X, y)
    np.testing.assert_allclose(found, W, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 4, 5])
def test_one_row_or_a_few_are_a_step_in_the_order_of_the_rows(problem, size):  # A9
    """With one it is stochastic gradient descent; 12 rows in batches of 5 end with one of 2."""
    X, y, W = problem
    found = descend(X, y, W, epochs=2, batch_size=size, shuffle=False)
    for _ in range(2):
        for start in range(0, 12, size):
            rows = slice(start, start + size)
            W = W - RATE * slope(W, X[rows], y[rows])
    np.testing.assert_allclose(found, W, rtol=1e-12)


def test_shuffled_rows_are_steps_in_the_order_of_the_epoch(problem):  # A9
    X, y, W = problem
    trainer = md.Trainer(md.Linear(1), optimizer=md.SGD(RATE))
    trainer.fit(X, y, epochs=1, batch_size=1)
    order = trainer.run.source.batches(0).order
    assert order.tolist() != list(range(12))
    found = descend(X, y, W, epochs=1, batch_size=1)  # the same seed, so the same order
    for row in order:
        W = W - RATE * slope(W, X[[row]], y[[row]])
    np.testing.assert_allclose(found, W, rtol=1e-12)


@pytest.mark.parametrize(("sampler", "repeats"), [("shuffled", False), ("with_replacement", True)])
def test_with_replacement_rows_repeat_and_without_they_do_not(problem, sampler, repeats):  # A9
    X, y, _ = problem
    trainer = md.Trainer(md.Linear(1), optimizer=md.SGD(RATE))
    trainer.fit(X, y, epochs=3, batch_size=4, sampler=sampler)
    for epoch in range(3):
        order = trainer.run.source.batches(epoch).order
        assert len(order) == 12
        assert (len(set(order)) < 12) is repeats


def test_gradients_of_batches_are_right_on_average_and_the_smaller_the_noisier(rng):  # A9
    """Of an epoch without replacement the mean is the full gradient; of draws with it the variance falls as 1/size."""
    X, W = rng.normal(size=(960, 3)), rng.normal(size=(3, 1))
    y = rng.normal(size=(960, 1))
    gradient = md.compile(md.grad(lambda W, X, y: np.mean((X @ W - y) ** 2)))
    order = rng.permutation(960)
    parts = [gradient(W, X[rows], y[rows]) for rows in order.reshape(-1, 8)]
    np.testing.assert_allclose(np.mean(parts, axis=0), slope(W, X, y), rtol=1e-10)
    noise = {}
    for size in (4, 16):
        draws = [gradient(W, X[rows], y[rows]) for rows in rng.integers(0, 960, (4000, size))]
        noise[size] = np.var(draws, axis=0).sum()
    assert noise[4] / noise[16] == pytest.approx(4.0, rel=0.1)


def test_for_equal_epochs_small_batches_get_further_than_all_rows_at_once():  # A9
    X, y = load_digits(return_X_y=True)
    X = ((X - X.mean()) / X.std()).astype(np.float32)
    small, full = (min(last_loss(X, y, size=size, rate=rate) for rate in (0.03, 0.1, 0.3)) for size in (16, None))
    assert small < 0.3 * full
