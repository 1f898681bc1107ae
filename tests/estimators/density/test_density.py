"""Estimators that know how sure they are: quantiles, Gaussians, mixtures, and nets thinned by dropout."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import madaline as md
from madaline.errors import ConfigError, ShapeError

QUICK = {"learning_rate_init": 0.01, "schedule": "cosine", "max_iter": 60, "random_state": 0}
DENSITIES = [md.GaussianMLPRegressor(**QUICK), md.MixtureDensityRegressor(components=2, **QUICK)]
ALL = [md.QuantileMLPRegressor(**QUICK), *DENSITIES]
each = pytest.mark.parametrize("estimator", ALL, ids=lambda one: type(one).__name__)
each_density = pytest.mark.parametrize("estimator", DENSITIES, ids=lambda one: type(one).__name__)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [kind(max_iter=50) for kind in (md.QuantileMLPRegressor, md.GaussianMLPRegressor, md.MixtureDensityRegressor)]
)
def test_scikit_learn_takes_it_for_an_estimator(estimator, check):
    check(estimator)


def noisy(rng, n):
    """Rows whose noise grows with x, from 0.1 to 1.1."""
    X = rng.uniform(size=(n, 1))
    return X, 3.0 * X[:, 0] + (0.1 + X[:, 0]) * rng.normal(size=n)


@each
def test_intervals_hold_their_share_of_other_rows(estimator, rng):
    fitted = clone(estimator).set_params(max_iter=100).fit(*noisy(rng, 2000))
    X, y = noisy(rng, 2000)
    low, high = fitted.predict_interval(X, 0.9)
    inside = (low <= y) & (y <= high)
    assert inside.mean() == pytest.approx(0.9, abs=0.03)
    for part in (X[:, 0] < 0.3, X[:, 0] > 0.7):  # not only on the whole: narrow where noise is small
        assert inside[part].mean() == pytest.approx(0.9, abs=0.06)
    assert np.mean(high - low) == pytest.approx(2 * norm.ppf(0.95) * np.mean(0.1 + X), rel=0.1)


def test_a_gaussian_tells_mean_and_deviation(rng):
    fitted = clone(DENSITIES[0]).set_params(max_iter=100).fit(*noisy(rng, 4000))
    x = np.array([[0.2], [0.8]])
    mean, std = fitted.predict(x, return_std=True)
    np.testing.assert_allclose(mean, 3.0 * x[:, 0], atol=0.15)
    np.testing.assert_allclose(std, 0.1 + x[:, 0], rtol=0.15)
    y = np.array([0.5, 2.0])
    np.testing.assert_allclose(fitted.log_density(x, y), norm.logpdf(y, mean, std), rtol=1e-9)
    np.testing.assert_allclose(fitted.density(x, y), norm.pdf(y, mean, std), rtol=1e-9)
    np.testing.assert_allclose(fitted.predict_quantiles(x, [0.3])[:, 0], norm.ppf(0.3, mean, std), rtol=1e-9)
    np.testing.assert_allclose(fitted.predict_mode(x), mean, rtol=1e-6)


@each
def test_the_units_of_the_targets_do_not_matter(estimator, rng):
    X, y = noisy(rng, 200)
    plain, scaled = clone(estimator).fit(X, y), clone(estimator).fit(X, 1000.0 * y - 7.0)
    for one, other in zip(plain.predict_interval(X), scaled.predict_interval(X), strict=True):
        np.testing.assert_allclose(1000.0 * one - 7.0, other, rtol=1e-5, atol=1e-3)
    if hasattr(plain, "log_density"):
        np.testing.assert_allclose(
            plain.log_density(X, y), scaled.log_density(X, 1000.0 * y - 7.0) + np.log(1000.0), rtol=1e-5, atol=1e-5
        )


@each
def test_calibrated_intervals_hold_their_share_whatever_was_learned(estimator, rng):
    """A net that is sure of itself for too few rows, put right by rows it has not seen."""
    fitted = clone(estimator).set_params(max_iter=300, schedule=None, n_iter_no_change=np.inf, alpha=0.0)
    with pytest.warns(match="hasn't"):
        fitted.fit(*noisy(rng, 25))
    X, y = noisy(rng, 4000)
    low, high = fitted.predict_interval(X, 0.9)
    assert np.mean((low <= y) & (y <= high)) < 0.85
    low, high = fitted.calibrate(*noisy(rng, 1000)).predict_interval(X, 0.9)
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.9, abs=0.025)
    with pytest.raises(ConfigError, match=r"coverage=0.9 cannot be guaranteed with 5 calibration rows; at least 9"):
        fitted.calibrate(X[:5], y[:5]).predict_interval(X)
    fitted.set_params(max_iter=1, schedule="cosine").fit(X, y)
    assert np.all(np.isfinite(fitted.predict_interval(X)))  # trained anew, it is as if never calibrated


def test_calibration_takes_the_targets_of_fit(rng):
    X = rng.normal(size=(40, 1))
    fitted = md.GaussianMLPRegressor(max_iter=2, schedule="cosine").fit(X, X[:, 0])
    with pytest.raises(ShapeError, match="y has 2 columns; in fit it had 1"):
        fitted.calibrate(X, np.hstack([X, X]))


def test_intervals_of_several_targets_are_calibrated_each(rng):
    def rows(n):
        X = rng.normal(size=(n, 1))
        return X, X + rng.normal(size=(n, 2)) * [1.0, 50.0]

    fitted = clone(DENSITIES[0]).fit(*rows(200)).calibrate(*rows(1000))
    X, y = rows(4000)
    low, high = fitted.predict_interval(X, 0.8)
    np.testing.assert_allclose(np.mean((low <= y) & (y <= high), axis=0), [0.8, 0.8], atol=0.03)


@each_density
def test_several_targets_have_a_column_each(estimator, rng):
    X = rng.normal(size=(100, 3))
    Y = X[:, :2] * [1.0, 100.0] + 0.1 * rng.normal(size=(100, 2))
    fitted = clone(estimator).fit(X, Y)
    assert fitted.predict(X[:5]).shape == (5, 2)
    assert fitted.predict_mode(X[:5]).shape == (5, 2)
    assert fitted.predict_quantiles(X[:5], (0.1, 0.9, 0.95)).shape == (5, 2, 3)
    assert [end.shape for end in fitted.predict_interval(X[:5])] == [(5, 2), (5, 2)]
    assert fitted.sample(X[:5], 7, random_state=0).shape == (7, 5, 2)
    assert fitted.log_density(X[:5], Y[:5]).shape == (5,)
    assert fitted.score(X, Y) > 0.8


def test_several_targets_have_their_quantiles_each(rng):
    X = rng.normal(size=(200, 2))
    Y = X * [1.0, 100.0]
    fitted = clone(ALL[0]).fit(X, Y)
    found = fitted.predict_quantiles(X)
    assert found.shape == (200, 2, 3)
    assert np.all(np.diff(found, axis=2) >= 0)
    np.testing.assert_array_equal(fitted.predict(X), found[:, :, 1])
    assert fitted.score(X, Y) > 0.8


@each_density
def test_draws_follow_the_density(estimator, rng):
    fitted = clone(estimator).fit(*noisy(rng, 500))
    x = np.array([[0.5]])
    drawn = fitted.sample(x, 20_000, random_state=1)[:, 0]
    np.testing.assert_array_equal(drawn, fitted.sample(x, 20_000, random_state=1)[:, 0])
    assert drawn.mean() == pytest.approx(fitted.predict(x)[0], abs=0.03)
    np.testing.assert_allclose(np.quantile(drawn, [0.1, 0.9]), fitted.predict_quantiles(x, [0.1, 0.9])[0], atol=0.05)


def test_what_quantiles_cannot_say_is_refused(rng):
    fitted = clone(ALL[0]).fit(*noisy(rng, 50))
    with pytest.raises(ConfigError, match=r"coverage=0.8 needs the quantiles 0.1 and 0.9, and quantiles=\(0.05, 0.5"):
        fitted.predict_interval([[0.5]], 0.8)
    with pytest.raises(ConfigError, match=r"coverage=90 must be between 0 and 1, such as 0.9"):
        fitted.predict_interval([[0.5]], 90)
    with pytest.raises(ConfigError, match=r"quantiles=\(0.9, 0.1\) must hold increasing levels"):
        md.QuantileMLPRegressor(quantiles=(0.9, 0.1)).fit(*noisy(rng, 50))


def test_early_stopping_watches_the_likelihood(rng):
    X, y = noisy(rng, 300)
    fitted = md.GaussianMLPRegressor(
        early_stopping=True, learning_rate_init=0.02, max_iter=300, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert fitted.n_iter_ < 300
    assert fitted.best_validation_score_ == max(fitted.validation_scores_)
    assert fitted.best_validation_score_ < 0.5  # a mean log-likelihood; R^2 would be close to 0.8 here, too
    assert cross_val_score(clone(fitted), X, y, cv=3).min() > 0.4


@each
def test_more_rows_and_a_warm_start_keep_the_scale_of_the_first(estimator, rng):
    X, y = noisy(rng, 100)
    fitted = clone(estimator).set_params(schedule=None, max_iter=500).fit(X, y)
    before = fitted.predict(X)
    fitted.partial_fit(X[:10], y[:10] + 1000.0)
    assert np.abs(fitted.predict(X) - before).max() < 100.0


@each
def test_a_copy_predicts_the_same(estimator, rng):
    X, y = noisy(rng, 60)
    fitted = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


@each
def test_a_file_holds_all_that_was_learned(estimator, rng, tmp_path):
    X, y = noisy(rng, 60)
    fitted = clone(estimator).fit(X, y).calibrate(*noisy(rng, 40))
    md.save(fitted, tmp_path / "model.madaline")
    loaded = md.load(tmp_path / "model.madaline")
    assert type(loaded) is type(fitted)
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.predict_interval(X), fitted.predict_interval(X))


@each_density
def test_thinned_nets_differ_and_their_mean_density_is_wider(estimator, rng):
    X, y = noisy(rng, 300)
    fitted = clone(estimator).set_params(dropout=0.3, mc_dropout=50).fit(X, y)
    x = np.array([[0.2], [0.9]])
    samples = fitted.predict_samples(x, 40, random_state=0)
    assert samples.shape == (40, 2)
    assert samples.std(axis=0).min() > 0.0
    np.testing.assert_array_equal(samples, fitted.predict_samples(x, 40, random_state=0))
    mixed = fitted.distribution(x)
    assert mixed.weights.shape[1] == 50 * (1 if estimator is DENSITIES[0] else 2)
    np.testing.assert_allclose(mixed.weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(fitted.predict(x), fitted.predict_samples(x, 50, random_state=0).mean(axis=0), rtol=1e-6)
    single = clone(fitted).set_params(dropout=0.0, mc_dropout=5).fit(X, y)
    with pytest.raises(ConfigError, match="The net has no dropout"):
        single.predict(x)


def test_thinned_nets_keep_the_statistics_of_their_batch_norms(rng):
    """A row's samples do not hang on the other rows, as they would if norms used the batch."""
    X, y = noisy(rng, 300)
    fitted = clone(DENSITIES[0]).set_params(dropout=0.2, norm="batch", residual=True, hidden_layer_sizes=(20, 20))
    fitted.fit(X, y)
    few = fitted.predict_samples(X[:1], 5, random_state=0)
    many = fitted.predict_samples(X[:40] * [[1.0], *[[100.0]] * 39], 5, random_state=0)
    np.testing.assert_allclose(few[:, 0], many[:, 0], rtol=1e-6)


def test_a_mixture_finds_both_answers(rng):
    X = rng.uniform(-1, 1, size=(1500, 1))
    y = np.where(rng.random(1500) < 0.3, 2.0 + X[:, 0], -2.0 - X[:, 0]) + 0.1 * rng.normal(size=1500)
    fitted = clone(DENSITIES[1]).set_params(max_iter=100).fit(X, y)
    found = fitted.distribution([[0.5]])
    order = np.argsort(found.means.ravel())
    np.testing.assert_allclose(found.means.ravel()[order], [-2.5, 2.5], atol=0.1)
    np.testing.assert_allclose(found.weights.ravel()[order], [0.7, 0.3], atol=0.07)
    np.testing.assert_allclose(found.spreads().ravel()[order], [0.1, 0.1], atol=0.05)
    assert fitted.predict_mode([[0.5]])[0] == pytest.approx(-2.5, abs=0.1)
    assert fitted.predict([[0.5]])[0] == pytest.approx(-1.0, abs=0.4)
