"""Programs of derivatives that are kept by structure never give the numbers of another function."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

X = np.array([1.0, 2.0, 3.0, 4.0])


def test_constants_of_the_same_shape_may_change():
    for table in (np.arange(4.0), np.ones(4), -np.arange(4.0)):
        assert md.grad(lambda x, t=table: np.sum(x * t + np.sin(x * 0.0)))(X).tolist() == table.tolist()


@pytest.mark.parametrize("index", [[0, 1], [3, 3], [-1, 0], [2, -2]])
def test_indices_may_change(index):
    expected = np.zeros(4)
    np.add.at(expected, index, 2.0)
    assert md.grad(lambda x: np.sum(2.0 * x[np.array(index)]))(X).tolist() == expected.tolist()
    grid = np.ones((4, 4))
    found = md.grad(lambda a: np.sum(2.0 * a[np.array(index), np.array(index[::-1])]))(grid)
    expected = np.zeros((4, 4))
    np.add.at(expected, (index, index[::-1]), 2.0)
    assert found.tolist() == expected.tolist()


def test_numbers_may_change():
    for factor in (2.0, 3.0, 2.0, -1.0):
        assert md.grad(lambda x, f=factor: f * x**2)(3.0) == 6.0 * factor


def test_one_array_or_two_equal_ones_are_told_apart():
    a, b = np.ones(4), np.full(4, 2.0)
    for first, second in ((a, a), (a, b), (b, b), (b, a)):
        slope = md.grad(lambda x, p=first, q=second: np.sum(x * p) + np.sum(x**2 * q))(X)
        np.testing.assert_array_equal(slope, first + 2.0 * X * second)


def test_auxiliary_results_are_given_back_as_they_are():
    kept = np.array(5.0)
    for _ in range(2):
        slope, aux = md.grad(lambda x: (np.sum(x**2), {"x": x[0], "kept": kept, "name": "a"}), has_aux=True)(X)
        assert slope.tolist() == (2.0 * X).tolist()
        assert aux["kept"] is kept
        assert aux["name"] == "a"
        assert aux["x"] == 1.0
        assert isinstance(aux["x"], np.float64)


def test_a_rule_by_hand_may_depend_on_values():
    def rule(args, y, y_bar):
        return (y_bar * 10.0,) if y > 0 else (y_bar * -10.0,)

    f = md.custom_derivative(lambda x: x * 2.0, vjp=rule)
    assert [float(md.grad(f)(x)) for x in (1.0, -1.0, 2.0, -3.0)] == [10.0, -10.0, 10.0, -10.0]


def test_paths_of_one_function_are_kept_apart():
    slope = md.grad(lambda x: np.sum(x**2) if x[0] > 0 else np.sum(x**3))
    for x in (X, -X, 2.0 * X, -2.0 * X):
        np.testing.assert_allclose(slope(x), 2.0 * x if x[0] > 0 else 3.0 * x**2)


def test_types_and_shapes_are_kept_apart():
    f = md.grad(lambda x: np.sum(np.sin(x)))
    for x in (X, X.astype(np.float32), X[:2], X.reshape(2, 2), X[0]):
        slope = f(x)
        assert slope.dtype == x.dtype
        assert slope.shape == x.shape
        np.testing.assert_allclose(slope, np.cos(x), rtol=1e-6)


def test_zeros_of_either_sign_are_told_apart():
    for zero in (0.0, -0.0, 0, 0.0):
        with np.errstate(divide="ignore"):
            found, _ = md.value_and_grad(lambda x, z=zero: 1.0 / (x * z))(1.0)
            assert found == 1.0 / np.float64(zero)


def test_an_array_that_changes_while_it_is_traced_counts_as_it_was():
    def f(x, a):
        first = np.sum(x * a)
        a[0] = 100.0
        return first + np.sum(x**2 * a)

    for _ in range(3):
        np.testing.assert_array_equal(md.grad(f)(X, np.ones(4)), 1.0 + 2.0 * X * np.array([100.0, 1.0, 1.0, 1.0]))


def test_a_write_between_two_equal_operations_is_seen():
    def f(x):
        first, second = x * 2.0, x * 2.0
        first[0] = 0.0
        view = second[1:]
        view[0] = x[3]
        return np.sum(first * 2.0) + 10.0 * np.sum(second * 2.0)

    for _ in range(3):
        assert md.grad(f)(X).tolist() == [40.0, 4.0, 44.0, 64.0]


def test_values_of_an_earlier_call_are_refused_at_every_call():
    kept = []

    def f(x):
        kept.append(x * 2.0)
        return np.sum(kept[0] * x)

    assert md.grad(f)(X).tolist() == (4.0 * X).tolist()
    for _ in range(2):
        with pytest.raises(md.errors.TraceError, match="another call"):
            md.grad(f)(X)


def test_a_result_does_not_depend_on_what_was_traced_before():
    def once(x):
        y = np.tanh(x) / 3.0
        return np.sum(y * y + y)

    def twice(x):
        return np.sum((np.tanh(x) / 3.0) * (np.tanh(x) / 3.0) + np.tanh(x) / 3.0)

    for first, second in ((once, twice), (twice, once)):
        assert md.grad(first)(X[:3]).tolist() == md.grad(second)(X[:3]).tolist()
