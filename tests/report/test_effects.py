"""What matters, where it is known what does."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from madaline.data.encode import NUMBERS, TablePlan
from madaline.report.effects import DEPENDENCE_ROWS, MAX_COLUMNS, TOP, find_effects
from madaline.report.features import input_names, matrix_features, table_features


def squared(truth, prediction):
    return float(np.mean((truth - prediction) ** 2))


def effects_of(predict, X, truth, features, **more):
    return find_effects(predict, squared, X, truth, features, error_name="MSE", n_params=10, **more)


@pytest.fixture
def matrix():
    return np.random.default_rng(0).normal(size=(400, 4))


def test_importance_is_twice_the_variance_that_a_column_brings(matrix):
    """Shuffled, w x becomes another draw of it: the squared error is that of a difference, 2 w^2 var x."""

    def predict(X):
        return X[NUMBERS] @ np.array([[3.0], [0.0], [-1.0], [0.5]])

    X = {NUMBERS: matrix}
    found = effects_of(predict, X, predict(X), matrix_features(matrix, list("abcd")))
    assert [effect.column for effect in found.columns] == ["a", "c", "d", "b"]
    expected = [18.0 * matrix[:, 0].var(), 2.0 * matrix[:, 2].var(), 0.5 * matrix[:, 3].var(), 0.0]
    np.testing.assert_allclose([effect.importance for effect in found.columns], expected, rtol=0.15, atol=1e-12)
    assert (found.error, found.n_columns, found.n_rows) == ("MSE", 4, 400)


def test_dependence_is_the_mean_over_rows(matrix):
    def predict(X):
        a, b = X[NUMBERS][:, :1], X[NUMBERS][:, 1:2]
        return np.concatenate([a**2 + b, -a], axis=1)

    X = {NUMBERS: matrix[:DEPENDENCE_ROWS]}
    found = effects_of(predict, X, predict(X), matrix_features(X[NUMBERS], list("abcd"))).columns[0]
    assert found.column == "a"
    a = found.dependence.values
    expected = np.stack([a**2 + X[NUMBERS][:, 1].mean(), -a], axis=1)
    np.testing.assert_allclose(found.dependence.prediction, expected, rtol=1e-12)


def test_dependence_is_of_all_rows_also_if_they_have_an_order(matrix):
    """The first rows of a table by time are those of one season."""
    matrix[:, 1] = np.linspace(0.0, 100.0, len(matrix))

    def predict(X):
        return 200.0 * X[NUMBERS][:, :1] + X[NUMBERS][:, 1:2]

    X = {NUMBERS: matrix}
    found = effects_of(predict, X, predict(X), matrix_features(matrix, list("abcd"))).columns[0]
    rest = found.dependence.prediction[:, 0] - 200.0 * found.dependence.values
    np.testing.assert_allclose(rest, 50.0, atol=8.0)


def test_rows_given_are_not_changed(matrix):
    X = {NUMBERS: matrix}
    before = matrix.copy()
    effects_of(lambda X: X[NUMBERS][:, :1], X, matrix[:, :1], matrix_features(matrix, list("abcd")))
    np.testing.assert_array_equal(matrix, before)


def test_of_a_wide_table_the_columns_that_go_with_the_predictions_are_tried():
    X = {NUMBERS: np.random.default_rng(0).normal(size=(300, 3 * MAX_COLUMNS))}
    features = matrix_features(X[NUMBERS], [f"x{k}" for k in range(3 * MAX_COLUMNS)])

    def predict(X):
        return X[NUMBERS][:, [500]]

    found = effects_of(predict, X, predict(X), features)
    assert len(found.columns) == MAX_COLUMNS
    assert found.n_columns == 3 * MAX_COLUMNS
    assert found.columns[0].column == "x500"
    assert sum(effect.dependence is not None for effect in found.columns) == TOP


def test_large_nets_are_tried_on_fewer_rows(matrix):
    X = {NUMBERS: matrix}
    features = matrix_features(matrix, list("abcd"))
    found = find_effects(
        lambda X: X[NUMBERS][:, :1], squared, X, matrix[:, :1], features, error_name="MSE", n_params=10**9
    )
    assert found.n_rows == 100


def test_columns_of_a_table_are_tried_whole_and_in_their_own_words():
    rng = np.random.default_rng(0)
    n = 300
    table = pl.DataFrame(
        {
            "id": [f"row {k}" for k in range(n)],
            "size": [None if k % 50 == 0 else float(k % 40) / 7 for k in range(n)],
            "city": [f"city {k % 3}" for k in range(n)],
            "code": [f"c{k}" for k in rng.integers(0, 20, n)],
            "new": rng.integers(0, 2, n).astype(bool),
            "day": np.datetime64("2024-01-01", "us") + np.arange(n) * np.timedelta64(1, "D"),
        }
    )
    plan = TablePlan.fit(table, one_hot=8)
    features = {feature.column: feature for feature in table_features(plan, table)}
    assert list(features) == ["size", "city", "code", "new", "day"]
    X = plan.encode(table)
    assert (
        sum(feature.of(X).shape[1] for feature in features.values() if feature.name == NUMBERS) == X[NUMBERS].shape[1]
    )
    assert features["code"].of(X).shape == (n,)
    assert features["city"].values.tolist() == ["city 0", "city 1", "city 2"]
    assert features["new"].values.tolist() == [False, True]
    assert features["day"].values.dtype.kind == "M"
    # A row with another value is what encoding the table with that value gives.
    for name, value in {
        "city": "city 2",
        "code": features["code"].values[3],
        "size": features["size"].values[5],
    }.items():
        feature = features[name]
        place = feature.values.tolist().index(value)
        changed = table.with_columns(pl.lit(value).alias(name))
        got, expected = feature.replaced(X, feature.arrays[place]), plan.encode(changed)
        for key in expected:
            np.testing.assert_array_equal(got[key], expected[key])


def test_input_names_are_in_the_order_of_the_first_layers_weights():
    rng = np.random.default_rng(0)
    table = {"size": rng.normal(size=200), "code": [f"c{k % 30}" for k in range(200)], "age": rng.normal(size=200)}
    plan = TablePlan.fit(table, waves=2, embedding=3)
    names = input_names(plan)
    assert names[:6] == ["size", "age", "size wave 1", "size wave 2", "age wave 1", "age wave 2"]
    assert plan.front().init(plan.encode(table))(plan.encode(table)).shape == (200, len(names))
