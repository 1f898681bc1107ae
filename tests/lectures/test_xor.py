"""XOR: no line separates it, and three ways to fix that. Lecture row A1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import madaline as md

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = np.array([-1.0, 1.0, 1.0, -1.0])


def separating_line(features):
    """w and b with y (<x, w> + b) >= 1 for every point, or None if there is none."""
    columns = np.column_stack([features, np.ones(len(features))])
    found = linprog(np.zeros(columns.shape[1]), A_ub=-y[:, None] * columns, b_ub=-np.ones(4), bounds=(None, None))
    return found.x if found.success else None


def test_the_net_of_the_lecture_solves_it():  # A1
    model = md.Sequential(md.Linear(2), md.ReLU(), md.Linear(1)).init(X)
    model.params["0.W"], model.params["0.b"] = [[1, 1], [1, 1]], [0, -1]
    model.params["2.W"], model.params["2.b"] = [[2], [-4]], [-1]
    inside = model.activations(X)
    np.testing.assert_array_equal(inside["0"], [[0, -1], [1, 0], [1, 0], [2, 1]])
    np.testing.assert_array_equal(inside["1"], [[0, 0], [1, 0], [1, 0], [2, 1]])
    np.testing.assert_array_equal(model(X)[:, 0], [-1, 1, 1, -1])


def test_no_line_separates_it():  # A1
    """b < 0 and w1 + w2 + b < 0 add up to less than 0; w1 + b > 0 and w2 + b > 0, the same sum, to more than 0."""
    assert separating_line(X) is None
    w1_w2_b = np.column_stack([X, np.ones(4)])
    np.testing.assert_array_equal(w1_w2_b[0] + w1_w2_b[3], w1_w2_b[1] + w1_w2_b[2])


def test_the_best_line_says_nothing():  # A1
    """Least squares: the slope of the loss is 0 where all weights are 0, and the loss is convex."""
    line = md.Linear(1).init(X, dtype="float64")

    def loss(w):
        return md.MSE()(line.network.run(w, line.state.flat, X).outputs[""], y[:, None])

    np.testing.assert_allclose(md.grad(loss)(np.zeros(3)), 0.0, atol=1e-15)
    assert np.linalg.eigvalsh(md.hessian(loss)(np.zeros(3))).min() > 0


def test_a_richer_model_fixes_it():  # A1
    """A quadratic one: the sign of x^T Q x + <x, p> + b."""
    Q, p, b = np.array([[1.0, -2.0], [-2.0, 1.0]]), np.array([1.0, 1.0]), -0.5
    np.testing.assert_array_equal(np.sign(np.einsum("ni,ij,nj->n", X, Q, X) + X @ p + b), y)


def test_a_richer_representation_fixes_it():  # A1
    """With x1 x2 as a third input there is a plane."""
    *w, b = separating_line(np.column_stack([X, X[:, 0] * X[:, 1]]))
    assert (y * (np.column_stack([X, X[:, 0] * X[:, 1]]) @ w + b) >= 1 - 1e-9).all()


def test_the_two_fixes_are_one():  # A1
    """A quadratic function of x is a linear one of all products of two inputs: <x, x'>^2 is their inner product."""
    products = np.einsum("ni,nj->nij", X, X).reshape(4, -1)
    np.testing.assert_allclose((X @ X.T) ** 2, products @ products.T)


@pytest.mark.parametrize("seed", range(3))
def test_a_net_learns_it(seed):  # A1
    """The third way: features and plane are learned together."""
    net = md.Sequential(md.Linear(8), md.nn.Tanh(), md.Linear(1))
    trainer = md.Trainer(net, loss="mse", optimizer=md.Adam(0.05), seed=seed)
    history = trainer.fit(X, y, epochs=300, batch_size=4)
    assert history["loss"][-1] < 1e-3 < history["loss"][0]
    np.testing.assert_array_equal(np.sign(trainer.model(X)[:, 0]), y)
