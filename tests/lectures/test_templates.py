"""What weights look like on images: a linear classifier has one template a class, a deep one many features."""

from __future__ import annotations

import numpy as np
import pytest

import understanding


@pytest.fixture(scope="module")
def digits():
    return understanding.digits()


def correlations(a, b):
    return np.corrcoef(np.concatenate((a, b)))[: len(a), len(a) :]


def test_the_weights_of_a_linear_classifier_are_one_average_template_a_class(digits):  # C13
    """Each looks most like the mean image of its class, seen from the mean of all."""
    X, y = digits
    W = understanding.linear_digits().fit(X, y).coefs_[0]
    means = np.stack([X[y == digit].mean(axis=0) for digit in range(10)]) - X.mean(axis=0)
    assert W.shape == (64, 10)
    alike = correlations(W.T, means)
    assert (alike.argmax(axis=1) == np.arange(10)).all()
    assert np.diagonal(alike).min() > 0.4


def test_a_deep_one_has_several_patterns_for_a_class(digits):  # C13
    """The units that speak for a digit when it is seen differ from each other, and from image to image of it."""
    X, y = digits
    clf = understanding.deep_digits().fit(X, y)
    hidden = clf.model_.activations(X)["1"]
    linear_score = understanding.linear_digits().fit(X, y).score(X, y)
    assert clf.score(X, y) > linear_score
    for digit in range(10):
        active = hidden[y == digit] > 0
        assert len(np.unique(active, axis=0)) > 10  # sets of patterns that together make the digit
        always = np.flatnonzero(active.mean(axis=0) > 0.5)
        alike = correlations(clf.coefs_[0].T[always], clf.coefs_[0].T[always]) - np.eye(len(always))
        assert len(always) > 3
        assert alike.mean() < 0.5
