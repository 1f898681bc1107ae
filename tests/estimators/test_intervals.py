"""Prediction intervals: they hold the truth of new rows as often as they say, where errors are small and large."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.errors import ConfigError, ShapeError
from madaline.estimators.intervals import LEVELS, Intervals, is_covered

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_intervals_hold_the_truth_of_new_rows_as_often_as_they_say(coverage):
    """Averaged over many sets of rows that are like each other; one bin, so it is exact by exchangeability."""
    rng = np.random.default_rng(1)
    held = []
    for _ in range(400):
        errors = rng.standard_t(3, (61, 1))
        intervals = Intervals.learn(errors[:60], np.zeros((60, 1)))
        held.append(abs(errors[60, 0]) <= intervals.margins(np.zeros((1, 1)), coverage)[0, 0])
    assert np.mean(held) == pytest.approx(coverage, abs=0.06)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("n_rows", [100, 1000])
def test_coverage_holds_where_the_spread_depends_on_the_prediction(coverage, n_rows, rng):
    """The spread is learned from the same rows as the sizes of errors; that must not make intervals too short."""
    held = []
    for _ in range(60):
        prediction = rng.uniform(1.0, 10.0, (n_rows + 200, 1))
        truth = prediction * (1.0 + 0.3 * rng.standard_normal(prediction.shape))
        intervals = Intervals.learn(truth[:n_rows], prediction[:n_rows])
        margins = intervals.margins(prediction[n_rows:], coverage)
        held.append(np.mean(np.abs(truth - prediction)[n_rows:] <= margins))
    assert np.mean(held) == pytest.approx(coverage, abs=0.02)


def test_how_often_intervals_hold_is_told_by_other_rows(rng):
    truth = rng.standard_t(3, (4000, 2))
    found = is_covered(truth, np.zeros((4000, 2)), 0.9)
    assert found.shape == (4000, 2)
    assert found.mean(axis=0) == pytest.approx(0.9, abs=0.02)
    # Errors of two sizes that predictions do not tell apart: the small ones are all inside, and the large ones make up.
    size = np.where(np.arange(4000) < 2000, 0.1, 10.0)[:, None]
    unknown = is_covered(truth * size, np.zeros((4000, 2)), 0.9)
    assert unknown[:2000].all()
    assert unknown[2000:].mean() == pytest.approx(0.8, abs=0.03)
    # And of sizes that go with the prediction: small and large ones are inside as often as they should be.
    size = np.exp(np.linspace(-1.5, 1.5, 4000))[:, None]
    known = is_covered(truth * size, np.repeat(size, 2, axis=1), 0.9)
    assert known[:2000].mean() == pytest.approx(0.9, abs=0.03)
    assert known[2000:].mean() == pytest.approx(0.9, abs=0.03)


def noisy(n, seed):
    """A target whose noise grows with it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, 2))
    mean = 1.0 + 9.0 * X[:, 0] ** 2
    return X, mean * (1.0 + 0.25 * rng.standard_normal(n))


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_intervals_are_as_wide_as_the_errors_there(coverage):
    """With one width for all predictions, the largest quarter would be held 68 % of the time in place of 90 %."""
    X, y = noisy(3000, 0)
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(32,), max_iter=30, random_state=0).fit(X[:1500], y[:1500])
    reg.calibrate(X[1500:], y[1500:])
    new, truth = noisy(4000, 1)
    found = reg.predict(new)
    low, high = reg.predict_interval(new, coverage)
    held = (low <= truth) & (truth <= high)
    for quarter in np.array_split(np.argsort(found), 4):
        assert held[quarter].mean() == pytest.approx(coverage, abs=0.05)
    largest, smallest = np.argmax(found), np.argmin(found)
    assert (high - low)[largest] > 4.0 * (high - low)[smallest]


def test_several_targets_have_intervals_of_their_own():
    X, y = noisy(1500, 0)
    targets = np.column_stack([y, 1000.0 * y])
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(16,), max_iter=10, random_state=0).fit(X, targets)
    low, high = reg.predict_interval(X, 0.9)
    assert low.shape == high.shape == (1500, 2)
    held = (low <= targets) & (targets <= high)
    assert held.mean(axis=0) == pytest.approx(0.9, abs=0.07)
    assert np.median(high[:, 1] - low[:, 1]) > 100.0 * np.median(high[:, 0] - low[:, 0])


def test_equal_predictions_have_one_width():
    """Bins need predictions that differ."""
    intervals = Intervals.learn(np.arange(400.0)[:, None], np.full((400, 1), 200.0))
    assert intervals.centres.shape == (1, 1)
    assert np.ptp(intervals.margins(np.array([[0.0], [200.0], [1e9]]), 0.9)) == 0.0
    some = np.column_stack([np.arange(400.0), np.full(400, 3.0)])  # one target with bins, one without
    assert Intervals.learn(some + 1.0, some).margins(some, 0.9) == pytest.approx(np.ones((400, 2)))


