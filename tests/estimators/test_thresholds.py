"""Decision thresholds: the best one of all that are possible, on rows that training did not see."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score
from sklearn.model_selection import FixedThresholdClassifier

import madaline as md
from madaline.errors import ConfigError, ShapeError
from madaline.estimators.thresholds import best_threshold

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def rare(rng):
    """Probabilities with ties, and a class that one row in five has."""
    p = np.round(rng.uniform(0.01, 0.98, 400), 2)
    return p, rng.uniform(size=400) < 0.4 * p, rng.uniform(0.5, 2.0, 400)


@pytest.mark.parametrize(
    ("rule", "gain"),
    [
        ({"metric": "f1"}, f1_score),
        ({"metric": "balanced_accuracy"}, balanced_accuracy_score),
        ({"metric": "accuracy"}, lambda y, z, sample_weight: np.average(y == z, weights=sample_weight)),
        ({"cost": (1.0, 3.0)}, lambda y, z, sample_weight: -np.sum(sample_weight * ((z & ~y) + 3.0 * (y & ~z)))),
    ],
    ids=["f1", "balanced accuracy", "accuracy", "cost"],
)
def test_no_other_threshold_is_better(rare, rule, gain):
    p, y, weight = rare
    found = best_threshold(p, y, weight, **rule)
    best = max(gain(y, p > t, sample_weight=weight) for t in np.append(np.unique(p), -1.0))
    assert gain(y, p > found, sample_weight=weight) == pytest.approx(best, rel=1e-12)
    np.testing.assert_array_equal(p > found, p >= found)


def test_a_precision_is_reached_with_the_largest_recall(rare):
    p, y, weight = rare
    found = best_threshold(p, y, weight, precision=0.3)
    assert precision_score(y, p > found, sample_weight=weight) >= 0.3
    lower = [t for t in np.unique(p) if t < found - 0.01]
    assert all(precision_score(y, p > t, sample_weight=weight) < 0.3 for t in lower)
    with pytest.raises(ConfigError, match=re.escape("precision=0.999 is not reached; the largest precision is ")):
        best_threshold(np.array([0.9, 0.8, 0.1]), np.array([False, True, True]), np.ones(3), precision=0.999)


def test_costs_move_the_threshold_of_a_classifier(rng):
    """False negatives that cost nine times as much: the threshold is near 1/10, whatever the classes are called."""
    X = rng.normal(size=(1500, 2))
    y = np.where(rng.uniform(size=1500) < 1.0 / (1.0 + np.exp(2.0 - 1.5 * X[:, 0])), "yes", "no")
    best = md.MLPClassifier(preset="best", hidden_layer_sizes=(8,), max_iter=10, random_state=0).fit(X, y, cv=3)
    threshold = best.choose_threshold(y, cost=(1.0, 9.0))
    assert 0.03 < threshold < 0.2
    assert best.choose_threshold(y[:500], X[:500], cost=(1.0, 9.0)) == pytest.approx(threshold, abs=0.1)
    moved = FixedThresholdClassifier(FrozenEstimator(best), threshold=threshold, pos_label="yes").fit(X, y)
    recall = [np.mean(model.predict(X)[y == "yes"] == "yes") for model in (best, moved)]
    assert recall[1] > recall[0] + 0.2


def test_what_cannot_be_chosen_is_refused(rng):
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    net = md.MLPClassifier((4,), max_iter=2, random_state=0).fit(X, y)
    for message, arguments, options in [
        ('pass X, or fit with preset="best"', (y,), {"metric": "f1"}),
        ("by one of metric=, cost= and precision=", (y, X), {}),
        ("by one of metric=, cost= and precision=", (y, X), {"metric": "f1", "precision": 0.5}),
        ("metric='f2' is not known. Known: accuracy, balanced_accuracy, f1.", (y, X), {"metric": "f2"}),
        ("needs rows of both classes", (np.zeros(60, int), X), {"metric": "f1"}),
    ]:
        with pytest.raises(ConfigError, match=re.escape(message)):
            net.choose_threshold(*arguments, **options)
    with pytest.raises(ShapeError, match="y has 59 values, and there are predictions of 60 rows"):
        net.choose_threshold(y[1:], X, metric="f1")
    with pytest.raises(ConfigError, match="needs a classifier for two classes"):
        md.MLPClassifier((4,), max_iter=2).fit(X, np.arange(60) % 3).choose_threshold(y, X, metric="f1")
