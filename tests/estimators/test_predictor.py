"""Predictions of single rows and of many: one answer by every way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris

import madaline as md

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def clf():
    return md.MLPClassifier(16, max_iter=30, random_state=0).fit(X, y)


def by_hand(clf, rows):
    h = np.maximum(rows @ clf.coefs_[0] + clf.intercepts_[0], 0.0)
    z = h @ clf.coefs_[1] + clf.intercepts_[1]
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n", [1, 2, 64, 65, 150])
def test_any_number_of_rows_is_predicted_as_by_hand(clf, n):
    np.testing.assert_allclose(clf.predict_proba(X[:n]), by_hand(clf, X[:n]), rtol=1e-10)


@pytest.mark.parametrize(
    "given",
    [lambda rows: rows.tolist(), lambda rows: rows.astype(np.float32), csr_array, np.asfortranarray, lambda r: r[::1]],
    ids=["list", "float32", "sparse", "fortran", "view"],
)
def test_rows_of_every_form_have_the_same_predictions(clf, given):
    np.testing.assert_allclose(clf.predict_proba(given(X)), clf.predict_proba(X), rtol=1e-5, atol=1e-7)


def test_the_probabilities_of_two_classes_add_up(clf):
    two = md.MLPClassifier(16, max_iter=30, random_state=0).fit(X[:100], y[:100])
    p = two.predict_proba(X[:100])
    assert p.shape == (100, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(two.predict(X[:100]), p.argmax(axis=1))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(two.predict_log_proba(X[:100]), np.log(p))


def test_what_is_written_into_the_weights_is_predicted_with():
    clf = md.MLPClassifier(16, max_iter=2, random_state=0).fit(X, y)
    clf.predict_proba(X[:1])
    clf.coefs_[1][...] = 0.0
    clf.intercepts_[1] = [0.0, 0.0, 7.0]
    assert (clf.predict(X) == 2).all()


def test_a_refit_is_predicted_with():
    clf = md.MLPClassifier(16, max_iter=2, random_state=0).fit(X, y)
    clf.predict(X)
    rows, digits = load_digits(return_X_y=True)
    assert clf.fit(rows, digits).predict_proba(rows).shape == (1797, 10)


def test_the_sum_of_huge_numbers_is_no_infinity(clf):
    """Finite numbers whose sum is not: they are looked at one by one."""
    rows = np.full((2, 4), 8e307)
    assert clf.predict(rows).shape == (2,)


def test_an_interrupted_fit_leaves_a_net_that_predicts():
    def press(trainer, row):
        if row["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="Training interrupted by user"):
        clf = md.MLPClassifier(16, random_state=0, callbacks=press).fit(X, y)
    assert clf.n_iter_ == 3
    assert clf.predict(X).shape == (150,)
