"""Distributions: SciPy's values, and derivatives that agree with differences of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.stats

import madaline as md
from madaline.errors import ShapeError, TraceError

X = np.array([-0.7, 0.2, 0.5, 0.9, 1.7])
CONTINUOUS = {
    "beta": (1.4, 2.2),
    "cauchy": (),
    "chi2": (3.0,),
    "expon": (),
    "gamma": (2.3,),
    "gumbel_r": (),
    "halfnorm": (),
    "invgamma": (2.1,),
    "laplace": (),
    "logistic": (),
    "lognorm": (0.7,),
    "norm": (),
    "pareto": (1.7,),
    "rayleigh": (),
    "t": (3.3,),
    "uniform": (),
    "weibull_min": (1.6,),
}
DISCRETE = {"bernoulli": (0.3,), "binom": (5.0, 0.3), "geom": (0.4,), "nbinom": (2.5, 0.3), "poisson": (1.7,)}
QUANTILES = [name for name in CONTINUOUS if name not in ("beta", "chi2", "gamma", "invgamma", "t")]
METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
stats = md.functional.stats


def test_every_distribution_has_an_example():
    assert {*CONTINUOUS, *DISCRETE, "dirichlet", "multivariate_normal"} == set(stats.__all__)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_values_are_scipys_inside_and_outside_the_support(name, method):
    args = (*CONTINUOUS[name], 0.1, 1.3)
    ours, scipys = (getattr(getattr(module, name), method) for module in (stats, scipy.stats))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(ours(X, *args), scipys(X, *args), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ours(X, *CONTINUOUS[name]), scipys(X, *CONTINUOUS[name]), rtol=1e-12, atol=1e-14)
        assert ours(0.3, *CONTINUOUS[name], loc=0.1) == pytest.approx(scipys(0.3, *CONTINUOUS[name], loc=0.1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_derivatives_by_value_and_parameters_agree_with_differences(name, method):
    shapes = CONTINUOUS[name]
    has_shape_derivative = method.endswith("pdf") or name == "lognorm"
    inside = 2.6 if name == "pareto" else 0.6
    point = np.array([*(shapes if has_shape_derivative else ()), inside, 0.1, 1.3])

    def f(module, p):
        given = tuple(p[: len(shapes)]) if has_shape_derivative else shapes
        x, loc, scale = p[-3:]
        return getattr(getattr(module, name), method)(x, *given, loc, scale)

    slope = md.grad(lambda p: f(stats, p))(point)
    step = 1e-6
    differences = [
        (f(scipy.stats, point + step * e) - f(scipy.stats, point - step * e)) / (2 * step) for e in np.eye(len(point))
    ]
    np.testing.assert_allclose(slope, differences, rtol=2e-6, atol=1e-8)


def test_a_value_outside_the_support_has_a_derivative_of_zero():
    assert md.grad(lambda x: stats.gamma.pdf(x, 2.0))(-1.0) == 0.0
    assert md.grad(lambda a: np.sum(stats.beta.pdf(np.array([-0.5, 0.5, 1.5]), a, 2.0)))(2.0) != 0.0


def test_poisson_is_scipys():
    k = np.array([-1.0, 0.0, 1.0, 2.5, 4.0])
    for method in ("pmf", "logpmf"):
        ours, scipys = (getattr(module.poisson, method) for module in (stats, scipy.stats))
        np.testing.assert_allclose(ours(k, 1.7), scipys(k, 1.7), rtol=1e-12)
        np.testing.assert_allclose(ours(k, 1.7, 1), scipys(k, 1.7, 1), rtol=1e-12)
    np.testing.assert_allclose(stats.poisson.cdf(k, 1.7), scipy.stats.poisson.cdf(k, 1.7), rtol=1e-12)
    assert md.grad(lambda mu: stats.poisson.logpmf(3.0, mu))(1.7) == pytest.approx(3.0 / 1.7 - 1.0)
    assert md.grad(lambda mu: stats.poisson.cdf(3.0, mu))(1.7) == pytest.approx(-scipy.stats.poisson.pmf(3, 1.7))


def test_dirichlet_is_scipys():
    x, alpha = np.array([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]]), np.array([1.5, 2.0, 0.7])
    np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), scipy.stats.dirichlet.logpdf(x, alpha), rtol=1e-12)
    assert stats.dirichlet.pdf(x[:, 0], alpha) == pytest.approx(scipy.stats.dirichlet.pdf(x[:, 0], alpha))
    assert md.check_gradient(lambda a: stats.dirichlet.logpdf(x[:, 0], a), alpha, raise_error=True)


MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.8]])


@pytest.mark.parametrize("cov", [MATRIX, np.diag(MATRIX), 1.7], ids=["matrix", "variances", "variance"])
def test_multivariate_normal_is_scipys(cov):
    x, mean = np.arange(12.0).reshape(4, 3) / 5.0, np.array([0.1, -0.2, 0.3])
    ours, scipys = stats.multivariate_normal, scipy.stats.multivariate_normal
    np.testing.assert_allclose(ours.logpdf(x, mean, cov), scipys.logpdf(x, mean, cov), rtol=1e-12)
    np.testing.assert_allclose(ours.logpdf(x, mean, cov, allow_singular=True), scipys.logpdf(x, mean, cov), rtol=1e-12)
    assert ours.pdf(x[0], mean, cov) == pytest.approx(scipys.pdf(x[0], mean, cov))
    assert ours.entropy(mean, cov) == pytest.approx(scipys.entropy(mean, cov))
    assert md.check_gradient(lambda m: ours.logpdf(x[0], m, cov), mean, raise_error=True)


def test_the_derivative_by_a_covariance_is_that_of_the_symmetric_matrix():
    def f(a):
        return np.sum(stats.multivariate_normal.logpdf(np.ones((2, 3)), np.zeros(3), a @ a.T + np.eye(3)))

    assert md.check_gradient(f, MATRIX + np.tri(3), raise_error=True)


def test_a_singular_covariance_counts_where_it_is_positive():
    cov = np.diag([1.0, 2.0, 0.0])
    x = np.array([0.5, -1.0, 0.0])
    ours = stats.multivariate_normal.logpdf(x, np.zeros(3), cov, allow_singular=True)
    assert ours == pytest.approx(scipy.stats.multivariate_normal.logpdf(x, np.zeros(3), cov, allow_singular=True))


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match=r"gamma takes x, a, loc, scale"):
        stats.gamma.logpdf(1.0)
    with pytest.raises(ShapeError, match=r"for vectors of 3 numbers use \(3, 3\)"):
        stats.multivariate_normal.logpdf(np.zeros(3), np.zeros(3), np.eye(2))


def test_errors_of_scipy_stats_name_the_distributions_that_there_are():
    with pytest.raises(TraceError, match="Use the formula of the density") as found:
        md.grad(lambda a: scipy.stats.zipf.logpmf(1, a))(2.0)
    named = re.search(r"md\.functional\.stats has (.*?) only", str(found.value))[1].split(", ")
    assert set(named) == {*CONTINUOUS, *DISCRETE, "dirichlet", "multivariate_normal"}
    assert all(hasattr(md.functional.stats, name) for name in named)
    assert set(named) == set(md.functional.stats.__all__)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_scipys_own_distributions_can_be_differentiated(name):
    shapes = (CONTINUOUS | DISCRETE)[name]
    method = "logpdf" if name in CONTINUOUS else "logpmf"
    x = X if name in CONTINUOUS else np.array([1.0, 2.0, 0.0])
    parameters = np.array([*shapes, 0.1] if name in CONTINUOUS else shapes)
    start = int(name in ("binom", "nbinom"))  # the number of trials is given

    def f(module, p, frozen=False):
        given = (*shapes[:start], *p)
        distribution = getattr(module, name)
        found = getattr(distribution(*given), method)(x) if frozen else getattr(distribution, method)(x, *given)
        return np.sum(np.where(np.isfinite(found), found, 0.0))

    p = parameters[start:]
    slope = md.grad(lambda p: f(stats, p))(p)
    np.testing.assert_array_equal(md.grad(lambda p: f(scipy.stats, p))(p), slope)
    np.testing.assert_array_equal(md.grad(lambda p: f(scipy.stats, p, frozen=True))(p), slope)
    differences = [(f(scipy.stats, p + 1e-6 * e) - f(scipy.stats, p - 1e-6 * e)) / 2e-6 for e in np.eye(len(p))]
    np.testing.assert_allclose(slope, differences, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", QUANTILES)
def test_quantiles_are_scipys(name):
    q, shapes = np.array([0.01, 0.3, 0.5, 0.9]), CONTINUOUS[name]
    for method in ("ppf", "isf"):
        ours, scipys = (getattr(getattr(module, name), method) for module in (stats, scipy.stats))
        np.testing.assert_allclose(ours(q, *shapes, 0.2, 1.7), scipys(q, *shapes, 0.2, 1.7), rtol=1e-10)
    density = scipy.stats.__dict__[name].pdf
    slope = md.grad(lambda q: getattr(scipy.stats, name).ppf(q, *shapes))(0.3)
    assert slope == pytest.approx(1.0 / density(getattr(scipy.stats, name).ppf(0.3, *shapes), *shapes), rel=1e-8)


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_of_integers_are_scipys(name):
    k = np.array([-1.0, 0.0, 1.0, 2.5, 3.0, 4.0, 9.0])
    for method in ("pmf", "logpmf", "cdf", "sf"):
        ours, scipys = (getattr(getattr(module, name), method) for module in (stats, scipy.stats))
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(ours(k, *DISCRETE[name]), scipys(k, *DISCRETE[name]), rtol=1e-11, atol=1e-15)
            np.testing.assert_allclose(
                ours(k, *DISCRETE[name], loc=1), scipys(k, *DISCRETE[name], loc=1), rtol=1e-11, atol=1e-15
            )
