"""scikit-learn's checks of what an estimator must be, none of them expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import madaline as md


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([md.MLPClassifier(max_iter=100), md.MLPRegressor(max_iter=100)])
def test_scikit_learn_takes_it_for_an_estimator(estimator, check):
    check(estimator)
