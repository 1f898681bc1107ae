"""The most common mistakes: each error says what was wrong, names the line of the user's function, and the way out."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import madaline as md

X, TABLE = np.array([1.0, 2.0, 3.0]), np.ones((4, 3))


def uses_math(x):
    return math.exp(x[0])


def converts_to_float(x):
    return float(np.sum(x))


def takes_item(x):
    return np.sum(x).item() ** 2


def fills_plain_zeros(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] ** 2
    return np.sum(y)


def adds_to_plain_zeros(x):
    total = np.zeros(3)
    total += x
    return np.sum(total)


def asks_for_a_float_array(x):
    x = np.asarray(x, dtype=float)
    return np.sum(x)


def differences_of_an_object_array(x):
    c = np.array([x[0], x[1] ** 2, x[2]])
    return np.sum(np.gradient(c))


def counts_to_a_traced_number(x):
    return np.sum(np.arange(1.0, x[2])) * x[0]


def returns_an_array(x):
    return x**2


def returns_nothing(x):
    np.sum(x)


def returns_a_list(x):
    return [np.sum(x)]


def returns_a_count(x):
    return np.sum(x > 1.0)


def draws_with_a_traced_mean(x):
    return np.sum(np.random.default_rng(0).normal(x))


def uses_statistics(x):
    return statistics.mean(list(x)) ** 2


def uses_arctangent_of_math(x):
    return math.atan2(x[0], 1.0)


def gives_a_list_to_numpy(x):
    return np.sum(np.cov([x, x**2]))


def sorts_an_array_of_objects(x):
    return np.sort(np.array([x[0], x[1]]))[0]


def inverts_an_array_of_objects(x):
    K = np.array([[x[0], x[1]], [x[1], x[2]]])
    return np.sum(np.linalg.inv(K))


def multiplies_shapes_that_do_not_fit(x):
    return np.sum(TABLE.T @ x)


def adds_shapes_that_do_not_fit(x):
    return np.sum(x + np.ones(4))


def calls_scipy_stats(x):
    return np.sum(scipy.stats.zipf.logpmf(3, x))


def calls_a_solver_of_scipy(x):
    return scipy.optimize.brentq(lambda t: t * t - x[1], 0.0, 5.0)


def loops_over_a_float(x):
    return sum(x[0] for _ in range(x[1]))


def calls_an_unsupported_function(x):
    return np.sum(np.linalg.eigvals(np.outer(x, x)))


def branches(x):
    return x[0] if x[0] > 0 else -x[0]


def masks(x):
    return np.sum(x[x > 1])


IN_THE_FUNCTION = [
    (md.grad, counts_to_a_traced_number, "cannot become a Python number", "int(n) for a count", "np.arange(1.0, x[2])"),
    (md.grad, differences_of_an_object_array, "an array of Python objects", "md.array(a)", "np.gradient(c)"),
    (md.grad, returns_an_array, "array of shape (3,)", "use md.jacobian", "def returns_an_array(x):"),
    (md.grad, returns_nothing, "The function gives None", "Is a return missing?", "def returns_nothing(x):"),
    (md.grad, returns_a_list, "The function gives a list", "Return the number alone", "def returns_a_list(x):"),
    (md.grad, returns_a_count, "a value of type int64", "Return a float", "def returns_a_count(x):"),
    (md.grad, draws_with_a_traced_mean, "plain array", "mean + scale * rng.normal(size=n)", ".normal(x))"),
    (md.grad, uses_statistics, "takes plain numbers only", "np.mean for statistics.mean", "statistics.mean(list(x))"),
    (md.grad, uses_arctangent_of_math, "Python number", "np.arctan2 for math.atan2", "math.atan2(x[0], 1.0)"),
    (md.grad, gives_a_list_to_numpy, "that are given a list", "md.array([...])", "np.cov([x, x**2])"),
    (
        lambda f: md.compile(md.grad(f)),
        sorts_an_array_of_objects,
        "cannot branch on it",
        "make the array with md.array([...])",
        "np.sort(np.array([x[0], x[1]]))",
    ),
    (md.grad, uses_math, "cannot become a Python number", "np.exp for math.exp", "return math.exp(x[0])"),
    (md.grad, converts_to_float, "its derivative would be lost", "has_aux=True", "return float(np.sum(x))"),
    (md.grad, takes_item, "its derivative would be lost", "Remove the conversion", "return np.sum(x).item() ** 2"),
    (md.grad, fills_plain_zeros, "An entry of a plain array", "md.zeros(n)", "y[i] = x[i] ** 2"),
    (md.grad, adds_to_plain_zeros, "writes a traced value into a plain array", "Write a = a + x", "total += x"),
    (
        md.grad,
        asks_for_a_float_array,
        "cannot turn it into a plain array",
        "md.array([...], dtype)",
        "np.asarray(x, dtype=float)",
    ),
    (
        md.grad,
        inverts_an_array_of_objects,
        "array of Python objects",
        "md.array([...])",
        "return np.sum(np.linalg.inv(K))",
    ),
    (
        md.grad,
        multiplies_shapes_that_do_not_fit,
        "last axis of (3, 4)",
        "only axis of (3,)",
        "return np.sum(TABLE.T @ x)",
    ),
    (md.grad, adds_shapes_that_do_not_fit, "(3,) and (4,)", "must be equal or 1", "return np.sum(x + np.ones(4))"),
    (
        md.grad,
        calls_scipy_stats,
        "scipy.stats.zipf.logpmf has no derivative rule",
        "md.functional.stats has",
        "scipy.stats.zipf.logpmf(3, x)",
    ),
    (md.grad, calls_a_solver_of_scipy, "cannot become a Python number", "custom_derivative", "scipy.optimize.brentq"),
    (md.grad, loops_over_a_float, "cannot become a Python number", "int(x)", "range(x[1])"),
    (
        md.grad,
        calls_an_unsupported_function,
        "np.linalg.eigvals",
        "np.linalg.eigvalsh",
        "np.linalg.eigvals(np.outer(x, x))",
    ),
    (lambda f: md.compile(md.grad(f)), branches, "cannot branch on it", "np.where(condition, a, b)", "return x[0] if"),
    (
        lambda f: md.compile(md.grad(f)),
        masks,
        "md.compile does not know",
        "np.where(mask, x, 0)",
        "return np.sum(x[x > 1])",
    ),
]


@pytest.mark.parametrize(
    ("transform", "function", "what", "way_out", "line"),
    IN_THE_FUNCTION,
    ids=[case[1].__name__ for case in IN_THE_FUNCTION],
)
def test_the_error_names_the_line_and_the_way_out(transform, function, what, way_out, line):
    with pytest.raises((TypeError, ValueError)) as caught:
        transform(function)(X)
    text, _, named = str(caught.value).rpartition("\n")
    assert what in text
    assert way_out in text
    assert named.startswith("  Line ")
    assert " of test_mistakes.py: " in named
    assert line in named


AROUND_THE_FUNCTION = [
    (lambda: md.grad(lambda x: x**2)(X), "array of shape (3,)", "use md.jacobian"),
    (lambda: md.grad(lambda x: (np.sum(x), x))(X), "The function gives a tuple", "has_aux=True"),
    (lambda: md.grad(lambda x: None)(X), "The function gives None", "Is a return missing?"),
    (lambda: md.grad(lambda x: x**2)(3), "x has type int64, which has no derivative", "float(x)"),
    (
        lambda: md.grad(lambda x: np.sum(x**2))(np.arange(3)),
        "x has type int64, which has no derivative",
        "x.astype(float)",
    ),
    (lambda: md.grad(lambda x, y: x * y, argnums=1)(1.0, y=2.0), "called with 1 positional arguments", "by position"),
    (lambda: md.grad(lambda x: x)("text"), "x='text' is not an array or a number", "functools.partial"),
    (lambda: md.grad(np.sum(X)), "grad takes a function, and was given float64", "md.grad(f)(x)"),
    (lambda: md.jvp(np.sin, 1.0, 1.0), "primals and tangents must be tuples", "write (x,) for one"),
]


@pytest.mark.parametrize(("call", "what", "way_out"), AROUND_THE_FUNCTION)
def test_a_wrong_call_is_named_with_the_way_out(call, what, way_out):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert what in str(caught.value)
    assert way_out in str(caught.value)


def test_a_value_kept_from_another_call_is_named():
    kept = []
    md.grad(lambda x: kept.append(x) or np.sum(x))(X)
    with pytest.raises(TypeError, match=r"traced in another call and kept.*has_aux=True"):
        md.grad(lambda x: np.sum(kept[0] * x))(X)


def test_there_are_twenty_of_them():
    assert len(IN_THE_FUNCTION) + len(AROUND_THE_FUNCTION) >= 20