def test_rows_without_errors_have_narrow_intervals_and_no_division_by_zero():
    y = np.arange(100.0)[:, None]
    margins = Intervals.learn(y, y).margins(y, 0.9)
    assert np.all((margins >= 0.0) & (margins < 1e-9))


def test_a_larger_coverage_has_wider_intervals():
    X, y = noisy(400, 0)
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=5, random_state=0).fit(X, y)
    widths = [np.subtract(*reg.predict_interval(X, coverage)[::-1]) for coverage in (0.5, 0.8, 0.9, 0.95)]
    assert all(np.all(wide >= narrow) for narrow, wide in pairwise(widths))


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, -0.1, np.nan])
def test_a_coverage_that_cannot_be_is_refused(coverage):
    X, y = noisy(60, 0)
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=2, random_state=0).fit(X, y)
    with pytest.raises(ConfigError, match=r"must be between 0 and 0.995, for example 0.9"):
        reg.predict_interval(X, coverage)


def test_intervals_need_rows_that_training_did_not_see():
    X, y = noisy(100, 0)
    reg = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=2, random_state=0).fit(X, y)
    with pytest.raises(ConfigError, match=r"Fit with early_stopping=True or validation=, or call calibrate\(X, y\)"):
        reg.predict_interval(X)
    low, high = reg.calibrate(*noisy(100, 1)).predict_interval(X)
    assert np.all(low < high)
    with pytest.raises(ShapeError, match=r"y has shape \(99,\), and the predictions have shape \(100,\)"):
        reg.calibrate(X, y[:-1])
    reg.fit(X, y)  # errors of another net say nothing about this one
    with pytest.raises(ConfigError, match="predict_interval needs errors"):
        reg.predict_interval(X)
    assert not hasattr(md.MLPClassifier(), "predict_interval")


@pytest.mark.parametrize(
    "how", [{"preset": "auto"}, {"early_stopping": True}, {"validation": 0.2}, {"validation": "given"}], ids=str
)
def test_a_validation_set_is_enough(how):
    X, y = noisy(200, 0)
    how = {"validation": noisy(80, 1)} if how == {"validation": "given"} else how
    reg = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=5, random_state=0, **how).fit(X, y)
    low, high = reg.predict_interval(X, 0.8)
    assert np.all(low < high)


@pytest.mark.parametrize("kind", [np.asarray, lambda X: pl.DataFrame(X, schema=["a", "b"])], ids=["array", "polars"])
def test_intervals_come_back_from_a_file(tmp_path, kind):
    X, y = noisy(300, 0)
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=5, random_state=0).fit(kind(X), y)
    md.save(reg, tmp_path / "reg.madaline")
    for one, other in zip(
        md.load(tmp_path / "reg.madaline").predict_interval(kind(X), 0.7),
        reg.predict_interval(kind(X), 0.7),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    assert len(LEVELS) == 200


def test_rows_without_weight_are_left_out(rng):
    truth, prediction = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    weight = (np.arange(200) % 3 > 0).astype(float)
    weighted = Intervals.learn(truth, prediction, 5.0 * weight)
    some = Intervals.learn(truth[weight > 0], prediction[weight > 0])
    for name in ("centres", "spreads", "sizes"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(some, name), rtol=1e-12)


def test_intervals_hold_for_rows_in_the_proportion_of_their_weights(rng):
    """Half of the rows have errors ten times as large; by their weight, they are 90 % of the rows that will come."""
    sizes = np.where(np.arange(2000) % 2, 1.0, 10.0)[:, None]
    errors = sizes * rng.normal(size=(2000, 1))
    weight = np.where(sizes[:, 0] > 1.0, 9.0, 1.0)
    zeros = np.zeros((2000, 1))
    margin = Intervals.learn(errors, zeros, weight).margins(zeros[:1], 0.8)[0, 0]
    assert np.average(np.abs(errors[:, 0]) <= margin, weights=weight) == pytest.approx(0.8, abs=0.01)
    plain = Intervals.learn(errors, zeros).margins(zeros[:1], 0.8)[0, 0]
    assert np.average(np.abs(errors[:, 0]) <= plain, weights=weight) < 0.75


def test_weights_reach_the_intervals_of_an_estimator(rng):
    X = rng.normal(size=(300, 1))
    y = np.where(np.arange(300) % 2, 0.1, 5.0) * rng.normal(size=300)
    regressor = md.MLPRegressor(hidden_layer_sizes=(4,), max_iter=2, random_state=0).fit(X, y)
    plain, weighted = (
        np.subtract(*regressor.calibrate(X, y, weight).predict_interval(X[:1])[::-1])
        for weight in (None, np.where(np.arange(300) % 2, 1.0, 1e-9))
    )
    assert weighted < 0.5 * plain
