"""Precision, recall and F1 of each class, compared with scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from madaline.report.class_scores import class_scores


@pytest.mark.parametrize("kind", ["classes", "labels"])
def test_scores_are_those_of_scikit_learn(kind):
    rng = np.random.default_rng(0)
    prediction = rng.random((200, 4))
    if kind == "classes":
        truth = rng.integers(0, 4, 200)
        guess = prediction.argmax(axis=1)
    else:
        truth = rng.integers(0, 2, (200, 4))
        guess = prediction > 0.5
    *each, macro = class_scores(truth, prediction, list("abcd"))
    found = [(one.precision, one.recall, one.f1, one.n_rows) for one in each]
    np.testing.assert_allclose(np.transpose(found), precision_recall_fscore_support(truth, guess))
    mean = precision_recall_fscore_support(truth, guess, average="macro")[:3]
    np.testing.assert_allclose((macro.precision, macro.recall, macro.f1), mean)


def test_what_is_not_defined_is_nan_and_a_class_that_never_occurs_does_not_count():
    a, b, c, macro = class_scores(np.array([0, 0]), np.array([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0]]), list("abc"))
    assert (a.precision, a.recall) == (1.0, 0.5)
    assert b.precision == 0.0
    assert np.isnan(b.recall)
    assert np.isnan([c.precision, c.recall, c.f1]).all()
    assert macro.f1 == pytest.approx((2 / 3 + 0) / 2)
