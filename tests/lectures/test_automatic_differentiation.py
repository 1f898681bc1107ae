"""Automatic differentiation is neither numerical nor symbolic, and goes to any order. Lecture row E7."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


def test_it_is_exact_where_differences_are_not():  # E7
    """Of all steps from 1e-1 to 1e-14 none brings differences near the precision of the derivative itself."""
    f, x = (lambda x: np.exp(np.sin(x**2))), 1.3
    exact = np.exp(np.sin(x**2)) * np.cos(x**2) * 2 * x
    steps = 10.0 ** -np.arange(1, 15)
    best = min(abs((f(x + h) - f(x - h)) / (2 * h) - exact) for h in steps)
    automatic = abs(md.grad(f)(x) - exact)
    assert automatic <= 4e-16 * abs(exact) * 2
    assert best > 100 * automatic
    assert best > 1e-13


def logistic_map(x, n):
    for _ in range(n):
        x = 4.0 * x * (1.0 - x)
    return x


def test_it_does_not_swell_like_a_formula():  # E7
    """The derivative of the n-fold logistic map: a formula doubles with each step, the graph grows by a constant."""
    sizes = [len(md.trace(lambda x, n=n: md.grad(lambda x: logistic_map(x, n))(x), 0.3).nodes) for n in (10, 20, 40)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])  # the same for each further step
    value = md.grad(lambda x: logistic_map(x, 3))(0.3)
    step = 1e-6
    assert value == pytest.approx((logistic_map(0.3 + step, 3) - logistic_map(0.3 - step, 3)) / (2 * step), rel=1e-6)


def test_it_differentiates_programs_with_loops_and_branches():  # E7
    """Newton's iteration for the square root; the branch depends on a plain number, the loop on nothing traced."""

    def root(a, careful):
        x = a
        for _ in range(30 if careful else 2):
            x = 0.5 * (x + a / x)
        return x

    assert md.grad(root)(2.0, True) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-14)
    assert md.grad(root)(2.0, False) != pytest.approx(0.5 / np.sqrt(2.0), rel=1e-6)


def test_higher_derivatives_follow_by_repetition():  # E7
    derivative = np.sin
    for expected in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin, np.cos):
        derivative = md.grad(derivative)
        assert derivative(0.7) == pytest.approx(expected(0.7), rel=1e-13)


def test_the_hessian_of_a_net_is_symmetric_and_agrees_with_its_products(rng):  # E7
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    W = rng.normal(size=(2, 3))

    def loss(W):
        return np.mean((np.sum(np.tanh(X @ W), axis=1) - y) ** 2)

    H = md.hessian(loss)(W)
    assert H.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(H, H.transpose(2, 3, 0, 1), rtol=1e-10, atol=1e-14)
    V = rng.normal(size=(2, 3))
    np.testing.assert_allclose(md.hvp(loss, (W,), (V,)), np.tensordot(H, V, axes=2), rtol=1e-10, atol=1e-14)


def test_a_newton_step_solves_a_quadratic_at_once(rng):  # E7
    A = rng.normal(size=(4, 4))
    A = A @ A.T + np.eye(4)
    target = rng.normal(size=4)
    f = lambda x: 0.5 * (x - target) @ A @ (x - target)  # noqa: E731 - one line says it
    x = rng.normal(size=4)
    np.testing.assert_allclose(x - np.linalg.solve(md.hessian(f)(x), md.grad(f)(x)), target, rtol=1e-10)
