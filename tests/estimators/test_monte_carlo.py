"""Predictions of nets thinned by dropout."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_classification

import madaline as md
from madaline.errors import ConfigError

QUICK = {"dropout": 0.3, "max_iter": 30, "schedule": "cosine", "learning_rate_init": 0.01, "random_state": 0}


@pytest.fixture
def rows():
    return make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)


def test_a_classifier_gives_the_probabilities_of_thinned_nets(rows):
    X, y = rows
    fitted = md.MLPClassifier(**QUICK).fit(X, y)
    samples = fitted.predict_samples(X[:20], 400, random_state=0)
    assert samples.shape == (400, 20, 3)
    np.testing.assert_allclose(samples.sum(axis=2), 1.0, rtol=1e-6)
    assert np.all(samples.std(axis=0) > 0)
    np.testing.assert_allclose(samples.mean(axis=0), fitted.predict_proba(X[:20]), atol=0.2)  # not equal: it bends
    np.testing.assert_array_equal(samples, fitted.predict_samples(X[:20], 400, random_state=0))
    assert not np.array_equal(samples, fitted.predict_samples(X[:20], 400, random_state=1))


def test_two_classes_have_two_columns(rows):
    X, y = rows
    samples = md.MLPClassifier(**QUICK).fit(X, y > 0).predict_samples(X[:4], 5, random_state=0)
    assert samples.shape == (5, 4, 2)


def test_classes_with_an_order_have_samples_too(rows):
    X, y = rows
    samples = md.MLPClassifier(loss="ordinal", **QUICK).fit(X, y).predict_samples(X[:4], 5, random_state=0)
    np.testing.assert_allclose(samples.sum(axis=2), np.ones((5, 4)), rtol=1e-6)


@pytest.mark.parametrize("n_samples", [0, 2.5, True])
def test_samples_are_counted_in_whole_numbers(rows, n_samples):
    with pytest.raises(ConfigError, match=f"n_samples={n_samples} must be a whole number of at least 1"):
        md.MLPClassifier(**QUICK).fit(*rows).predict_samples(rows[0], n_samples)


def test_thinned_nets_without_hidden_bends_are_right_on_average(rng):
    """Of a linear net the mean over masks is the net itself: inverted dropout keeps the mean."""
    X = rng.normal(size=(200, 3))
    fitted = md.MLPRegressor(hidden_layer_sizes=(20,), activation="identity", **QUICK).fit(X, X @ [1.0, 2.0, 3.0])
    samples = fitted.predict_samples(X[:5], 4000, random_state=0)
    assert samples.shape == (4000, 5)
    np.testing.assert_allclose(samples.mean(axis=0), fitted.predict(X[:5]), atol=5 * samples.std() / np.sqrt(4000))


def test_tables_can_be_asked_too(rng):
    table = pl.DataFrame({"size": rng.normal(size=80), "kind": rng.choice(["a", "b"], size=80)})
    y = 100.0 * (table["size"].to_numpy() + rng.normal(size=80))
    fitted = md.MLPRegressor(data="auto", **QUICK).fit(table, y)
    samples = fitted.predict_samples(table[:6], 50, random_state=0)
    assert samples.shape == (50, 6)
    np.testing.assert_allclose(samples.mean(axis=0), fitted.predict(table[:6]), atol=40.0)


def test_a_net_that_drops_nothing_has_no_samples(rows):
    X, y = rows
    with pytest.raises(ConfigError, match=r"The net has no dropout.*Train it with dropout=0.1"):
        md.MLPClassifier(**QUICK | {"dropout": 0.0}).fit(X, y).predict_samples(X)
    with pytest.raises(ConfigError, match="needs a net with one target"):
        md.MLPClassifier(**QUICK).fit(X, np.column_stack([y, y])).predict_samples(X)
