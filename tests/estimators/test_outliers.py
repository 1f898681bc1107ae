"""Values far from all others: they are found, named, and do not become all that a net learns."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import DataWarning
from madaline.estimators.outliers import is_outlier, outlier_hint, worst_outlier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_value_far_from_all_others_is_found(rng, sign):
    x = rng.gamma(1.0, 8.0, 600)
    x[3] = sign * 9831.3
    assert np.flatnonzero(is_outlier(x)).tolist() == [3]
    worst = worst_outlier(x)
    assert (worst.place, worst.value) == (3, sign * 9831.3)
    assert worst.times > 50.0


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(0).normal(size=2000),
        np.random.default_rng(0).standard_t(3, 2000),
        np.random.default_rng(0).lognormal(0.0, 1.5, 2000),
        np.r_[np.zeros(990), np.ones(10)],
        np.r_[np.zeros(999), 1.0],
        np.r_[np.zeros(1960), np.random.default_rng(0).lognormal(9.0, 2.0, 40)],
        np.r_[np.random.default_rng(0).normal(size=900), np.full(100, 1e6)],
        np.ones(20),
        np.array([1.0, 2.0, 1e9]),
    ],
    ids=["normal", "heavy tails", "skewed", "rarely one", "once one", "mostly zero", "two groups", "constant", "few"],
)
def test_long_tails_are_no_outliers(x):
    assert not is_outlier(x).any()
    assert worst_outlier(x) is None


def test_some_values_far_from_all_others_are_found(rng):
    x = rng.normal(size=1000)
    x[:4] = [1e4, -2e4, 3e4, 4e4]
    assert np.flatnonzero(is_outlier(x)).tolist() == [0, 1, 2, 3]


def test_the_hint_names_the_worst_column(rng):
    table = {"rain": rng.gamma(1.0, 8.0, 600), "wind": rng.normal(size=600), "city": ["Rome"] * 600}
    assert outlier_hint(table) == ""
    table["rain"][3], table["wind"][5] = 9831.3, -1e9
    assert outlier_hint(table).startswith(" Column 'wind' has the value -1000000000, ")


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_a_target_that_is_an_outlier_is_learned_as_the_next_value_and_said(rng, loss):
    X = rng.normal(size=(400, 2))
    y = rng.poisson(np.exp(1.0 + 0.5 * X[:, 0])).astype(float)
    wrong = y.copy()
    wrong[7] = 1e7
    options = {
        "preset": "auto",
        "hidden_layer_sizes": (16,),
        "max_iter": 20,
        "random_state": 0,
        "early_stopping": False,
    }
    with pytest.warns(
        DataWarning, match=r"The target has the value 1e\+07, \d+ times its usual range; it is learned as"
    ):
        model = md.MLPRegressor(loss, **options).fit(X, wrong)
    clean = md.MLPRegressor(loss, **options).fit(X, np.where(np.arange(400) == 7, 1.1 * y.max(), y))
    np.testing.assert_allclose(model.predict(X), clean.predict(X), rtol=0.1, atol=0.5)
    assert model.predict(X).max() <= 1.2 * y.max()


def test_each_of_several_targets_has_its_own_outliers(rng):
    X = rng.normal(size=(400, 2))
    y = np.column_stack([X[:, 0], 1000.0 * X[:, 1]])
    y[7, 0] = 9831.3
    options = {"preset": "auto", "hidden_layer_sizes": (16,), "max_iter": 30, "random_state": 0}
    with pytest.warns(DataWarning, match=r"The target has the value 9831.3"):
        model = md.MLPRegressor(**options).fit(X, y)
    assert model.predict(X)[:, 0].max() < 10.0
    assert model.predict(X)[:, 1].max() > 500.0


def test_without_a_preset_targets_are_as_they_are(rng):
    """As in scikit-learn."""
    X = rng.normal(size=(100, 2))
    y = X[:, 0].copy()
    y[3] = 1e4
    model = md.MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", max_iter=200, random_state=0).fit(X, y)
    assert model.predict(X[3:4])[0] > 1e3


def test_a_row_far_outside_does_not_decide_when_to_stop(rng):
    """Its loss is larger than that of all others together, and falls when theirs do not."""
    X = rng.normal(size=(400, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=400)
    held, truth = X[300:].copy(), y[300:]
    options = {"preset": "auto", "hidden_layer_sizes": (16,), "max_iter": 30, "random_state": 0}
    plain = md.MLPRegressor(**options).fit(
        X[:300], y[:300], validation=(np.delete(held, 3, axis=0), np.delete(truth, 3))
    )
    held[3, 1] = 1e5
    with pytest.warns(DataWarning, match=r"1 of 100 rows of the validation set are left out, .* in 'x1'"):
        model = md.MLPRegressor(**options).fit(X[:300], y[:300], validation=(held, truth))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.history_.best_epoch == plain.history_.best_epoch


def test_rows_somewhat_outside_stay_in_the_validation_set(rng):
    X = rng.normal(size=(400, 2))
    held = np.column_stack([np.linspace(-9.0, 9.0, 50), np.zeros(50)])
    options = {"preset": "auto", "hidden_layer_sizes": (4,), "max_iter": 1, "random_state": 0}
    model = md.MLPClassifier(**options).fit(X, X[:, 0] > 0, validation=(held, held[:, 0] > 0))
    assert np.isfinite(model.history_["val_loss"]).all()
