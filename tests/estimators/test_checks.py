"""scikit-learn's checks of what an estimator must be."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import madaline as md

WEIGHTS_ARE_NOT_ROWS = (
    "a row of weight 2 is one row, and its copy would be another: which rows are in the validation set, and in which "
    "mini-batch, differs"
)
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_NOT_ROWS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_ARE_NOT_ROWS,
}
"With a preset, and why."


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([md.MLPClassifier(max_iter=100), md.MLPRegressor(max_iter=100)])
def test_scikit_learn_takes_it_for_an_estimator(estimator, check):
    """None of them is expected to fail."""
    check(estimator)


QUICK = {"preset": "auto", "hidden_layer_sizes": (32,), "max_iter": 100}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::madaline.errors.DataWarning")  # columns that are the target, in tiny examples
@parametrize_with_checks(
    [md.MLPClassifier(**QUICK), md.MLPRegressor(**QUICK)], expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL
)
def test_scikit_learn_takes_a_preset_for_an_estimator(estimator, check):
    check(estimator)
