"""Which inputs a prediction comes from: exact for what is linear, complete for all, added up to a table's columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import madaline as md
from madaline.errors import ConfigError, MadalineWarning, ShapeError
from madaline.estimators.ensemble import plan

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))


def net(*layers, seed=0):
    """A net in float64, whose biases are no zeros."""
    model = md.Sequential(*layers).init(3, seed=seed, dtype="float64")
    model.params.flat[...] += np.random.default_rng(seed).normal(size=model.params.flat.shape, scale=0.3)
    return model


def classifier(y, **parameters):
    parameters = {"solver": "lbfgs", "max_iter": 15, "random_state": 0, "alpha": 1.0} | parameters
    return md.MLPClassifier(6, "tanh", **parameters).fit(X, y)


def regressor(y, **parameters):
    return md.MLPRegressor(hidden_layer_sizes=6, activation="tanh", solver="lbfgs", max_iter=15, **parameters).fit(X, y)


three = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.5])]
two = np.where(three == "low", "no", "yes")


def test_a_linear_net_is_explained_exactly():
    model = net(md.Linear(2))
    W = model.params["0.W"]
    start = rng.normal(size=3)
    for output in (0, 1):
        np.testing.assert_allclose(md.report.gradient_x_input(model, X, output), X * W[:, output], rtol=1e-13)
        found = md.report.integrated_gradients(model, X, start, 1, output)
        np.testing.assert_allclose(found, (X - start) * W[:, output], rtol=1e-12, atol=1e-15)


def test_a_logistic_unit_is_explained_by_the_known_formula():
    model = net(md.Linear(1), "sigmoid")
    w, b = model.params["0.W"][:, 0], model.params["0.b"][0]
    z = X @ w
    expected = X * w * ((expit(z + b) - expit(b)) / z)[:, None]
    np.testing.assert_allclose(md.report.integrated_gradients(model, X), expected, rtol=1e-9)


def test_the_gradient_is_that_of_centred_differences():
    clf = classifier(three)
    found = md.report.gradient_x_input(clf, X, output="mid")
    for column in range(3):
        h = np.zeros(3)
        h[column] = 1e-5
        slope = (clf.predict_proba(X + h) - clf.predict_proba(X - h))[:, 1] / 2e-5
        np.testing.assert_allclose(found[:, column], X[:, column] * slope, rtol=1e-6, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(
    activation=st.sampled_from(["tanh", "gelu", "softplus", "mish"]),
    norm=st.sampled_from([None, "batch"]),
    residual=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_what_smooth_nets_put_out_is_shared_out_completely(activation, norm, residual, seed):
    model = md.mlp(5, 5, 2, activation=activation, norm=norm, residual=residual).init(3, seed=seed, dtype="float64")
    start = np.random.default_rng(seed).normal(size=(1, 3))
    parts = md.report.integrated_gradients(model, X, start, 200, output=1)
    np.testing.assert_allclose(parts.sum(axis=1), (model(X) - model(start))[:, 1], rtol=1e-6, atol=1e-6)


def test_rectifiers_are_shared_out_the_better_the_more_steps():
    model = net(md.Linear(20), "relu", md.Linear(20), "relu", md.Linear(1))
    change = (model(X) - model(np.zeros((1, 3))))[:, 0]
    gaps = [np.abs(md.report.integrated_gradients(model, X, steps=n).sum(axis=1) - change).max() for n in (32, 512)]
    assert gaps[1] < 0.2 * gaps[0]
    assert gaps[1] < 0.01 * np.abs(change).max()


def test_the_class_predicted_for_each_row_is_explained_unless_told():
    clf = classifier(three)
    p = clf.predict_proba(X)
    parts = md.report.integrated_gradients(clf, X, X.mean(axis=0))
    change = p.max(axis=1) - clf.predict_proba(X.mean(axis=0)[None])[0, p.argmax(axis=1)]
    np.testing.assert_allclose(parts.sum(axis=1), change, atol=1e-6)
    for given_output in (clf.predict(X), list(clf.predict(X))):
        np.testing.assert_array_equal(
            md.report.integrated_gradients(clf, X, X.mean(axis=0), output=given_output), parts
        )


@pytest.mark.parametrize("raw", [False, True])
def test_what_speaks_for_one_of_two_classes_speaks_against_the_other(raw):
    clf = classifier(two)
    for_it, against = (md.report.integrated_gradients(clf, X, output=name, raw=raw) for name in ("yes", "no"))
    np.testing.assert_allclose(for_it, -against, atol=1e-15)
    value = clf._predict_rows(X, raw=raw)[:, 0] - clf._predict_rows(0 * X, raw=raw)[:, 0]
    np.testing.assert_allclose(for_it.sum(axis=1), value, atol=1e-6)


def test_margins_labels_and_several_targets():
    margins = classifier(two, loss="hinge")
    change = margins.decision_function(X) - margins.decision_function(0 * X)
    np.testing.assert_allclose(md.report.integrated_gradients(margins, X, output="yes").sum(axis=1), change, atol=1e-6)

    labels = classifier((X[:, :2] > 0).astype(int))
    change = (labels.predict_proba(X) - labels.predict_proba(0 * X))[:, 1]
    np.testing.assert_allclose(md.report.integrated_gradients(labels, X, output=1).sum(axis=1), change, atol=1e-5)
    with pytest.raises(ConfigError, match=r"output must say which of the 2 outputs"):
        md.report.integrated_gradients(labels, X)

    several = classifier(np.stack([three, two], axis=1))
    change = (several.predict_proba(X)[1] - several.predict_proba(0 * X)[1])[:, 0]
    np.testing.assert_allclose(md.report.integrated_gradients(several, X, output=3).sum(axis=1), change, atol=1e-5)


def test_regressors_are_explained_in_the_units_of_the_target():
    y = np.stack([100 * X[:, 0], np.exp(X[:, 1])], axis=1)
    both = regressor(y)
    change = both.predict(X) - both.predict(0 * X)
    for output in (0, 1):
        parts = md.report.integrated_gradients(both, X, steps=500, output=output)
        np.testing.assert_allclose(parts.sum(axis=1), change[:, output], rtol=1e-4, atol=1e-4)
    rates = regressor(y[:, 1], loss="poisson")
    parts = md.report.integrated_gradients(rates, X, steps=500)
    np.testing.assert_allclose(parts.sum(axis=1), rates.predict(X) - rates.predict(0 * X), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(md.report.integrated_gradients(rates, csr_matrix(X), steps=500), parts)


def test_predictions_that_a_preset_bounds_are_explained_up_to_their_bound():
    rows = {"x": np.linspace(0.0, 1.0, 200)}
    reg = md.MLPRegressor(preset="auto", data="auto", max_iter=30, random_state=0).fit(rows, 100.0 * np.sqrt(rows["x"]))
    reg._bounds = (reg._bounds[0], reg._bounds[0] + 60.0)  # so that some rows are at the bound
    first = {"x": [0.0]}
    parts = md.report.integrated_gradients(reg, rows, first, steps=500)
    change = reg.predict(rows) - reg.predict(first)
    assert (reg.predict(rows) == reg._bounds[1]).any()
    np.testing.assert_allclose(parts.sum(axis=1), change, atol=0.5)


def test_estimators_of_densities():
    y = 50.0 + 9.0 * np.stack([X[:, 0], X[:, 1] ** 2], axis=1)
    shared = {"solver": "lbfgs", "max_iter": 10, "random_state": 0}
    gaussian = md.GaussianMLPRegressor(6, "tanh", **shared).fit(X, y)
    change = (gaussian.predict(X) - gaussian.predict(0 * X))[:, 1]
    np.testing.assert_allclose(md.report.integrated_gradients(gaussian, X, output=1).sum(axis=1), change, atol=1e-4)

    quantiles = md.QuantileMLPRegressor(6, "tanh", quantiles=(0.1, 0.9), **shared).fit(X, y)
    change = (quantiles.predict_quantiles(X) - quantiles.predict_quantiles(0 * X))[:, 1, 0]
    np.testing.assert_allclose(md.report.integrated_gradients(quantiles, X, output=2).sum(axis=1), change, atol=1e-4)

    for target, output in ((y[:, 0], None), (y, 1)):
        mixture = md.MixtureDensityRegressor(6, "tanh", components=3, **shared).fit(X, target)
        change = np.c_[mixture.predict(X) - mixture.predict(0 * X)][:, output or 0]
        np.testing.assert_allclose(
            md.report.integrated_gradients(mixture, X, output=output).sum(axis=1), change, atol=1e-4
        )
        assert md.report.gradient_x_input(mixture, X, output=output).shape == X.shape
    assert md.report.integrated_gradients(mixture, X, output=0, raw=True).shape == X.shape


CITIES = [f"city {place}" for place in range(12)]
TABLE = {
    "size": rng.uniform(20.0, 200.0, 120),
    "city": rng.choice(CITIES, 120),
    "nothing": np.ones(120),
    "kind": rng.choice(["flat", "house", "hut"], 120),
    "sold": np.datetime64("2020-01-01") + rng.integers(0, 700, 120),
    "garden": np.where(rng.random(120) < 0.2, np.nan, rng.uniform(0.0, 9.0, 120)),
}
PRICE = TABLE["size"] * np.where(TABLE["city"] == "city 3", 2.0, 1.0) + 50.0 * (TABLE["kind"] == "house")


@pytest.mark.parametrize("data", [{}, {"waves": 2}, {"bins": 4, "waves": 2}], ids=["plain", "waves", "bins"])
@pytest.mark.parametrize("columns", [list(TABLE), ["size", "kind"]], ids=["embedded", "numbers alone"])
def test_what_columns_became_inside_is_added_up_to_the_columns(columns, data):
    table = {name: TABLE[name] for name in columns}
    reg = md.MLPRegressor("squared_error", 6, "tanh", data=data, solver="lbfgs", max_iter=15, random_state=0)
    reg.fit(table, PRICE)
    first = {name: values[:1] for name, values in table.items()}
    parts = md.report.integrated_gradients(reg, table, first, steps=500 if "bins" in data else 64)
    assert parts.shape == (120, len(columns))
    gap = 0.5 if "bins" in data else 0.05  # of about 200: bins have kinks
    np.testing.assert_allclose(parts.sum(axis=1), reg.predict(table) - reg.predict(first), rtol=1e-3, atol=gap)
    for place, name in enumerate(columns):
        same = table[name] == first[name]  # what does not change adds nothing
        assert np.all(parts[same, place] == 0.0)
        assert np.abs(parts[:, place]).max() > 0.01 or name == "nothing"
    assert md.report.gradient_x_input(reg, table).shape == (120, len(columns))


def test_scikit_learns_permutation_importance_and_dependence_find_the_columns_that_attributions_find():
    table = pd.DataFrame(TABLE)
    reg = md.MLPRegressor("squared_error", 8, data="auto", solver="lbfgs", max_iter=30, random_state=0)
    reg.fit(table, PRICE)
    shuffled = permutation_importance(reg, table, PRICE, n_repeats=2, random_state=0).importances_mean
    parts = np.abs(md.report.integrated_gradients(reg, table)).mean(axis=0)
    assert shuffled.argmax() == parts.argmax() == 0
    assert shuffled[2] == parts[2] == 0.0
    kinds = partial_dependence(reg, table, ["kind"], categorical_features=["kind"])
    (found,) = kinds["average"]
    assert kinds["grid_values"][0][found.argmax()] == "house"
    sizes = partial_dependence(reg, table, ["size"], grid_resolution=5)["average"][0]
    assert (np.diff(sizes) > 0).all()


def test_a_table_of_categories_alone_is_explained_from_no_category_on():
    clf = md.MLPClassifier(6, "tanh", data="auto", solver="lbfgs", max_iter=15, random_state=0)
    clf.fit({"city": TABLE["city"]}, TABLE["city"] == "city 3")
    parts = md.report.integrated_gradients(clf, {"city": CITIES}, output=True, raw=True)
    assert parts[:, 0].argmax() == 3


def test_a_net_with_several_inputs_gets_as_many_attributions():
    net = md.Sequential(md.Parallel(a=md.Linear(2), b=md.Linear(1)), md.Concat(), "tanh", md.Linear(1))
    inputs = {"a": X[:, :2], "b": X[:, 2:]}
    model = net.init(inputs, dtype="float64")
    parts = md.report.integrated_gradients(model, inputs)
    total = parts["a"].sum(axis=1) + parts["b"].sum(axis=1)
    np.testing.assert_allclose(total, (model(inputs) - model({"a": X[:, :2] * 0, "b": X[:, 2:] * 0}))[:, 0], atol=1e-9)


def test_images_keep_their_shape():
    images = rng.normal(size=(4, 5, 5))
    model = md.Sequential(md.nn.Flatten(), md.Linear(3), "tanh", md.Linear(1)).init(images)
    parts = md.report.integrated_gradients(model, images, baseline=0.5)
    assert parts.shape == images.shape


def test_steps_that_are_too_few_are_said_to_be():
    model = net(md.Linear(1), "sigmoid")
    model.params["0.W"] *= 1000.0
    with pytest.warns(MadalineWarning, match=r"steps=2 are too few: the attributions of row \d+ .* Pass steps=8"):
        md.report.integrated_gradients(model, X, steps=2)


def test_what_cannot_be_explained_is_said():
    clf = classifier(three)
    model = net(md.Linear(2))
    with pytest.raises(ConfigError, match=r"output='best' is not known. Known: 'low', 'mid', 'top'"):
        md.report.gradient_x_input(clf, X, output="best")
    with pytest.raises(ConfigError, match=r"output=2 is not known. Known: 0, 1"):
        md.report.gradient_x_input(model, X, output=2)
    with pytest.raises(ConfigError, match=r"which of the 2 outputs .* model\(X\).argmax"):
        md.report.gradient_x_input(model, X)
    with pytest.raises(ShapeError, match=r"output has shape \(2,\)"):
        md.report.gradient_x_input(model, X, output=[0, 1])
    with pytest.raises(ConfigError, match=r"(?s)Pipeline is neither .* its last step"):
        md.report.gradient_x_input(make_pipeline(StandardScaler(), clf), X)
    with pytest.raises(NotFittedError):
        md.report.gradient_x_input(md.MLPClassifier(), X)
    with pytest.raises(ConfigError, match="steps=0 must be"):
        md.report.integrated_gradients(clf, X, steps=0)
    with pytest.raises(ShapeError, match="baseline has 2 rows and X has 40"):
        md.report.integrated_gradients(clf, X, X[:2])
    words = md.Sequential(md.Embedding(5, 2), md.Linear(1)).init(np.array([[1, 2]]))
    with pytest.raises(ConfigError, match="categories, which have no derivative"):
        md.report.gradient_x_input(words, np.array([[1, 2]]))
    branches = md.Parallel(a=md.Linear(1), b=md.Linear(1)).init(3)
    with pytest.raises(ConfigError, match="one output"):
        md.report.gradient_x_input(branches, X)


def test_an_ensemble_with_embedded_categories_is_explained(monkeypatch):
    """Every member has its own vectors of a category; a kernel machine does not use it."""
    monkeypatch.setattr(plan, "KERNEL_FROM", 100)
    table = pd.DataFrame(rng.uniform(-1.0, 1.0, (300, 2)), columns=["width", "height"])
    table["city"] = rng.choice([f"town {k}" for k in range(20)], 300)
    y = np.sin(9.0 * table["width"]) * np.cos(9.0 * table["height"]) + table["city"].str.len().eq(6)
    estimator = md.MLPRegressor(preset="best", hidden_layer_sizes=(16,), max_iter=30, random_state=0).fit(table, y)
    kinds = {member["kind"] for member in estimator.members_ if member["weight"] > 0.0}
    assert "kernel" in kinds
    assert len(kinds) > 1
    parts = md.report.integrated_gradients(estimator, table, steps=256)
    assert parts.shape == (300, 3)
    bases = estimator.predict(table) - parts.sum(axis=1)
    np.testing.assert_allclose(bases, bases.mean(), atol=0.02)
    assert np.abs(parts[:, 2]).max() > 0.01
