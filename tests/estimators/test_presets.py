"""``preset="auto"`` chooses what users leave open, and keeps what they give, though it be scikit-learn's default."""

from __future__ import annotations

import inspect
import json
import pickle

import joblib
import numpy as np
import pytest
from sklearn import neural_network as theirs
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import madaline as md
from madaline.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
GIVEN = {
    "hidden_layer_sizes": (100,),
    "activation": "relu",
    "learning_rate_init": 0.001,
    "early_stopping": False,
    "max_iter": 200,
    "tol": 1e-4,
    "n_iter_no_change": 10,
    "solver": "adam",
    "alpha": 1e-4,
    "batch_size": 20,
    "validation_fraction": 0.1,
    "dropout": 0.0,
    "dtype": "float64",
}
CHOSEN = {
    "hidden_layer_sizes": (128, 128, 128),
    "activation": "mish",
    "learning_rate_init": 5e-3,
    "early_stopping": True,
    "max_iter": 225,
    "tol": 0.0,
    "n_iter_no_change": 112,
    "optimizer": "adamw",
    "weight_decay": 1e-2,
    "batch_size": 16,
    "validation_fraction": 0.15,
    "dropout": 0.1,
    "dtype": "float32",
}
KINDS = {"MLPClassifier": (Y > 0).astype(int), "MLPRegressor": Y}
both_kinds = pytest.mark.parametrize("kind", KINDS)


def saved(estimator, folder):
    """From a file."""
    md.save(estimator.fit(X, KINDS[type(estimator).__name__]), folder / "model.madaline")
    return md.load(folder / "model.madaline")


WAYS = {
    "as it is": lambda estimator, folder: estimator,
    "clone": lambda estimator, folder: clone(clone(estimator)),
    "pickle": lambda estimator, folder: pickle.loads(pickle.dumps(estimator)),
    "joblib": lambda estimator, folder: joblib.dump(estimator, folder / "it") and joblib.load(folder / "it"),
    "get_params": lambda estimator, folder: type(estimator)(**estimator.get_params()),
    "set_params": lambda estimator, folder: type(estimator)().set_params(**estimator.get_params()),
    "file": saved,
}
each_way = pytest.mark.parametrize("way", WAYS)


def quick(kind, **given):
    """An estimator that is fitted in no time, unless the number of epochs is what is given."""
    return getattr(md, kind)(**{"preset": "auto", "random_state": 0, "max_iter": 2} | given)


@each_way
@pytest.mark.parametrize("name", GIVEN)
def test_what_is_given_is_used(name, way, tmp_path):
    kind = "MLPClassifier" if len(name) % 2 else "MLPRegressor"
    estimator = WAYS[way](quick(kind, **{name: GIVEN[name]}), tmp_path).fit(X, KINDS[kind])
    assert estimator.resolved_params_[name] == GIVEN[name]
    for other, value in CHOSEN.items():
        replaced = {"solver": ("optimizer",), "alpha": ("weight_decay", "optimizer"), "max_iter": ("n_iter_no_change",)}
        if other not in (name, "max_iter", "n_iter_no_change", *replaced.get(name, ())):
            assert estimator.resolved_params_[other] == value, other


@each_way
@both_kinds
def test_what_is_not_given_is_chosen(kind, way, tmp_path):
    estimator = getattr(md, kind)(preset="auto", random_state=0)
    estimator = WAYS[way](estimator, tmp_path).fit(X, KINDS[kind])
    assert {name: estimator.resolved_params_[name] for name in CHOSEN} == CHOSEN


@pytest.mark.parametrize(("n_rows", "fraction"), [(4_999, 0.15), (5_000, 0.1)])
def test_few_rows_have_a_larger_part_in_the_validation_set(n_rows, fraction):
    estimator = quick("MLPRegressor", hidden_layer_sizes=(2,), max_iter=1).fit(
        np.resize(X, (n_rows, 3)), np.resize(Y, n_rows)
    )
    assert estimator.resolved_params_["validation_fraction"] == fraction


@both_kinds
def test_set_params_gives(kind):
    estimator = quick(kind).set_params(dropout=0.0, activation="relu")
    assert estimator.fit(X, KINDS[kind]).resolved_params_["dropout"] == 0.0
    assert estimator.resolved_params_["activation"] == "relu"
    assert "ReLU" in repr(estimator.model_.net) or "relu" in repr(estimator.model_.net)


