"""jvp, vjp and hvp: products with Jacobians and Hessians that are never formed."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError


class Pair(NamedTuple):
    a: float
    b: float


def net(x, W):
    return np.tanh(x @ W)


def test_jvp_is_the_jacobian_times_the_tangent(rng):
    x, W = rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    x_dot, W_dot = rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    value, tangent = md.jvp(net, (x, W), (x_dot, W_dot))
    np.testing.assert_allclose(value, np.tanh(x @ W), rtol=1e-14)
    np.testing.assert_allclose(tangent, (1 - np.tanh(x @ W) ** 2) * (x_dot @ W + x @ W_dot), rtol=1e-12, atol=1e-14)


def test_vjp_is_the_cotangent_times_the_jacobian(rng):
    x, W, y_bar = rng.normal(size=(4, 3)), rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    value, pullback = md.vjp(net, x, W)
    np.testing.assert_allclose(value, np.tanh(x @ W), rtol=1e-14)
    z_bar = y_bar * (1 - np.tanh(x @ W) ** 2)
    x_bar, W_bar = pullback(y_bar)
    np.testing.assert_allclose(x_bar, z_bar @ W.T, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(W_bar, x.T @ z_bar, rtol=1e-12, atol=1e-14)


def test_forward_and_reverse_mode_are_transposes(rng):
    x, W = rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    x_dot, W_dot, y_bar = rng.normal(size=(4, 3)), rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    _, y_dot = md.jvp(net, (x, W), (x_dot, W_dot))
    x_bar, W_bar = md.vjp(net, x, W)[1](y_bar)
    assert np.vdot(y_bar, y_dot) == pytest.approx(np.vdot(x_bar, x_dot) + np.vdot(W_bar, W_dot), rel=1e-12)


def test_a_pullback_can_be_called_many_times_and_is_linear(rng):
    _, pullback = md.vjp(np.sin, np.arange(3.0))
    u, v = rng.normal(size=3), rng.normal(size=3)
    np.testing.assert_allclose(pullback(2 * u + v)[0], 2 * pullback(u)[0] + pullback(v)[0], rtol=1e-12)


def test_the_function_behind_a_pullback_runs_once():
    calls = []

    def f(x):
        calls.append(1)
        return x**2

    _, pullback = md.vjp(f, 3.0)
    assert [pullback(float(k))[0] for k in range(4)] == [0.0, 6.0, 12.0, 18.0]
    assert len(calls) == 1


def test_a_pullback_does_not_change_when_the_point_does():
    x = np.array([1.0, 2.0])
    _, pullback = md.vjp(lambda x: x**2, x)
    x[:] = 100.0
    np.testing.assert_array_equal(pullback(np.ones(2))[0], [2.0, 4.0])


def test_a_pullback_takes_traced_cotangents_and_can_be_differentiated_by_them():
    x = np.array([1.0, 2.0])
    _, pullback = md.vjp(lambda x: x**2, x)  # v -> 2 x v
    slope = md.grad(lambda v: np.sum(pullback(v)[0] ** 2))(np.array([1.0, 3.0]))
    np.testing.assert_allclose(slope, 8 * x**2 * np.array([1.0, 3.0]))


def test_trees_go_in_and_come_out():
    def f(p, q):
        return {"sum": p["a"] + q[0], "product": (p["a"] * q[1].b, q[1].a)}

    primals = ({"a": 2.0, "unused": np.ones(2)}, [3.0, Pair(5.0, 7.0)])
    tangents = ({"a": 1.0, "unused": np.ones(2)}, [10.0, Pair(100.0, 1000.0)])
    value, tangent = md.jvp(f, primals, tangents)
    assert value == {"sum": 5.0, "product": (14.0, 5.0)}
    assert tangent == {"sum": 11.0, "product": (7.0 + 2000.0, 100.0)}
    value, pullback = md.vjp(f, *primals)
    p_bar, q_bar = pullback({"sum": 1.0, "product": (10.0, 100.0)})
    assert p_bar["a"] == 71.0
    np.testing.assert_array_equal(p_bar["unused"], [0.0, 0.0])
    assert q_bar == [1.0, Pair(100.0, 20.0)]


def test_dicts_are_matched_by_key_whatever_their_order():
    f = lambda p: {"u": p["a"] ** 2, "v": p["b"] * 3}  # noqa: E731 - one line says it
    _, tangent = md.jvp(f, ({"a": 2.0, "b": 1.0},), ({"b": 0.0, "a": 1.0},))
    assert tangent == {"u": 4.0, "v": 0.0}
    assert md.vjp(f, {"a": 2.0, "b": 1.0})[1]({"v": 0.0, "u": 1.0})[0] == {"a": 4.0, "b": 0.0}


def test_results_that_do_not_depend_on_the_argument_have_zero_tangents():
    value, tangent = md.jvp(lambda x: (x, 5.0, np.arange(3), np.argmax(x)), (np.ones(2),), (np.ones(2),))
    assert value[1] == 5.0
    np.testing.assert_array_equal(tangent[0], np.ones(2))
    assert tangent[1] == 0.0
    np.testing.assert_array_equal(tangent[2], np.zeros(3))
    assert tangent[3] == 0


def test_tangents_take_the_type_of_their_primal():
    value, tangent = md.jvp(lambda x: x**2, (np.ones(2, dtype=np.float32),), (np.ones(2),))
    assert value.dtype == tangent.dtype == np.float32
    assert md.jvp(lambda x: x**2, (3.0,), (1,)) == (9.0, 6.0)  # an integer tangent is a number too


def test_the_cotangent_of_a_float32_argument_is_float32():
    (bar,) = md.vjp(lambda x: x.astype(np.float64) ** 2, np.ones(2, dtype=np.float32))[1](np.ones(2))
    assert bar.dtype == np.float32
    (half,) = md.vjp(lambda x: x * 2, np.ones(2, dtype=np.float16))[1](np.ones(2))
    assert half.dtype == np.float16


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), (1, 1)])
def test_empty_and_single_arrays_work(shape):
    x = np.full(shape, 2.0)
    _, tangent = md.jvp(lambda x: x**2, (x,), (np.ones(shape),))
    np.testing.assert_array_equal(tangent, 2 * x)
    np.testing.assert_array_equal(md.vjp(lambda x: x**2, x)[1](np.ones(shape))[0], 2 * x)
    np.testing.assert_array_equal(md.hvp(lambda x: np.sum(x**3), (x,), (np.ones(shape),)), 6 * x)


def test_hvp_is_the_hessian_times_the_vector(rng):
    def f(x):
        return np.sum(np.exp(np.sin(x)) * x[::-1] ** 2)

    x, v = rng.normal(size=5), rng.normal(size=5)
    H = md.hessian(f)(x)
    np.testing.assert_allclose(md.hvp(f, (x,), (v,)), H @ v, rtol=1e-10)


def test_hvp_with_several_arguments_couples_them(rng):
    a, b, u, v = (rng.normal(size=3) for _ in range(4))
    f = lambda a, b: np.sum(a**2 * b)  # noqa: E731 - one line says it
    first, second = md.hvp(f, (a, b), (u, v))
    np.testing.assert_allclose(first, 2 * b * u + 2 * a * v, rtol=1e-12)
    np.testing.assert_allclose(second, 2 * a * u, rtol=1e-12)


def test_hvp_of_a_tree_keeps_its_nesting():
    product = md.hvp(lambda p: p["a"] ** 2 * p["b"], ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 10.0},))
    assert product == {"a": 46.0, "b": 4.0}


def test_hvp_needs_far_fewer_operations_than_the_hessian(rng):
    f = lambda x: np.sum(np.tanh(x @ np.eye(30)) ** 2)  # noqa: E731 - one line says it
    x = rng.normal(size=30)
    product = md.trace(lambda x, v: md.hvp(f, (x,), (v,)), x, x).flops()
    assert product < md.trace(f, x).flops() * 10
    assert product < md.trace(md.hessian(f), x).flops() / 10


# Errors


def test_tangents_must_be_nested_like_the_primals():
    with pytest.raises(
        ShapeError, match=re.escape("tangents are nested as (*, *), primals as (*,); they must be equal.")
    ):
        md.jvp(np.sin, (1.0,), (1.0, 2.0))
    with pytest.raises(ShapeError, match=re.escape("tangents are nested as ({'b': *},), primals as ({'a': *},)")):
        md.jvp(lambda p: p["a"], ({"a": 1.0},), ({"b": 1.0},))
    with pytest.raises(ShapeError, match=re.escape("tangents are nested as ([*],), primals as (*,)")):
        md.jvp(np.sin, (1.0,), ([1.0],))


def test_primals_and_tangents_must_be_tuples():
    with pytest.raises(
        ShapeError, match=re.escape("must be tuples with one entry for each argument: write (x,) for one.")
    ):
        md.jvp(np.sin, 1.0, 1.0)
    with pytest.raises(ShapeError, match="must be tuples"):
        md.jvp(np.sin, np.ones(2), np.ones(2))
    with pytest.raises(TypeError):
        md.hvp(np.sin, 1.0, 1.0)


def test_tangents_must_have_the_shapes_of_the_primals():
    with pytest.raises(ShapeError, match=re.escape("x has shape (3,), its tangent (2,); they must be equal.")):
        md.jvp(lambda x: x, (np.ones(3),), (np.ones(2),))
    with pytest.raises(ShapeError, match=re.escape("x has shape (3,), its tangent (); they must be equal.")):
        md.jvp(lambda x: x, (np.ones(3),), (1.0,))


def test_a_cotangent_must_look_like_the_value():
    _, pullback = md.vjp(lambda x: (x, {"s": np.sum(x)}), np.ones(3))
    with pytest.raises(
        ShapeError, match=re.escape("The cotangent is nested as *, the value as (*, {'s': *}); they must be")
    ):
        pullback(np.ones(3))
    with pytest.raises(ShapeError, match=re.escape("A vector of shape (2,) was given for a value of shape (3,)")):
        pullback((np.ones(2), {"s": 1.0}))


@pytest.mark.parametrize("y_bar", [None, "a", 1j])
def test_a_cotangent_is_made_of_real_numbers(y_bar):
    message = re.escape(f"{y_bar!r} was given for a value of type float64. Pass real numbers.")
    with pytest.raises(DtypeError, match=message):
        md.vjp(np.sum, np.ones(3))[1](y_bar)


def test_integers_are_refused_with_the_remedy_that_fits():
    message = re.escape(
        "n has type int64, which has no derivative. Pass floats (for example float(n)), or let the function"
    )
    with pytest.raises(DtypeError, match=message):
        md.vjp(lambda x, n: x * n, 1.0, 2)
    with pytest.raises(DtypeError, match=message):
        md.jvp(lambda x, n: x * n, (1.0, 2), (1.0, 0))


def test_a_function_that_returns_nothing_is_told_so():
    for run in (lambda f: md.jvp(f, (1.0,), (1.0,)), lambda f: md.vjp(f, 1.0), lambda f: md.jacobian(f)(1.0)):
        with pytest.raises(DtypeError, match=re.escape("The function gives None")):
            run(lambda x: None)
