"""Rows that are held back to tell when to stop show nothing to what is learned from the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

import madaline as md
from madaline.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N = 200
TABLES = [
    md.MLPRegressor(data="auto", early_stopping=True, max_iter=5, random_state=0),
    md.MLPRegressor(data="auto", validation=0.1, max_iter=5, random_state=0),
    md.MLPRegressor(preset="auto", validation_fraction=0.2, max_iter=5, random_state=0),
    md.MLPClassifier(data="auto", early_stopping=True, max_iter=5, random_state=0),
    md.MLPClassifier(preset="auto", validation_fraction=0.2, max_iter=5, random_state=0),
]
DENSITIES = [
    kind(early_stopping=True, max_iter=5, random_state=0)
    for kind in (md.GaussianMLPRegressor, md.MixtureDensityRegressor, md.QuantileMLPRegressor)
]


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=N), "city": rng.choice(["Rome", "Oslo", "Bonn"], N)})
    return X, X["size"].to_numpy() + rng.normal(size=N)


def targets(estimator, y):
    return y if isinstance(estimator, md.MLPRegressor) else (y > 0.0)


def held_rows(estimator, y):
    """Those that scikit-learn holds back, stratified for two classes."""
    fraction = estimator.validation or estimator.validation_fraction
    strata = None if isinstance(estimator, md.MLPRegressor) else y
    rng = np.random.RandomState(estimator.random_state)
    return train_test_split(np.arange(N), test_size=fraction, random_state=rng, stratify=strata)[1]


@pytest.mark.parametrize("estimator", TABLES, ids=range(len(TABLES)))
def test_the_plan_of_a_table_is_made_from_training_rows_alone(estimator):
    X, y = table()
    held = held_rows(estimator, targets(estimator, y))
    plain = clone(estimator).fit(X, targets(estimator, y))
    strange = X.copy()
    strange.loc[held, "size"] = 1e6
    strange.loc[held[:2], "size"] = np.nan
    strange.loc[held, "city"] = "Nowhere"
    other = clone(estimator).fit(strange, targets(estimator, y))
    assert other.table_plan_ == plain.table_plan_
    assert other.table_plan_.features()[1:] == ("city=Bonn", "city=Oslo", "city=Rome")
    assert other.loss_curve_ == plain.loss_curve_  # the rows the plan is made from are those that train
    assert not np.array_equal(other.history_["val_loss"], plain.history_["val_loss"])


@pytest.mark.parametrize("estimator", TABLES, ids=range(len(TABLES)))
def test_a_plan_is_made_from_all_other_rows(estimator):
    """So that the test above could fail."""
    X, y = table()
    train = np.setdiff1d(np.arange(N), held_rows(estimator, targets(estimator, y)))
    X.loc[train[:3], "city"] = "Nowhere"
    fitted = clone(estimator).fit(X, targets(estimator, y))
    assert "city=Nowhere" in fitted.table_plan_.features()


@pytest.mark.parametrize("estimator", TABLES[:3], ids=range(3))
def test_the_target_is_scaled_by_training_rows_alone(estimator):
    X, y = table()
    held = held_rows(estimator, y)
    plain = clone(estimator).fit(X, y)
    strange = y.copy()
    strange[held] = 1e6
    other = clone(estimator).fit(X, strange)
    assert other.loss_curve_ == plain.loss_curve_


@pytest.mark.parametrize("estimator", DENSITIES, ids=lambda one: type(one).__name__)
def test_densities_scale_the_target_by_training_rows_alone(estimator):
    X, y = table()
    X = X[["size"]].to_numpy()
    plain = clone(estimator).fit(X, y)
    same = [
        clone(estimator).fit(X, y + 1e6 * (np.arange(N) == row)).loss_curve_ == plain.loss_curve_ for row in range(60)
    ]
    assert 0 < sum(same) < 20  # a tenth is held back


def test_an_initializer_that_looks_at_rows_sees_training_rows_alone():
    X, y = table()
    X = X[["size"]].to_numpy(copy=True)
    estimator = md.MLPRegressor(init="lsuv", early_stopping=True, max_iter=2, random_state=0)
    held = held_rows(estimator, y)
    plain = clone(estimator).fit(X, y)
    X[held] = 1e3
    assert clone(estimator).fit(X, y).loss_curve_ == plain.loss_curve_


@pytest.mark.parametrize("part", ["training", "validation"])
def test_an_error_names_the_row_as_it_was_given(part):
    X, y = table()
    held = held_rows(TABLES[0], y)
    row = int(held[3]) if part == "validation" else int(np.setdiff1d(np.arange(N), held)[-1])
    X.loc[row, "size"] = np.inf
    with pytest.raises(InputError, match=rf"Column 'size': row {row} holds inf"):
        clone(TABLES[0]).fit(X, y)


@pytest.mark.parametrize("part", ["training", "validation"])
def test_text_that_is_no_number_in_some_row_is_none_in_any(part):
    X, y = table()
    held = held_rows(TABLES[0], y)
    X["size"] = [f"{value:.1f}" for value in X["size"]]
    assert clone(TABLES[0]).fit(X, y).table_plan_.columns[0].role == "number"
    X.loc[int(held[3]) if part == "validation" else int(np.setdiff1d(np.arange(N), held)[3]), "size"] = "much"
    assert clone(TABLES[0]).fit(X, y).table_plan_.columns[0].role == "category"


def test_weights_go_with_their_rows():
    """Rows without weight teach nothing, and those held back without weight say nothing."""
    X, y = table()
    held = held_rows(TABLES[0], y)
    weight = np.ones(N)
    weight[held[0]] = 0.0
    plain = clone(TABLES[0]).fit(X, y, weight)
    X.loc[held[0], "size"] = 1e6
    other = clone(TABLES[0]).fit(X, y, weight)
    assert other.validation_scores_ == plain.validation_scores_
