"""Counts under a preset: rates that are learned on their own scale, and stay believable far from the data."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.estimators.regressor import BEYOND


def drawn(n, low, high, seed=0):
    """Counts with a rate of exp(x)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, n)
    return pl.DataFrame({"x": x}), pl.Series("n", rng.poisson(np.exp(x)).astype(int))


def fitted(X, n, **parameters):
    return md.MLPRegressor("poisson", preset="auto", **{"max_iter": 40, "random_state": 0} | parameters).fit(X, n)


@pytest.fixture(scope="module")
def few():
    return fitted(*drawn(300, 0.0, 3.0), max_iter=60)


@pytest.fixture(scope="module")
def wide():
    """Rates from 0.02 to 400."""
    return fitted(*drawn(4000, -4.0, 6.0))


def test_counts_are_never_negative():
    counts = fitted(*drawn(300, -3.0, 3.0), max_iter=5)
    far = pl.DataFrame({"x": np.linspace(-30.0, 3.0, 50)})
    found = counts.predict(far)
    assert found.min() >= 0.0
    low, high = counts.predict_interval(far, 0.9)
    assert low.min() == 0.0
    assert np.all(high > found)


def test_intervals_of_counts_hold_small_and_large_ones_alike(tmp_path):
    """Counts of rate m vary by the root of m: one width for all would be too wide below and too narrow above."""
    counts = fitted(*drawn(4000, 0.0, 6.0))
    counts.calibrate(*drawn(1000, 0.0, 6.0, seed=1))
    counts.save(tmp_path / "counts.madaline")
    new, truth = drawn(2000, 0.0, 6.0, seed=2)
    low, high = md.load(tmp_path / "counts.madaline").predict_interval(new, 0.9)
    held = (low <= truth.to_numpy()) & (truth.to_numpy() <= high)
    is_large = new["x"].to_numpy() > 3.0
    assert held[is_large].mean() == pytest.approx(0.9, abs=0.06)
    assert held[~is_large].mean() == pytest.approx(0.9, abs=0.06)
    assert np.median((high - low)[is_large]) > 3.0 * np.median((high - low)[~is_large])


def test_counts_far_from_the_data_stay_numbers_one_can_believe(few, tmp_path):
    """A rate grows exponentially with what the net sees: a mistyped value would make it infinite."""
    _, n = drawn(300, 0.0, 3.0)
    most = (1.0 + BEYOND) * n.max()
    found = few.predict(pl.DataFrame({"x": [1.0, 3e3, 3e6]}))
    assert found[0] == pytest.approx(np.e, rel=0.5)
    assert 0.5 * n.max() < found[1] <= most
    assert 0.5 * n.max() < found[2] <= most
    few.save(tmp_path / "counts.madaline")
    again = md.load(tmp_path / "counts.madaline").predict(pl.DataFrame({"x": [1.0, 3e3, 3e6]}))
    np.testing.assert_array_equal(again, found)


def test_counts_are_learned_by_their_likelihood_on_their_own_scale(wide, tmp_path):
    """The factor by which a rate is missed is as large for the small ones as for the others."""
    assert wide.loss_function_ == md.losses.Poisson()
    assert wide.loss_curve_[0] < 3.0
    at = np.linspace(-3.0, 5.5, 30)
    missed = np.log(wide.predict(pl.DataFrame({"x": at}))) - at
    assert np.abs(missed).max() < 0.7
    assert np.abs(missed).mean() < 0.25
    wide.save(tmp_path / "counts.madaline")
    again = md.load(tmp_path / "counts.madaline")
    np.testing.assert_array_equal(again.predict(pl.DataFrame({"x": at})), wide.predict(pl.DataFrame({"x": at})))


def test_several_counts_are_learned_together(tmp_path):
    X, n = drawn(600, 0.0, 3.0)
    both = pl.DataFrame({"n": n, "m": 1000 * n})
    counts = fitted(X, both)
    assert counts.target_names_ == ("n", "m")
    found = counts.predict(pl.DataFrame({"x": [1.0, 2.0]}))
    assert found / [1.0, 1000.0] == pytest.approx(np.exp([[1.0, 1.0], [2.0, 2.0]]), rel=0.3)