def test_what_is_resolved_is_what_trains():
    reg = quick(
        "MLPRegressor", hidden_layer_sizes=(100,), activation="relu", dropout=0.0, dtype="float64", batch_size=30
    )
    reg.fit(X, Y)
    assert [W.shape[1] for W in reg.coefs_] == [100, 1]
    assert reg.coefs_[0].dtype == np.float64
    assert "dropout" not in repr(reg.model_.net).lower()
    assert reg._trainer.recipe.optimizer == md.AdamW(5e-3, weight_decay=1e-2)
    chosen = quick("MLPRegressor").fit(X, Y)
    assert [W.shape[1] for W in chosen.coefs_] == [128, 128, 128, 1]
    assert chosen.coefs_[0].dtype == np.float32
    assert "dropout" in repr(chosen.model_.net).lower()


def test_a_penalty_takes_the_place_of_weight_decay():
    """One of them, and never both."""
    for given in ({"alpha": 1e-4}, {"regularizer": md.optim.L2(1e-3)}):
        optimizer = quick("MLPRegressor", **given).fit(X, Y)._trainer.recipe.optimizer
        assert optimizer.weight_decay == 0.0, given
    assert quick("MLPRegressor", weight_decay=0.3).fit(X, Y)._trainer.recipe.optimizer.weight_decay == 0.3


@pytest.mark.parametrize(("batch_size", "steps"), [("auto", 1), (20, 3), (60, 1)])
def test_the_schedule_is_that_of_the_mini_batches_that_are_given(batch_size, steps):
    """A warm-up over a tenth of the steps, and a learning rate that ends near 0."""
    reg = quick("MLPRegressor", batch_size=batch_size, max_iter=40, early_stopping=False).fit(X, Y)
    assert reg._trainer.recipe.schedule.first == md.optim.schedules.LinearWarmup(4 * steps)
    rates = reg.history_["learning_rate"]
    assert np.argmax(rates) in (3, 4)
    assert rates[-1] < 0.01 * rates.max()


def test_a_fit_without_early_stopping_uses_all_rows_and_epochs():
    reg = quick("MLPRegressor", early_stopping=False, max_iter=7).fit(X, Y)
    assert reg.n_samples_ == 60
    assert reg.n_iter_ == 7
    assert "val_loss" not in reg.history_
    assert quick("MLPRegressor", max_iter=7).fit(X, Y).n_samples_ == 51


def test_a_search_over_a_parameter_fits_different_nets():
    search = GridSearchCV(
        quick("MLPRegressor"), {"dropout": [0.0, 0.1]}, cv=2, scoring=lambda e, X, y: e.resolved_params_["dropout"]
    )
    search.fit(X, Y)
    assert search.cv_results_["mean_test_score"].tolist() == [0.0, 0.1]
    nets = [quick("MLPRegressor", dropout=dropout).fit(X, Y).predict(X) for dropout in (0.0, 0.1)]
    assert not np.array_equal(*nets)
    pipeline = make_pipeline(StandardScaler(), quick("MLPClassifier"))
    search = GridSearchCV(
        pipeline,
        {"mlpclassifier__hidden_layer_sizes": [(100,), (128, 128, 128)]},
        cv=2,
        scoring=lambda e, X, y: len(e[-1].coefs_),
    )
    assert search.fit(X, KINDS["MLPClassifier"]).cv_results_["mean_test_score"].tolist() == [2.0, 4.0]


@both_kinds
def test_parameters_look_like_scikit_learns(kind):
    ours, reference = getattr(md, kind)(), getattr(theirs, kind)()
    expected = reference.get_params()
    found = {name: value for name, value in ours.get_params().items() if name in expected}
    assert found == expected
    assert {name: repr(value) for name, value in found.items()} == {k: repr(v) for k, v in expected.items()}
    assert {name: f"{value}" for name, value in found.items()} == {k: f"{v}" for k, v in expected.items()}
    for name, value in found.items():
        kind_of = type(expected[name])
        assert isinstance(value, int if kind_of is bool else kind_of), name
        assert hash(value) == hash(expected[name])
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))
    assert str(ours) == str(reference) == f"{kind}()"
    assert inspect.signature(type(ours)).parameters["alpha"].default == 1e-4


