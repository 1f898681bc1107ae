"""Derivatives inside derivatives: closures, higher orders, and values that must not escape."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

import madaline as md
from madaline.errors import TraceError


def test_inner_and_outer_derivatives_are_not_confused():
    """d/dx [x d/dy (x y)] = d/dx [x x]: the inner derivative must not see the outer x (Siskind & Pearlmutter 2005)."""
    assert md.grad(lambda x: x * md.grad(lambda y: x * y)(x))(3.0) == 6.0
    assert md.grad(lambda x: x * md.grad(lambda y: x + y)(1.0))(3.0) == 1.0


def test_forward_mode_is_not_confused_either():
    def derivative(f, x):
        return md.jvp(f, (x,), (1.0,))[1]

    assert derivative(lambda x: x * derivative(lambda y: x * y, 2.0), 3.0) == 6.0
    assert derivative(lambda x: x * derivative(lambda y: x + y, 1.0), 1.0) == 1.0


def test_the_inner_argument_may_be_the_outer_value_itself():
    # d/dx [ (d/dy y^2 x)(y = x) ] = d/dx [2 x^2] = 4 x, not 6 x
    assert md.grad(lambda x: md.grad(lambda y: y**2 * x)(x))(3.0) == 12.0


@pytest.mark.parametrize("order", range(1, 7))
def test_gradients_of_gradients_to_any_order(order):
    f, factor = np.exp, 1.0
    power, coefficient = (lambda x: x**6), 1.0
    for k in range(order):
        f, power = md.grad(f), md.grad(power)
        coefficient *= 6 - k
    assert f(0.3) == pytest.approx(factor * np.exp(0.3), rel=1e-12)
    assert power(2.0) == pytest.approx(coefficient * 2.0 ** (6 - order), rel=1e-12)


def test_modes_mix_in_every_order(rng):
    def f(x):
        return np.sum(np.sin(x) * x[::-1] ** 2)

    x, v = rng.normal(size=4), rng.normal(size=4)
    expected = md.hessian(f)(x) @ v
    forward_over_reverse = md.jvp(md.grad(f), (x,), (v,))[1]
    reverse_over_forward = md.grad(lambda x: md.jvp(f, (x,), (v,))[1])(x)
    reverse_over_reverse = md.grad(lambda x: np.vdot(md.grad(f)(x), v))(x)
    pulled = md.vjp(md.grad(f), x)[1](v)[0]
    along = md.vjp(lambda x: md.jvp(f, (x,), (v,))[1], x)[1](1.0)[0]
    pushed = md.jvp(lambda x: md.vjp(f, x)[1](1.0)[0], (x,), (v,))[1]
    for product in (forward_over_reverse, reverse_over_forward, reverse_over_reverse, pulled, along, pushed):
        np.testing.assert_allclose(product, expected, rtol=1e-11)


def test_forward_over_forward_gives_second_directional_derivatives():
    def directional(x):
        return md.jvp(lambda x: np.sum(x**3), (x,), (np.array([1.0, 0.0]),))[1]

    assert md.jvp(directional, (np.array([2.0, 5.0]),), (np.array([1.0, 1.0]),))[1] == 12.0


def test_a_derivative_at_a_constant_inside_a_trace_is_right():
    assert md.grad(lambda w: w * md.grad(lambda x: x**3)(2.0))(5.0) == 12.0
    assert md.grad(lambda w: w * md.grad(md.grad(lambda x: x**3))(2.0))(5.0) == 12.0
    assert md.compile(lambda w: w * md.grad(md.grad(lambda x: x**3))(2.0))(3.0) == 36.0
    inner = md.grad(lambda w: w * np.sum(md.hessian(lambda x: np.sum(x**3))(np.ones(2))))
    assert inner(5.0) == 12.0


def test_a_derivative_by_a_value_that_turned_out_constant_is_right():
    """d/dz (z + 0) is the constant 1; differentiating by it must not be lost to constant folding."""
    assert md.grad(lambda x: x * md.grad(lambda y: y**2)(md.grad(lambda z: z + 0.0)(x)))(3.0) == 2.0


def test_closures_over_arrays_and_over_traced_values(rng):
    A = rng.normal(size=(3, 3))

    def outer(x):
        def inner(y):
            return np.sum((A @ y) * x)

        return np.sum(md.grad(inner)(np.zeros(3)) ** 2)

    x = rng.normal(size=3)
    np.testing.assert_allclose(md.grad(outer)(x), 2 * A @ (A.T @ x), rtol=1e-12)


def test_stop_gradient_holds_at_every_order():
    f = lambda x: x**2 * md.functional.stop_gradient(x)  # noqa: E731 - one line says it
    assert md.grad(f)(3.0) == 18.0  # 2 x * stop(x)
    assert md.grad(md.grad(f))(3.0) == 6.0  # 2 * stop(x)


def test_aux_of_an_inner_derivative_may_be_used_outside():
    def outer(x):
        slope, aux = md.grad(lambda y: (y**2 * x, y * x), has_aux=True)(x)
        return slope * aux  # 2 x^2 * x^2

    assert md.grad(outer)(2.0) == 4 * 2 * 2.0**3


def test_a_derivative_by_an_integer_inside_a_trace_is_refused():
    with pytest.raises(TypeError, match="y has type int64, which has no derivative"):
        md.grad(lambda x: x * md.grad(lambda y: y * 1.0)(2))(1.0)


def test_tracing_a_function_that_differentiates_a_closure():
    graph = md.trace(lambda w: md.grad(lambda x: x * x * w)(2.0), 3.0)
    assert [node.params["name"] for node in graph.inputs] == ["w"]
    assert graph.counts()["multiply"] >= 2


def test_a_training_loop_inside_a_function_can_be_differentiated():
    """The loss after ten steps of gradient descent, by the learning rate: w - 2 shrinks by 1 - 2 lr each step."""

    def after(lr):
        w = 5.0
        for _ in range(10):
            w = w - lr * md.grad(lambda w: (w - 2.0) ** 2)(w)
        return (w - 2.0) ** 2

    value, slope = md.value_and_grad(after)(0.1)
    assert value == pytest.approx((3 * 0.8**10) ** 2, rel=1e-12)
    assert slope == pytest.approx(9 * 20 * 0.8**19 * -2, rel=1e-12)


# Values that escape


def test_a_traced_value_kept_in_a_list_is_refused_later():
    kept = []

    def f(x):
        kept.append(x)
        return x**2

    md.grad(f)(1.0)
    message = re.escape("The result depends on <traced input: float64 ()>, which was traced in another call and kept")
    with pytest.raises(TraceError, match=message):
        md.grad(lambda x: x * kept[0])(2.0)
    with pytest.raises(TraceError, match=message):
        md.compile(lambda x: x * kept[0])(2.0)
    with pytest.raises(TraceError, match=message):
        md.jvp(lambda x: x * kept[0], (2.0,), (1.0,))
    with pytest.raises(TraceError, match=message):
        md.vjp(lambda x: x * kept[0], 2.0)
    with pytest.raises(TraceError, match=message):
        md.trace(lambda x: x * kept[0], 2.0)
    with pytest.raises(TraceError, match=message):
        md.grad(lambda x: x**2)(kept[0])


def test_a_kept_value_is_not_taken_for_an_argument_of_an_earlier_function():
    """The program of a product of two arguments is kept, and has the structure of one with a kept value."""
    kept = []
    md.grad(lambda x: kept.append(x) or x**2)(1.0)
    assert md.grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    with pytest.raises(TraceError, match="which was traced in another call and kept"):
        md.grad(lambda x: x * kept[0])(2.0)


def test_a_value_kept_within_one_trace_may_be_used_there():
    def f(x):
        kept = []
        md.grad(lambda y: kept.append(y) or y**2)(x)
        return x * kept[0]

    assert md.grad(f)(3.0) == 6.0


def test_numbers_of_a_traced_value_are_refused_with_the_remedy():
    with pytest.raises(TraceError, match="is a traced value and cannot become a Python number"):
        md.grad(float)(1.0)
    with pytest.raises(TraceError, match="Python cannot branch on it"):
        md.compile(md.grad(lambda x: x if x > 0 else -x))(1.0)
    with pytest.raises(TraceError, match="NumPy cannot turn it into a plain array"):
        md.grad(lambda x: np.sum(np.asarray(x, dtype=float)))(np.ones(2))


def test_threads_trace_apart():
    """What is being traced in one thread is nothing to another."""
    started, finish = threading.Event(), threading.Event()
    found = []

    def slow(x):
        started.set()
        finish.wait(10)
        return x**2

    thread = threading.Thread(target=lambda: found.append(md.grad(slow)(3.0)))
    thread.start()
    assert started.wait(10)
    here = md.grad(lambda x: x**3)(2.0)  # were this thread thought to be tracing, no number would come back
    finish.set()
    thread.join()
    assert type(here) is np.float64
    assert (here, found) == (12.0, [6.0])
