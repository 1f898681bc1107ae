"""Threshold logic, the Mark I Perceptron, Adaline and Madaline. Lecture rows E1, E2, B1 and B2."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import madaline as md

TWO = np.array(list(product([0, 1], repeat=2)))
GATES = {"or": np.array([0, 1, 1, 1]), "and": np.array([0, 0, 0, 1]), "xor": np.array([0, 1, 1, 0])}


def test_or_and_and_not_have_the_weights_of_the_lecture():  # E1
    a, b = TWO.T
    np.testing.assert_array_equal(md.classical.ThresholdLogicUnit([1, 1], -0.5)(a, b), a | b)
    np.testing.assert_array_equal(md.classical.ThresholdLogicUnit([1, 1], -1.5)(a, b), a & b)
    np.testing.assert_array_equal(md.classical.ThresholdLogicUnit(-1, 0.5)(a), 1 - a)
    unit = md.classical.ThresholdLogicUnit([1, 1], -1.5).fit(TWO, GATES["and"])
    np.testing.assert_array_equal(unit.predict(TWO), GATES["and"])


@pytest.mark.parametrize("n_inputs", [1, 2, 3])
def test_any_boolean_function_can_be_built_of_such_units(n_inputs):  # E1
    rows = list(product([False, True], repeat=n_inputs))
    for truth in product([False, True], repeat=len(rows)):
        table = dict(zip(rows, truth, strict=True))
        net = md.classical.threshold_net(lambda *row, table=table: table[row], n_inputs)
        np.testing.assert_array_equal(net(np.array(rows))[:, 0], truth)


def test_the_mark_i_rule_step_by_step():  # E2, B1
    """w += a (d - y) x, from zeros, for the rows of *or* in order; b is the weight of an input that is always 1.

    (0,0) fires and should not: b = -1. (0,1) does not and should: w = (0,1), b = 0. (1,0) and (1,1) are right.
    """
    unit = md.classical.Perceptron().partial_fit(TWO, GATES["or"], classes=[0, 1])
    assert (unit.coef_.tolist(), unit.intercept_.tolist()) == ([[0.0, 1.0]], [0.0])
    unit.partial_fit(TWO, GATES["or"])  # (0,0) again: b = -1; (1,0): w = (1,1), b = 0
    assert (unit.coef_.tolist(), unit.intercept_.tolist()) == ([[1.0, 1.0]], [0.0])
    unit.partial_fit(TWO, GATES["or"])  # (0,0) once more
    assert (unit.coef_.tolist(), unit.intercept_.tolist()) == ([[1.0, 1.0]], [-1.0])
    whole = md.classical.Perceptron().fit(TWO, GATES["or"])
    assert (whole.n_iter_, whole.separable_) == (4, True)
    np.testing.assert_array_equal(whole.coef_, unit.coef_)


def test_the_learning_rate_only_scales_the_weights():  # E2, B1
    one, half = (md.classical.Perceptron(rate).fit(TWO, GATES["and"]) for rate in (1.0, 0.5))
    np.testing.assert_array_equal(half.coef_, 0.5 * one.coef_)


LETTERS = {
    "A": "01110 10001 10001 11111 10001 10001 10001",
    "C": "01111 10000 10000 10000 10000 10000 01111",
    "E": "11111 10000 10000 11110 10000 10000 11111",
    "H": "10001 10001 10001 11111 10001 10001 10001",
    "L": "10000 10000 10000 10000 10000 10000 11111",
    "O": "01110 10001 10001 10001 10001 10001 01110",
    "T": "11111 00100 00100 00100 00100 00100 00100",
    "X": "10001 10001 01010 00100 01010 10001 10001",
}


def letters_seen(rng, n_each):
    """Images of 20 x 20 photocells: each letter twice as large, a little to one side, with some cells wrong."""
    images, names = [], []
    for name, rows in LETTERS.items():
        letter = np.kron(np.array([[int(cell) for cell in row] for row in rows.split()]), np.ones((2, 2), dtype=int))
        for _ in range(n_each):
            down, right = rng.integers(2, 5), rng.integers(4, 7)
            image = np.zeros((20, 20), dtype=int)
            image[down : down + 14, right : right + 10] = letter
            images.append((image ^ (rng.random((20, 20)) < 0.02)).ravel())
            names.append(name)
    return np.array(images), np.array(names)


def test_letters_of_400_photocells_are_told_apart(rng):  # E2, B1
    X, y = letters_seen(rng, 30)
    machine = md.classical.Perceptron().fit(X, y)
    assert machine.separable_ is True
    assert machine.coef_.shape == (8, 400)
    assert machine.score(*letters_seen(rng, 20)) > 0.9


def test_corrections_are_bounded_by_the_margin(rng):  # E2, B1
    """Novikoff: at most (R / margin)^2, whatever the number of rows."""
    w = np.array([3.0, -4.0, 0.0]) / 5.0
    X = rng.normal(size=(2000, 3))
    X = X[np.abs(X @ w) > 0.3]
    y, n_corrections = (X @ w > 0).astype(int), 0
    unit = md.classical.Perceptron().partial_fit(X[:1], y[:1], classes=[0, 1])
    for _ in range(20):
        for row, label in zip(X, y, strict=True):
            before = unit.coef_.copy()
            n_corrections += int(np.any(unit.partial_fit([row], [label]).coef_ != before))
        if np.array_equal(unit.predict(X), y):
            break
    assert np.array_equal(unit.predict(X), y)
    assert n_corrections <= (np.sum(X * X, axis=1).max() + 1.0) / 0.3**2


def test_no_perceptron_computes_xor_and_it_says_so():  # E2, B1
    with pytest.warns(ConvergenceWarning, match="not linearly separable"):
        assert md.classical.Perceptron().fit(TWO, GATES["xor"]).separable_ is False


def test_the_delta_rule_is_descent_of_half_the_squared_error(rng):  # B2
    """By hand, w += a (d - x w - b) x; and the same as minus the gradient of E = (d - x w - b)^2 / 2."""
    X, y = rng.normal(size=(6, 3)), np.array([0, 1, 1, 0, 1, 0])
    w, b, rate = np.zeros(3), 0.0, 0.05
    error = md.grad(lambda w, b, x, d: 0.5 * (d - x @ w - b) ** 2, argnums=(0, 1))
    for x, d in zip(X, 2.0 * y - 1.0, strict=True):
        slope, slope_b = error(w, b, x, d)
        step = rate * (d - x @ w - b)
        np.testing.assert_allclose(-rate * slope, step * x, rtol=1e-12)
        np.testing.assert_allclose(-rate * slope_b, step, rtol=1e-12)
        w, b = w + step * x, b + step
    unit = md.classical.Adaline(rate).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(unit.coef_[0], w, rtol=1e-12)
    np.testing.assert_allclose(unit.intercept_[0], b, rtol=1e-12)


def test_each_of_several_adalines_learns_as_if_alone(rng):  # B2
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, size=20)
    together = md.classical.Adaline(0.05).partial_fit(X, y, classes=[0, 1, 2])
    alone = md.classical.Adaline(0.05).partial_fit(X, y == 1, classes=[False, True])
    np.testing.assert_allclose(together.coef_[1], alone.coef_[0], rtol=1e-12)


def test_adaline_ends_at_least_squares_separable_or_not(rng):  # B2
    X = rng.normal(size=(200, 2))
    y = (X @ [1.0, 0.5] + rng.normal(size=200) > 0).astype(int)
    unit = md.classical.Adaline(0.001, max_iter=300, tol=0.0, random_state=0).fit(X, y)
    best = np.linalg.lstsq(np.column_stack([X, np.ones(200)]), 2.0 * y - 1.0, rcond=None)[0]
    np.testing.assert_allclose([*unit.coef_[0], *unit.intercept_], best, atol=0.02)


def test_madaline_computes_xor_which_no_adaline_does():  # B2
    X, y = TWO, GATES["xor"]
    assert md.classical.Adaline(random_state=0).fit(X, y).score(X, y) < 1.0
    solved = [md.classical.Madaline(6, random_state=seed).fit(X, y).score(X, y) == 1.0 for seed in range(5)]
    assert all(solved)


@pytest.mark.parametrize(
    ("bias", "usage", "sums"),
    [
        (0.0, [0, 0, 0], [0.9, 1.0, -0.5]),  # either of the last two would do: the one nearer to 0 is turned
        (0.0, [0, 9, 0], [0.9, -0.2, 1.0]),  # unless it was turned often before
        (-2.0, [0, 0, 0], [0.9, 1.0, 1.0]),  # only both together help
    ],
)
def test_madaline_disturbs_as_little_as_will_do(bias, usage, sums):  # B2
    """One row with the sums 0.9, -0.2 and -0.5, whose output should fire: the sign of their signs' sum and a bias."""
    row, W = np.array([1.0, 1.0]), np.array([[0.9, -0.2, -0.5], [0.0, 0.0, 0.0]])
    V = np.array([[1.0], [1.0], [1.0], [bias]])
    md.classical.Madaline(3)._correct_units(row, np.array([1.0]), W, V, np.array(usage, dtype=float))
    np.testing.assert_allclose(row @ W, sums)
    np.testing.assert_array_equal(V, [[1.0], [1.0], [1.0], [bias]])
