"""Ties, zeros, NaN and empty axes in reductions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from madaline.graph.numpy_api.reduce import logsumexp

HOLES = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [-2.0, 5.0, np.nan]])
WITH_INFINITIES = np.array([[1.0, np.inf, 3.0], [-np.inf, -np.inf, -np.inf], [2.0, -np.inf, 0.5]])


def test_equal_maxima_share_the_derivative(gradients):
    assert gradients(np.max, np.array([3.0, 1.0, 3.0, 3.0]))[0].tolist() == [1 / 3, 0.0, 1 / 3, 1 / 3]
    assert gradients(np.min, np.array([1.0, 1.0, 2.0]))[0].tolist() == [0.5, 0.5, 0.0]
    (bar,) = gradients(lambda x: np.max(x, axis=1).sum(), np.array([[1.0, 1.0], [0.0, 2.0]]))
    assert bar.tolist() == [[0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
        ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        ([2.0, 3.0, 4.0, 5.0, 6.0], [360.0, 240.0, 180.0, 144.0, 120.0]),
        ([7.0], [1.0]),
        ([], []),
    ],
)
def test_the_derivative_of_a_product_is_right_where_factors_are_zero(x, expected, gradients):
    assert gradients(np.prod, np.array(x))[0].tolist() == expected


def test_the_hessian_of_a_product_is_right_where_factors_are_zero(run, evaluate, gradient_graph, tangent_graph):
    from madaline.graph.trace import trace

    x = np.array([2.0, 0.0, 0.0, 5.0])
    gradient = gradient_graph(trace(np.prod, x), [np.ones(())])
    hessian = np.stack([evaluate(tangent_graph(gradient, [row]), x)[0] for row in np.eye(4)])
    expected = np.zeros((4, 4))
    expected[1, 2] = expected[2, 1] = 10.0
    np.testing.assert_array_equal(hessian, expected)


@pytest.mark.parametrize(
    "function",
    [np.sum, np.prod, np.max, np.min, np.mean, np.argmax, np.argmin, np.cumsum, np.sort, np.argsort, np.median],
)
@pytest.mark.parametrize("x", [HOLES, WITH_INFINITIES], ids=["nan", "infinity"])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_nan_and_infinity_go_through_reductions_as_in_numpy(function, x, run):
    with np.errstate(all="ignore"):
        expected = function(x, axis=1)
    np.testing.assert_array_equal(run(lambda x: function(x, axis=1), x), expected)


@pytest.mark.parametrize("function", [np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_holes_are_skipped_as_in_numpy_and_get_no_derivative(function, run, gradients):
    np.testing.assert_allclose(run(lambda x: function(x, axis=1), HOLES), function(HOLES, axis=1), rtol=1e-14)
    some = HOLES[[0, 2]]
    (bar,) = gradients(lambda x: np.sum(function(x, axis=1)), some)
    assert (bar[np.isnan(some)] == 0.0).all()
    assert np.isfinite(bar).all()
    step = 1e-6
    moved = [np.where([[True, False, False], [False] * 3], some + sign * step, some) for sign in (1, -1)]
    difference = (function(moved[0], axis=1).sum() - function(moved[1], axis=1).sum()) / (2 * step)
    assert bar[0, 0] == pytest.approx(difference, rel=1e-6, abs=1e-8)


def test_logsumexp_is_scipys_at_the_extremes(run):
    x = np.array(
        [[1000.0, 1000.0], [-1000.0, -1001.0], [-np.inf, -np.inf], [np.inf, 0.0], [np.nan, 0.0], [0.0, -np.inf]]
    )
    expected = scipy.special.logsumexp(x, axis=1)
    np.testing.assert_allclose(run(lambda x: logsumexp(x, axis=1), x), expected, rtol=1e-15)
    np.testing.assert_allclose(logsumexp(x, axis=1, keepdims=True), expected[:, None], rtol=1e-15)


def test_the_derivative_of_logsumexp_is_softmax(gradients, rng):
    x = rng.normal(size=5) * 300
    np.testing.assert_allclose(gradients(logsumexp, x)[0], scipy.special.softmax(x), rtol=1e-12)


def test_sums_over_no_elements_have_numpys_value(run):
    empty = np.zeros((0, 3))
    assert run(lambda x: np.sum(x, axis=0), empty).tolist() == [0.0, 0.0, 0.0]
    assert run(np.prod, empty) == 1.0
    assert run(lambda x: logsumexp(x, axis=0), empty).tolist() == [-np.inf] * 3


def test_a_sorted_tie_keeps_its_order(gradients, run):
    x = np.array([2.0, 1.0, 2.0, 1.0])
    assert run(np.argsort, x).tolist() == [1, 3, 0, 2]
    (bar,) = gradients(lambda x: np.sort(x) @ np.arange(4.0), x)
    assert bar.tolist() == [2.0, 0.0, 3.0, 1.0]
