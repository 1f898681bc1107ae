"""Explanations of single predictions: names, values, contributions that add up."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import madaline as md
from madaline.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
rng = np.random.default_rng(0)
N = 120
TABLE = {
    "size": rng.uniform(20.0, 200.0, N),
    "city": rng.choice([f"city {k}" for k in range(12)], N),
    "rooms": rng.integers(1, 6, N),
    "nothing": np.ones(N),
    "new": rng.random(N) < 0.5,
}
PRICE = TABLE["size"] * np.where(TABLE["city"] == "city 3", 2.0, 1.0) + 10.0 * TABLE["rooms"]
CLASSES = np.array(["low", "mid", "top"])[np.digitize(PRICE, [100.0, 180.0])]
SHARED = {"solver": "lbfgs", "max_iter": 20, "random_state": 0, "alpha": 0.1}


@pytest.fixture(scope="module")
def regressor():
    return md.MLPRegressor("squared_error", 8, "tanh", data="auto", **SHARED).fit(pl.DataFrame(TABLE), PRICE)


@pytest.fixture(scope="module")
def classifier():
    return md.MLPClassifier(8, "tanh", data="auto", **SHARED).fit(pl.DataFrame(TABLE), CLASSES)


def check_sums(found, tolerance=0.002):
    change = found.prediction - found.base
    gap = np.abs(found.contributions.sum(axis=1) - change)
    assert gap.max() <= tolerance * np.abs(change).max()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", "dict"])
def test_contributions_of_a_table_add_up_to_what_predict_returns(regressor, make):
    found = md.explain(regressor, make(TABLE))
    assert found.columns == tuple(TABLE)
    assert found.quantity == "value"
    np.testing.assert_allclose(found.prediction, regressor.predict(pl.DataFrame(TABLE)), rtol=1e-5)
    np.testing.assert_allclose(found.predicted, found.prediction, rtol=1e-5)
    assert found.outputs == ["y"] * N
    check_sums(found)
    assert not found.contributions[:, list(TABLE).index("nothing")].any()
    assert found.values["city"][:3] == TABLE["city"][:3].tolist()
    assert found.values["rooms"][:3] == TABLE["rooms"][:3].tolist()
    assert found.values["new"][:3] == TABLE["new"][:3].tolist()


def test_the_predicted_class_of_each_row_is_explained_by_its_probability(classifier):
    table = pl.DataFrame(TABLE)
    found = md.explain(classifier, table)
    assert found.outputs == found.predicted == classifier.predict(table).tolist()
    np.testing.assert_allclose(found.prediction, classifier.predict_proba(table).max(axis=1), rtol=1e-5)
    check_sums(found)
    one = md.explain(classifier, table, output="top")
    np.testing.assert_allclose(one.prediction, classifier.predict_proba(table)[:, 2], atol=1e-6)
    assert set(one.outputs) == {"top"}
    check_sums(one)
    assert md.explain(classifier, table[:3], raw=True).quantity == "raw output"


def test_the_largest_contributions_come_first_and_the_others_are_added_up(regressor):
    found = md.explain(regressor, pl.DataFrame(TABLE)[:4])
    rows = found.largest(1, 2)
    sizes = np.abs(found.contributions[1])
    assert [abs(each.contribution) for each in rows[:2]] == pytest.approx(sorted(sizes, reverse=True)[:2])
    assert rows[0].column == found.columns[sizes.argmax()]
    assert rows[2].column == "other columns (3)"
    assert sum(each.contribution for each in rows) == pytest.approx(found.contributions[1].sum())
    assert len(found.largest(1)) == 5


def test_rectifiers_add_up_after_as_many_steps_as_they_need():
    X = rng.normal(size=(60, 4))
    reg = md.MLPRegressor("squared_error", (64, 64), "relu", max_iter=30, random_state=0).fit(X, 50.0 * np.abs(X[:, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning that steps are too few
        found = md.explain(reg, X)
    change = found.prediction - found.base
    allowed = 0.002 * np.maximum(np.abs(change), 0.1 * np.abs(change).max())
    few = md.report.integrated_gradients(reg, X, steps=64).sum(axis=1)
    assert (np.abs(few - change) > allowed).any(), "some rows need more steps"
    assert (np.abs(found.contributions.sum(axis=1) - change) <= allowed).all()


@pytest.mark.parametrize("make", [np.asarray, csr_matrix, pd.DataFrame], ids=["array", "sparse", "frame"])
def test_numbers_without_names_are_named_by_their_place(make):
    X = rng.normal(size=(40, 3))
    given = pd.DataFrame(X, columns=["a", "b", "c"]) if make is pd.DataFrame else make(X)
    clf = md.MLPClassifier(6, "tanh", **SHARED).fit(given, X[:, 0] > 0)
    found = md.explain(clf, given[:5])
    assert found.columns == (("a", "b", "c") if make is pd.DataFrame else ("x0", "x1", "x2"))
    np.testing.assert_allclose([found.values[name] for name in found.columns], X[:5].T)
    assert found.outputs == (X[:5, 0] > 0).tolist()
    check_sums(found)


def test_labels_and_several_targets_are_chosen_by_name():
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    labels = pd.DataFrame({"old": X["a"] > 0, "red": X["b"] > 0}).astype(int)
    clf = md.MLPClassifier(6, "tanh", **SHARED).fit(X, labels)
    found = md.explain(clf, X, output="red")
    np.testing.assert_allclose(found.prediction, clf.predict_proba(X)[:, 1], atol=1e-6)
    assert found.outputs == ["red"] * 60
    given = clf.predict(X)
    assert found.predicted[:9] == [
        ", ".join(name for name, one in zip(labels, row, strict=True) if one) or "none" for row in given[:9]
    ]
    np.testing.assert_array_equal(md.explain(clf, X, output=1).contributions, found.contributions)
    with pytest.raises(ConfigError, match="output must be one of 'old', 'red'"):
        md.explain(clf, X)
    reg = md.MLPRegressor("squared_error", 6, "tanh", **SHARED).fit(X, 3.0 * labels)
    both = md.explain(reg, X, output="red")
    np.testing.assert_allclose(both.prediction, reg.predict(X)[:, 1], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(both.predicted, both.prediction, rtol=1e-4, atol=1e-4)


def test_a_baseline_is_where_contributions_begin(regressor):
    table = pl.DataFrame(TABLE)
    found = md.explain(regressor, table, baseline=table[:1])
    np.testing.assert_allclose(found.base, regressor.predict(table[:1])[0], rtol=1e-5)
    check_sums(found)
    np.testing.assert_array_equal(found.contributions[0], 0.0)


def test_nets_have_raw_outputs():
    X = rng.normal(size=(5, 3))
    model = md.Sequential(md.Linear(4), "tanh", md.Linear(1)).init(3)
    found = md.explain(model, X)
    assert (found.quantity, found.outputs[0], found.columns) == ("raw output", "output 0", ("x0", "x1", "x2"))
    np.testing.assert_allclose(found.prediction, model(X)[:, 0], rtol=1e-6)


def test_explanations_are_printed_framed_and_plain(classifier):
    table = pl.DataFrame(TABLE).with_columns(city=pl.when(pl.col("rooms") == 1).then(None).otherwise("city"))
    found = md.explain(classifier, table)
    text = str(found).splitlines()
    p, base = found.prediction[0], found.base[0]
    assert text[0] == f"Row 0: predicted {found.predicted[0]}, probability {p:.3f} (base {base:.3f})"
    column, value, part, _ = found.largest(0)[0]
    assert text[1].split()[0] == column
    assert text[1].split()[-1] == f"{part:+.3f}"
    assert text[-1] == f"... {N - 5} more rows"
    without = TABLE["rooms"].tolist().index(1)
    assert [each.text for each in found.largest(without) if each.column == "city"] == ["(missing)"]
    frame = found.frame()
    assert frame.columns == ["row", "predicted", "output", "prediction", "base", *(f"contribution {n}" for n in TABLE)]
    np.testing.assert_array_equal(frame["contribution size"], found.contributions[:, 0])
    plain = found.to_plain(1)[0]
    assert plain["contributions"][0] == {"column": column, "value": value, "contribution": part}
    assert len(plain["contributions"]) == 2


def test_what_cannot_be_explained_is_said(classifier):
    table = pl.DataFrame(TABLE)
    with pytest.raises(ConfigError, match=r"output='best' is not known. Known: 'low', 'mid', 'top'"):
        md.explain(classifier, table, output="best")
    X = rng.normal(size=(40, 3))
    pipeline = make_pipeline(StandardScaler(), md.MLPClassifier(4, **SHARED)).fit(X, X[:, 0] > 0)
    with pytest.raises(ConfigError, match=r"its last step with the transformed rows: md.explain\(pipeline"):
        md.explain(pipeline, X)
    images = md.Sequential(md.nn.Flatten(), md.Linear(1)).init(np.zeros((2, 5, 5)))
    with pytest.raises(ConfigError, match=r"one number for each column. Use md.report.integrated_gradients"):
        md.explain(images, np.ones((2, 5, 5)))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_rows_of_a_frame_of_numbers_get_as_many_steps_as_they_need(make):
    X = rng.normal(size=(60, 4))
    frame = make({name: X[:, k] for k, name in enumerate("abcd")})
    reg = md.MLPRegressor("squared_error", (64, 64), "relu", max_iter=30, random_state=0)
    reg.fit(frame, 50.0 * np.abs(X[:, 0]))
    few = md.report.integrated_gradients(reg, frame, steps=64).sum(axis=1)
    found = md.explain(reg, frame)
    change = found.prediction - found.base
    allowed = 0.002 * np.maximum(np.abs(change), 0.1 * np.abs(change).max())
    assert (np.abs(few - change) > allowed).any(), "some rows need more steps"
    assert (np.abs(found.contributions.sum(axis=1) - change) <= allowed).all()


def test_quantiles_are_explained_by_the_one_that_is_predicted():
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    quantiles = {"quantiles": (0.1, 0.5, 0.9), **SHARED}
    one = md.QuantileMLPRegressor(6, "tanh", **quantiles).fit(X, X["a"].rename("price"))
    found = md.explain(one, X)
    np.testing.assert_allclose(found.prediction, one.predict(X), rtol=1e-4, atol=1e-4)
    assert found.outputs[0] == "price"
    both = pd.DataFrame({"price": X["a"], "rent": 3.0 * X["b"]})
    two = md.QuantileMLPRegressor(6, "tanh", **quantiles).fit(X, both)
    rent = md.explain(two, X, output="rent")
    np.testing.assert_allclose(rent.prediction, two.predict(X)[:, 1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(rent.predicted, rent.prediction, rtol=1e-4, atol=1e-4)
    assert rent.outputs[0] == "rent"
    upper = md.explain(two, X, output=5)
    np.testing.assert_allclose(upper.prediction, two.predict_quantiles(X)[:, 1, 2], rtol=1e-4, atol=1e-4)
    assert upper.outputs[0] == "rent, quantile 0.9"
