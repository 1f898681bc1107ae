"""Derivatives by a given rule, and by computing a function again."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ShapeError, TraceError
from madaline.functional import checkpoint, custom_derivative

X = np.array([0.5, -1.0, 2.0])


def root(a):
    x = 1.0 + 0.0 * a
    for _ in range(30):
        x = 0.5 * (x + a / x)
    return x


RULES = {
    "vjp": {"vjp": lambda args, y, y_bar: (y_bar / (2.0 * y),)},
    "jvp": {"jvp": lambda args, y, dots: dots[0] / (2.0 * y)},
    "both": {"vjp": lambda args, y, y_bar: y_bar / (2.0 * y), "jvp": lambda args, y, dots: dots[0] / (2.0 * y)},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_rule_serves_both_modes_and_every_order(rules):
    f, a = custom_derivative(root, **rules), np.array([1.0, 4.0, 9.0])
    np.testing.assert_allclose(f(a), np.sqrt(a))
    np.testing.assert_allclose(md.grad(lambda a: np.sum(f(a)))(a), 0.5 / np.sqrt(a))
    np.testing.assert_allclose(md.jvp(f, (a,), (np.ones(3),))[1], 0.5 / np.sqrt(a))
    np.testing.assert_allclose(md.jacobian(f)(a), np.diag(0.5 / np.sqrt(a)))
    np.testing.assert_allclose(md.hessian(lambda a: np.sum(f(a)))(a), np.diag(-0.25 * a**-1.5))
    np.testing.assert_allclose(md.compile(md.grad(lambda a: np.sum(f(a))))(a), 0.5 / np.sqrt(a))
    np.testing.assert_allclose(md.vmap(md.grad(f))(a), 0.5 / np.sqrt(a))


def test_the_rule_is_used_and_not_the_derivative_of_the_function():
    f = custom_derivative(lambda x, y: x * y, vjp=lambda args, y, y_bar: (7.0 * y_bar, None))
    assert md.grad(f, argnums=(0, 1))(2.0, 3.0) == (7.0, 0.0)
    assert md.jvp(f, (2.0, 3.0), (1.0, 1.0))[1] == 7.0


def test_clipped_gradients_pass_a_value_unchanged():
    clip = custom_derivative(lambda x: x, vjp=lambda args, y, y_bar: (np.clip(y_bar, -1.0, 1.0),))
    assert md.grad(lambda x: np.sum(clip(x) * np.array([0.5, 5.0, -9.0])))(X).tolist() == [0.5, 1.0, -1.0]


def test_mistakes_in_a_rule_are_named():
    with pytest.raises(TraceError, match="needs a rule"):
        custom_derivative(np.sin)
    with pytest.raises(ShapeError, match=r"shape \(3,\); the shape must be \(\)"):
        md.grad(custom_derivative(lambda x: x * 2.0, vjp=lambda args, y, y_bar: (np.ones(3),)))(1.0)
    with pytest.raises(ShapeError, match="2 cotangents for 1 arguments"):
        md.grad(custom_derivative(lambda x: x * 2.0, vjp=lambda args, y, y_bar: (y_bar, y_bar)))(1.0)
    with pytest.raises(ShapeError, match="must return one array, not 2"):
        md.grad(lambda x: custom_derivative(lambda x: (x, x), vjp=lambda *a: None)(x)[0])(1.0)


def test_a_value_that_is_not_an_argument_is_not_lost_silently():
    def f(x, w):
        inner = custom_derivative(lambda x: x * w, vjp=lambda args, y, y_bar: (y_bar,))
        return inner(x)

    for argnums in (1, (0, 1)):
        with pytest.raises(TraceError, match="which is not one of its arguments"):
            md.grad(f, argnums=argnums)(2.0, 3.0)
    assert md.grad(f)(2.0, 3.0) == 1.0  # here w is a plain number


def layer(x, w):
    return np.tanh(np.sin(x @ w) + x)


@pytest.mark.parametrize("depth", [1, 4])
def test_a_checkpoint_changes_no_number(depth):
    def net(f):
        def loss(w):
            x = X
            for _ in range(depth):
                x = f(x, w)
            return np.sum(x**2)

        return loss

    w = np.random.default_rng(3).normal(size=(3, 3))
    plain, again = net(layer), net(checkpoint(layer))
    np.testing.assert_allclose(md.grad(again)(w), md.grad(plain)(w), rtol=1e-12)
    np.testing.assert_allclose(md.compile(md.grad(again))(w), md.grad(plain)(w), rtol=1e-12)
    np.testing.assert_allclose(md.hessian(again)(w), md.hessian(plain)(w), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(md.jvp(again, (w,), (w,))[1], md.jvp(plain, (w,), (w,))[1], rtol=1e-12)


def test_a_checkpoint_sees_values_it_closes_over_and_several_results():
    def f(w):
        both = checkpoint(lambda x: {"a": x * w, "b": [np.sin(x) + w]})(w**2)
        return both["a"] * both["b"][0]

    assert md.check_gradient(f, 1.3)
    assert md.check_gradient(md.grad(f), 1.3)
    assert checkpoint(np.sin)(0.5) == np.sin(0.5)


def test_a_checkpoint_computes_again_and_needs_less_memory():
    n, depth = 2000, 12

    def net(f):
        def loss(x):
            for _ in range(depth):
                x = f(x)
            return np.sum(x)

        return loss

    def block(x):
        for _ in range(6):
            x = np.tanh(np.cumsum(x) / n)
        return x

    plain, again = (md.compile(md.grad(net(f))).program(np.ones(n)) for f in (block, checkpoint(block)))
    count = [sum(i.title == "cumsum" for i in program.instructions) for program in (plain, again)]
    assert count[1] > count[0]
    assert again.arena["shared"] < 0.6 * plain.arena["shared"]


def test_branches_inside_a_checkpoint_follow_the_values():
    f = checkpoint(lambda x: x**2 if x > 1 else 3.0 * x)
    assert md.grad(f)(0.5) == 3.0
    assert md.grad(f)(2.0) == 4.0
