"""Tables of anything, and the recipe that takes them: data="auto", preset="auto"."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

import madaline as md
from madaline.errors import ConfigError, InputError, ShapeError, TargetError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N = 240


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    size[::17] = np.nan
    return {
        "size": size,
        "city": rng.choice(["Rome", "Oslo", "Bonn"], N).tolist(),
        "street": [f"street {i}" for i in rng.integers(0, 30, N)],
        "new": (rng.random(N) > 0.5).tolist(),
        "built": (np.datetime64("2020-01-01", "D") + rng.integers(0, 700, N)).astype("datetime64[us]"),
    }


@pytest.fixture(scope="module")
def price(columns):
    city = np.array(columns["city"]) == "Oslo"
    return 1e4 * (20.0 + 3.0 * np.nan_to_num(columns["size"]) + 5.0 * city + 2.0 * np.array(columns["new"]))


def frames(columns):
    return {
        "dict": columns,
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table({name: pa.array(values) for name, values in columns.items()}),
    }


def first(frame, n):
    if isinstance(frame, dict):
        return {name: values[:n] for name, values in frame.items()}
    return frame.slice(0, n) if isinstance(frame, pa.Table) else frame[:n]


def regressor(**parameters):
    parameters = {"data": "auto", "max_iter": 40, "learning_rate_init": 0.01, "random_state": 0} | parameters
    return md.MLPRegressor(**parameters)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_any_kind_of_table_gives_the_same_net(columns, price, kind):
    frame = frames(columns)[kind]
    reg = regressor().fit(frame, price)
    assert list(reg.feature_names_in_) == list(columns)
    assert reg.n_features_in_ == 5
    assert reg.score(frame, price) > 0.95
    expected = regressor().fit(columns, price).predict(columns)
    np.testing.assert_allclose(reg.predict(first(frame, 7)), expected[:7], rtol=1e-5)


def test_new_categories_gaps_and_orders_of_columns_are_taken_as_they_come(columns, price):
    reg = regressor().fit(columns, price)
    new = {"built": [None], "new": [None], "street": ["a new one"], "city": ["Paris"], "size": [None], "other": [1]}
    assert np.isfinite(reg.predict(new)).all()
    one = {name: values[:5] for name, values in columns.items()}
    turned = {name: one[name] for name in reversed(one)}
    assert np.array_equal(reg.predict(one), reg.predict(turned))
    with pytest.raises(InputError, match=r"no column 'city', which the model was trained with\. Did you mean 'City'"):
        reg.predict({name.replace("city", "City"): values for name, values in one.items()})


def test_the_target_of_a_regression_is_learned_scaled(columns, price):
    """Neither its units nor where it starts matters to the net."""
    one, other = regressor().fit(columns, price), regressor().fit(columns, 1e3 * price - 7e8)
    np.testing.assert_allclose(other.predict(columns), 1e3 * one.predict(columns) - 7e8, rtol=1e-4, atol=1e4)
    assert one.loss_curve_[0] < 2.0
    both = regressor().fit(columns, np.stack([price, -price], axis=1))
    assert both.predict(columns).shape == (N, 2)
    assert both.score(columns, np.stack([price, -price], axis=1)) > 0.9
    counts = regressor(loss="poisson").fit(columns, np.round(price / 1e4))
    assert counts.score(columns, np.round(price / 1e4)) > 0.9
    assert counts.loss_curve_[0] < 2.0


def test_a_table_that_is_all_numbers_needs_no_dict_of_inputs():
    X = np.random.default_rng(0).normal(size=(50, 3))
    reg = regressor().fit(X, X[:, 0] + X[:, 1] ** 2)
    assert not hasattr(reg, "feature_names_in_")
    assert isinstance(reg.model_.network.inputs.shape, tuple)
    assert reg.predict(X).shape == (50,)
    assert reg.predict(X[:1].tolist()).shape == (1,)


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_a_preset_scales_the_target_beside_a_sparse_matrix_too(loss):
    """Though there is no table; otherwise a net of float32 would never reach it."""
    X = csr_matrix(np.random.default_rng(0).normal(size=(200, 3)))
    y = np.round(1e5 * (5.0 + X.toarray()[:, 0]))
    reg = md.MLPRegressor(loss, preset="auto", max_iter=100, hidden_layer_sizes=(32,), random_state=0).fit(X, y)
    assert reg.score(X, y) > 0.5
    assert reg.predict(X).dtype == np.float64
    clf = md.MLPClassifier(preset="auto", max_iter=3, hidden_layer_sizes=(8,), random_state=0).fit(X, y > 5e5)
    assert clf.predict_proba(X).dtype == np.float64


def test_a_sparse_matrix_is_numbers_already(columns):
    X = csr_matrix(np.random.default_rng(0).normal(size=(50, 3)))
    reg = regressor().fit(X, np.arange(50.0))
    assert not hasattr(reg, "table_plan_")
    assert reg.predict(X).shape == (50,)


def test_options_and_plans_can_be_given(columns, price):
    reg = regressor(data={"ignore": ["street"], "scaling": "standard"}).fit(columns, price)
    assert {role.column: role.role for role in reg.table_plan_.roles()}["street"] == "ignored"
    plan = md.data.TablePlan.fit({name: columns[name] for name in ("size", "city")})
    assert regressor(data=plan).fit(columns, price).table_plan_ is plan
    with pytest.raises(ConfigError, match="data='automatic' must be 'auto', a dict of options"):
        regressor(data="automatic").fit(columns, price)


def test_targets_of_arrow_are_taken_as_well(columns, price):
    kind = np.where(price > 2.2e5, "dear", "cheap")
    clf = md.MLPClassifier(data="auto", max_iter=5, random_state=0)
    expected = clf.fit(columns, kind).predict(columns)
    for target in (pa.array(kind), pa.chunked_array([kind]), pl.Series(kind)):
        assert np.array_equal(clf.fit(columns, target).predict(columns), expected)


def test_classes_are_told_apart_and_targets_may_be_series(columns, price):
    frame = pl.DataFrame(columns)
    dear = pl.Series(["dear" if p > np.median(price) else "cheap" for p in price])
    clf = md.MLPClassifier(data="auto", max_iter=40, learning_rate_init=0.01, random_state=0).fit(frame, dear)
    assert clf.classes_.tolist() == ["cheap", "dear"]
    assert clf.score(frame, dear) > 0.9
    validation = (frame[:50], dear[:50])
    watched = md.MLPClassifier(data="auto", max_iter=5, random_state=0, validation=validation).fit(frame, dear)
    assert len(watched.history_["val_loss"]) == 5


def test_training_goes_on_with_the_plan_of_the_first_table(columns, price):
    reg = regressor().fit(columns, price)
    plan = reg.table_plan_
    reg.partial_fit({name: values[:20] for name, values in columns.items()}, price[:20])
    assert reg.table_plan_ is plan


def test_without_data_only_numbers_are_taken(columns, price):
    with pytest.raises(
        ValueError, match=r'could not convert string to float: .*\.\nPass data="auto" to train on tables'
    ):
        md.MLPRegressor().fit(pd.DataFrame(columns), price)
    with pytest.raises(ValueError, match=r'Input X contains NaN(.|\n)*\nPass data="auto" to train on tables'):
        md.MLPRegressor().fit(np.full((4, 2), np.nan), price[:4])


def test_an_option_that_is_none_is_refused_with_those_there_are(columns, price):
    with pytest.raises(
        ConfigError, match=r"data: 'scalling' is not an option of TablePlan.fit. Options: scaling, clip, "
    ):
        regressor(data={"scalling": "minmax"}).fit(columns, price)


@pytest.mark.parametrize("name", ["GaussianMLPRegressor", "MixtureDensityRegressor", "QuantileMLPRegressor"])
def test_estimators_that_know_how_sure_they_are_take_tables_too(columns, price, name, tmp_path):
    reg = getattr(md, name)(16, data="auto", learning_rate_init=0.01, max_iter=60, random_state=0)
    reg.fit(first(pd.DataFrame(columns), 140), price[:140])
    assert reg.score(columns, price) > 0.7
    low, high = reg.calibrate(pl.DataFrame(columns)[140:], price[140:]).predict_interval(columns, coverage=0.9)
    assert np.mean((low <= price) & (price <= high)) > 0.8
    md.save(reg, tmp_path / "reg.madaline")
    assert np.array_equal(md.load(tmp_path / "reg.madaline").predict_interval(columns)[0], low)
    assert md.report.integrated_gradients(reg, columns, output=0, raw=True).shape == (N, 5)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X, y: (X, y[:-1]), ValueError, "inconsistent numbers of samples"),
        (lambda X, y: (X, np.where(np.arange(N) == 3, np.nan, y)), ValueError, "Input y contains NaN"),
        (lambda X, y: ({}, []), ValueError, "no rows|0 sample"),
    ],
    ids=["lengths", "a gap in y", "nothing"],
)
def test_a_bad_table_is_refused(columns, price, change, error, message):
    with pytest.raises(error, match=message):
        regressor().fit(*change(columns, price))


def test_no_rows_to_predict_are_refused(columns, price):
    reg = regressor(max_iter=2).fit(columns, price)
    with pytest.raises(ShapeError, match="no rows"):
        reg.predict({name: values[:0] for name, values in columns.items()})


# The preset


def test_the_preset_learns_and_says_what_it_chose(columns, price):
    reg = md.MLPRegressor(preset="auto", random_state=0).fit(columns, price)
    assert reg.score(columns, price) > 0.95
    assert {W.dtype for W in reg.coefs_} == {np.dtype("float32")}
    assert {"val_loss", "learning_rate"} <= set(reg.history_)
    assert reg.get_params()["optimizer"] is None  # what users gave is not changed


def test_what_users_give_is_kept_beside_the_preset(columns, price):
    reg = md.MLPRegressor(
        preset="auto",
        hidden_layer_sizes=(7, 5),
        solver="sgd",
        early_stopping=False,
        max_iter=3,
        alpha=0.5,
        random_state=0,
    ).fit(columns, price)
    assert [W.shape[1] for W in reg.coefs_] == [7, 5, 1]
    assert reg.n_iter_ == 3
    assert "penalty" in reg.history_
    assert "slot.v" in reg._trainer._resume_point().arrays


@pytest.mark.parametrize("given", [{"solver": "lbfgs"}, {"optimizer": md.LBFGS(max_iter=9)}], ids=str)
def test_the_preset_goes_with_a_solver_without_steps(columns, price, given):
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(32,), random_state=0, max_iter=9, **given).fit(
        columns, price
    )
    assert reg.n_iter_ == 9
    assert reg.score(columns, price) > 0.5


def test_the_preset_can_be_trained_on_after_it_has_stopped_early(columns, price):
    reg = md.MLPRegressor(preset="auto", max_iter=5, random_state=0).fit(columns, price)
    before = reg.predict(columns)
    assert not np.array_equal(reg.partial_fit(columns, price).predict(columns), before)
    assert np.isfinite(reg.best_loss_)


def test_the_preset_trains_on_at_a_constant_rate(columns, price):
    reg = md.MLPRegressor(preset="auto", random_state=0)
    reg.partial_fit(columns, price).partial_fit(columns, price)
    assert np.unique(reg.history_["learning_rate"]).size == 1


@pytest.mark.parametrize("n", [2, 5, 25])
def test_the_preset_takes_few_rows(n, rng):
    reg = md.MLPRegressor(preset="auto", random_state=0, max_iter=3).fit(rng.normal(size=(n, 2)), rng.normal(size=n))
    assert reg.predict([[0.0, 1.0]]).shape == (1,)


def test_one_row_teaches_a_preset_nothing():
    with pytest.raises(ShapeError, match=r"Found array with 1 sample\(s\) while a minimum of 2 is required"):
        md.MLPRegressor(preset="auto").fit([[1.0, 2.0]], [1.0])


def test_the_preset_keeps_averaged_weights(columns, price):
    """And those who want none, or another, say so."""
    average = md.MLPRegressor(preset="auto", max_iter=10, random_state=0).fit(columns, price)
    last = md.MLPRegressor(preset="auto", max_iter=10, average=md.optim.EMA(0.0), random_state=0).fit(columns, price)
    assert average.loss_curve_ == last.loss_curve_  # steps are the same, what is judged and kept is not
    assert not np.array_equal(average.history_["val_loss"], last.history_["val_loss"])
    assert not np.array_equal(average.predict(columns), last.predict(columns))


@pytest.mark.parametrize("how", [{"preset": "auto"}, {"data": "auto"}], ids=str)
@pytest.mark.parametrize("size", [1e308, 1e-310])
def test_a_target_that_is_too_large_or_too_small_is_refused(how, size):
    rng = np.random.default_rng(0)
    y = size * np.r_[0.5, 1.0, 1.7, rng.uniform(-1.0, 1.0, 40)]
    with pytest.raises(TargetError, match="too large or too small to be learned"):
        md.MLPRegressor(max_iter=2, **how).fit(rng.normal(size=(43, 2)), y)


def test_columns_of_enormous_and_of_tiny_numbers_are_learned():
    rng = np.random.default_rng(0)
    for size in (1e150, 1e-150):
        X = np.column_stack([size * rng.uniform(-1.0, 1.0, 60), rng.normal(size=60)])
        for kind, y in ((md.MLPRegressor, X[:, 1] + rng.normal(size=60)), (md.MLPClassifier, X[:, 1] > 0)):
            model = kind(preset="auto", max_iter=2, hidden_layer_sizes=(4,), random_state=0).fit(X, y)
            assert np.isfinite(model.predict(X)).all()


def test_a_constant_target_is_learned_as_it_is():
    X = np.random.default_rng(0).normal(size=(40, 2))
    reg = md.MLPRegressor(preset="auto", max_iter=2, random_state=0).fit(X, np.full(40, 2.5))
    assert (reg.predict(X) == 2.5).all()
    assert (reg.predict(1e6 * X) == 2.5).all()
