"""``np.array`` and ``np.asarray`` of traced values: NumPy computes with them element by element."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import TraceError

X = np.array([0.3, 1.2, 2.5, 0.9])
A = np.arange(12.0).reshape(3, 4) / 7.0


def rotation(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    return np.sum((np.array([[c, -s, 0.0], [s, c, 0.0], [0, 0, 1]]) @ x[1:]) * np.array([1.0, 2.0, 3.0]))


def a_list_of_results(x):
    return np.sum(np.array([item**k for k, item in enumerate(x)]) ** 2)


def rows(x):
    return np.sum(np.array([x[:2] * k for k in range(3)]) @ x[2:])


def asarray_first(x):
    x = np.asarray(x)
    return (1.0 - x[0]) ** 2 + np.sum(np.exp(np.sin(x[1:]))) + np.sum(A @ x)


def elementwise_functions(x):
    y = np.array([x[0], x[1] * x[2]])
    return np.sum(np.sqrt(y) + np.log1p(y) * np.tanh(y) - np.arctan2(y, y[::-1]) + np.hypot(y, 2.0 * y) ** 3)


def reductions(x):
    y = np.array([x[1], x[0], -x[2], x[3]])
    return np.max(y) * np.min(y) + np.prod(y) + np.cumsum(y)[2] + np.sort(y)[1] ** 2 + np.linalg.norm(y)


def means(x):
    y, z = np.array([x[0], x[1] * x[2], 2.0]), [1.5, x[3], x[0]]
    grid = np.array([[x[0], x[1]], [x[2], x[3] ** 2]])
    columns = np.mean(grid, axis=0) * np.std(grid, axis=1) + np.var(grid, axis=0)
    return np.mean(y) * np.var(y, ddof=1) + np.std(y) ** 3 + np.mean(z) * np.std(z) + y.mean() + columns @ x[:2]


def cast_to_integers(x):
    return x[np.int64(x) % 4] @ x + np.asarray(x, dtype=int)[2] * x[0]


def joined_with_traced(x):
    y = np.array([x[0] * x[1], 2.0])
    return np.sum(np.concatenate([y, x]) ** 2) + y @ x[:2] + np.sum(x[2:] * y) + np.where(x[:2] > 1.0, y, x[2:]).sum()


def list_beside_traced(x):
    return np.add(x, [x[0], x[1], 1.0, x[3] ** 2]) @ [x[3], 0.5, x[0], x[1]]


def index_tricks(x):
    return np.sum(np.r_[1.0, x, x[0] ** 2] * np.arange(6)) + np.sum(np.c_[x, x**2] ** 2)


def method_of_a_plain_array(x):
    return np.ones(4).dot(x) ** 2 + A.dot(x).sum()


def vectorized(x):
    return np.sum(np.vectorize(lambda item: item if item > 1.0 else 0.1 * item**2)(x))


def written_in_place(x):
    y = np.array([x[0], 2.0, x[1]])
    y[1] = y[0] * x[2]
    y += 1.0
    y[y > 2.0] *= x[3]
    return np.sum(y**2)


def inner_gradient(x):
    return np.sum(md.grad(lambda y: np.sum(y**3))(np.array([x[0], x[1] * x[2]])))


FUNCTIONS = [
    rotation,
    a_list_of_results,
    rows,
    asarray_first,
    elementwise_functions,
    reductions,
    means,
    cast_to_integers,
    joined_with_traced,
    list_beside_traced,
    index_tricks,
    method_of_a_plain_array,
    vectorized,
    written_in_place,
    inner_gradient,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_derivative_is_that_of_the_plain_function(function):
    value, slope = md.value_and_grad(function)(X)
    assert value == pytest.approx(function(X), rel=1e-13)
    step = 1e-6
    differences = [(function(X + step * e) - function(X - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-7)


def test_an_array_of_objects_can_be_the_result():
    def f(x):
        return np.array([[x[0] ** 2, 1.0], [x[0] * x[1], x[2]]])

    jacobian = md.jacobian(f)(X)
    assert jacobian.dtype == np.float64
    np.testing.assert_allclose(jacobian[1, 0], [X[1], X[0], 0.0, 0.0])
    compiled = md.compile(f)(X)
    assert compiled.dtype == np.float64
    np.testing.assert_allclose(compiled, f(X))


def test_inside_compile_only_comparisons_need_values():
    np.testing.assert_allclose(md.compile(md.grad(rotation))(X), md.grad(rotation)(X))
    with pytest.raises(TraceError, match="Python cannot branch on it"):
        md.compile(md.grad(vectorized))(X)


def test_a_function_that_needs_floats_names_where_the_array_was_made():
    def f(x):
        K = np.array([[x[0], x[1]], [x[1], x[2]]])
        return np.linalg.det(K)

    with pytest.raises(TraceError) as caught:
        md.grad(f)(X)
    text = str(caught.value)
    assert "Use md.array([...]) in their place" in text
    assert "of test_object_arrays.py: K = np.array([[x[0], x[1]], [x[1], x[2]]])" in text
    assert text.endswith("of test_object_arrays.py: return np.linalg.det(K)")


def test_other_errors_of_the_function_stay_as_they_are():
    def f(x):
        np.array([x[0], x[1]])
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        md.grad(f)(X)


def test_a_copy_can_be_written_and_leaves_the_array_alone():
    def f(x):
        y = np.array(x)
        y[0] = 100.0
        return np.sum(x**2) + np.sum(y)

    value, slope = md.value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    np.testing.assert_allclose(slope, 2 * X + [0.0, 1.0, 1.0, 1.0])


def write_to_the_array(x):
    x = x.copy()
    y = np.asarray(x)
    x[0] = 5.0
    return np.sum(y)


def write_to_asarray(x):
    y = np.asarray(x.copy())
    y[0] = 5.0
    return np.sum(y)


@pytest.mark.parametrize("function", [write_to_the_array, write_to_asarray])
def test_a_write_that_numpy_shows_in_both_arrays_is_refused(function):
    with pytest.raises(TraceError, match=r"np\.asarray.* copy"):
        md.grad(function)(X)


def test_an_array_can_be_written_after_a_copy_of_it_was_made():
    def f(x):
        x = x.copy()
        rows = np.array([x, x])
        x[0] = 5.0
        return np.sum(rows[0]) + np.sum(x)

    value, slope = md.value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    np.testing.assert_allclose(slope, [1.0, 2.0, 2.0, 2.0])


def test_md_array_of_an_array_of_objects_is_a_traced_array():
    """What the error of a function that does not take objects advises."""

    def f(x):
        rows = np.array([[x[0], x[1] ** 2], [x[1], 1.0]])
        return np.sum(np.logaddexp(md.array(rows), 0.5)) + np.linalg.det(md.array(rows))

    x = np.array([0.3, -1.2])
    assert md.check_gradient(f, x)