@both_kinds
def test_a_repr_shows_what_differs(kind):
    cls = getattr(md, kind)
    assert repr(cls(preset="auto")) == f"{kind}(preset='auto')"
    assert repr(cls(preset="auto", dropout=0.2, alpha=0.5)) == f"{kind}(alpha=0.5, dropout=0.2, preset='auto')"
    assert repr(clone(cls(hidden_layer_sizes=(7,)))) == repr(getattr(theirs, kind)(hidden_layer_sizes=(7,)))


def test_presets_do_not_change_the_parameters(tmp_path):
    reg = md.MLPRegressor(preset="auto", random_state=0, max_iter=2)
    before = repr(reg.get_params())
    reg.fit(X, Y)
    assert repr(reg.get_params()) == before
    assert repr(saved(reg, tmp_path).get_params()) == before


def test_a_parameter_given_twice_is_refused_with_a_preset_too():
    with pytest.raises(ConfigError, match=r"weight_decay=0.1 and alpha=1.0 say the same thing"):
        md.MLPRegressor(preset="auto", weight_decay=0.1, alpha=1.0).fit(X, Y)


def test_options_of_the_table_are_added_to_those_of_the_preset():
    reg = quick("MLPRegressor", data={"ignore": ["x1"]}).fit(X, Y)
    assert [role.role for role in reg.table_plan_.roles()] == ["number", "ignored", "number"]
    assert reg.table_plan_.bins > 0
    assert reg.table_plan_.waves > 0
    assert quick("MLPRegressor", data={"waves": 0}).fit(X, Y).table_plan_.waves == 0


@pytest.mark.parametrize("kind", ["MLPClassifier", "MLPRegressor"])
def test_predictions_of_presets_are_of_double_precision(kind):
    estimator = quick(kind).fit(X, KINDS[kind])
    assert estimator.model_.params.flat.dtype == np.float32
    found = estimator.predict_proba(X) if kind == "MLPClassifier" else estimator.predict(X)
    assert found.dtype == np.float64


@pytest.mark.parametrize("y", [Y > 0, np.digitize(Y, [-0.5, 0.5]), X > 0], ids=["two", "three", "labels"])
def test_probabilities_can_be_written_as_json_and_add_up_to_one(y):
    clf = quick("MLPClassifier").fit(X, y.astype(int))
    p = clf.predict_proba(X)
    assert json.loads(json.dumps(p.tolist()[0])) == p[0].tolist()
    assert p.dtype == np.float64
    if y.ndim == 1:
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0.0, atol=1e-15)
        assert p.shape[1] == len(clf.classes_)


@pytest.mark.parametrize("y", [Y, 50.0 + Y, -50.0 + Y, np.abs(Y)], ids=["around 0", "above", "below", "not negative"])
def test_predictions_stay_near_the_targets_however_far_a_row_is(y):
    reg = quick("MLPRegressor", max_iter=30).fit(X, y)
    low, high = y.min(), y.max()
    far = np.random.default_rng(1).normal(size=(200, 3)) * 1e6
    found = reg.predict(far)
    assert np.isfinite(found).all()
    assert found.min() >= low - 0.11 * (high - low)
    assert found.max() <= high + 0.11 * (high - low)
    if low >= 0.0:
        assert found.min() >= 0.0
    plain = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=30, random_state=0).fit(X, y)
    assert np.abs(plain.predict(far)).max() > 10.0 * np.abs(y).max()  # scikit-learn's extrapolates


def test_widths_given_where_the_loss_is_are_pointed_to_their_parameter():
    for given in ((64, 64), [64, 64], 64):
        with pytest.raises(ConfigError, match=r"is not a loss. For hidden layers, write hidden_layer_sizes="):
            md.MLPRegressor(given).fit(X, Y)


def test_a_preset_finds_a_threshold_of_one_column_among_many(rng):
    """As trees do; without bins and waves the net blurs it."""
    X, Z = rng.normal(size=(600, 8)), rng.normal(size=(1000, 8))
    errors = []
    for data in ({}, {"bins": 0, "waves": 0}):
        estimator = md.MLPRegressor(preset="auto", data=data, max_iter=40, random_state=0)
        estimator.fit(X, (X[:, 3] > 0.3).astype(float))
        errors.append(np.mean((estimator.predict(Z) - (Z[:, 3] > 0.3)) ** 2))
    assert errors[0] < 0.7 * errors[1]
