"""``preset="best"``: an ensemble as one estimator."""

from __future__ import annotations

import _thread

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

import madaline as md
from madaline.errors import ConfigError
from madaline.estimators.ensemble import fitting
from madaline.estimators.ensemble.folds import make_folds
from madaline.estimators.ensemble.timing import Cost

QUICK = {"preset": "best", "hidden_layer_sizes": (8,), "max_iter": 8, "random_state": 0}


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.normal(size=n), "city": rng.choice(["Rome", "Oslo"], n), "age": rng.normal(size=n)})
    X.loc[3, "age"] = np.nan
    return X, (X["size"] + (X["city"] == "Rome") + 0.3 * rng.normal(size=n)).to_numpy()


TARGETS = {
    "binary": lambda y: np.where(y > 0.5, "yes", "no"),
    "multiclass": lambda y: np.array(["low", "mid", "top"])[np.digitize(y, [0.0, 1.0])],
    "labels": lambda y: np.stack([y > 0.0, y > 1.0], axis=1).astype(int),
    "several targets of classes": lambda y: np.stack([np.digitize(y, [0.0, 1.0]), (y > 0.5).astype(int)], axis=1),
    "regression": lambda y: y,
    "several numbers": lambda y: np.stack([y, -y], axis=1),
    "count": lambda y: np.random.default_rng(0).poisson(np.exp(0.5 * y)),
}


def fitted(task, **options):
    X, y = table()
    numbers = task in ("regression", "several numbers", "count")
    kind = md.MLPRegressor if numbers else md.MLPClassifier
    loss = {"loss": "poisson"} if task == "count" else {}
    return kind(**QUICK, **loss).fit(X, TARGETS[task](y), cv=2, **options)


@pytest.mark.parametrize("task", TARGETS)
def test_every_task_has_a_calibrated_ensemble_in_one_file(tmp_path, task):
    estimator = fitted(task)
    X, _ = table(30, seed=1)
    assert sum(member["weight"] for member in estimator.members_) == pytest.approx(1.0)
    assert {member["kind"].split(",")[0] for member in estimator.members_} == {"net", "plain net", "linear", "additive"}
    md.save(estimator, tmp_path / "best.madaline")
    again = md.load(tmp_path / "best.madaline")
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    if hasattr(estimator, "predict_proba"):
        for mine, theirs in zip(estimator.predict_proba(X), again.predict_proba(X), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        oof = estimator.oof_prediction_
        for p in oof if isinstance(oof, list) else [oof]:
            assert len(p) == 80
            assert np.isfinite(p).all()
    else:
        low, high = again.predict_interval(X)
        assert (low <= high).all()
        assert len(estimator.oof_prediction_) == 80


def test_a_prediction_is_the_mean_of_the_members():
    estimator = fitted("regression")
    X, _ = table(10, seed=2)
    rows = estimator.table_plan_.encode(X)["numbers"]
    inside = estimator.model_.activations(rows)
    weights = [member["weight"] for member in estimator.members_ if member["weight"] > 0.0]
    mean = sum(weight * inside[str(number)] for number, weight in enumerate(weights))
    np.testing.assert_allclose(
        estimator.predict(X), estimator.clip_to_bounds(estimator.in_target_units(mean))[:, 0], rtol=1e-5
    )


def test_the_result_does_not_depend_on_the_number_of_threads():
    X, y = table()
    found = [
        md.MLPClassifier(**QUICK, threads=n).fit(X, TARGETS["binary"](y), cv=3).predict_proba(X) for n in (1, 2, 3)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_where_a_linear_model_is_best_it_is_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    y = X @ rng.normal(size=10) + 0.3 * rng.normal(size=60)
    Z = rng.normal(size=(500, 10))
    best = md.MLPRegressor(preset="best", random_state=0, max_iter=30).fit(X, y)
    weight = sum(member["weight"] for member in best.members_ if member["kind"].startswith("linear"))
    assert weight > 0.5
    ridge = Ridge(1.0).fit(X, y).predict(Z)
    assert np.mean((best.predict(Z) - ridge) ** 2) < 0.1 * np.var(ridge)


def test_where_columns_add_up_without_being_linear_additive_members_are_used():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(200, 5)), rng.normal(size=(500, 5))

    def target(X):
        return np.abs(X[:, 0]) + (X[:, 1] > 0.5) + np.cos(2.0 * X[:, 2])

    y = target(X) + 0.1 * rng.normal(size=200)
    best = md.MLPRegressor(**QUICK | {"max_iter": 20}).fit(X, y)
    weight = sum(member["weight"] for member in best.members_ if member["kind"].startswith("additive"))
    assert weight > 0.5
    ridge = Ridge(1.0).fit(X, y).predict(Z)
    assert np.mean((best.predict(Z) - target(Z)) ** 2) < 0.3 * np.mean((ridge - target(Z)) ** 2)


def test_out_of_fold_predictions_are_by_members_that_did_not_see_the_row():
    """A row whose target is noise cannot be predicted; by a net that learned it by heart it could."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    estimator = md.MLPRegressor(preset="best", hidden_layer_sizes=(32,), dropout=0.0, max_iter=30, random_state=0)
    estimator.fit(X, y, cv=4)
    assert abs(np.corrcoef(estimator.oof_prediction_, y)[0, 1]) < 0.3


def test_intervals_hold_what_they_promise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] + (0.2 + (X[:, 1] > 0.0)) * rng.normal(size=600)
    estimator = md.MLPRegressor(preset="best", hidden_layer_sizes=(16,), max_iter=20, random_state=0)
    estimator.fit(X[:300], y[:300], cv=3)
    low, high = estimator.predict_interval(X[300:], coverage=0.8)
    assert 0.7 < np.mean((low <= y[300:]) & (y[300:] <= high)) < 0.9


def test_groups_and_weights_are_used():
    X, y = table()
    groups = np.arange(80) % 5
    estimator = md.MLPRegressor(**QUICK).fit(X, y, groups=groups)
    assert max(member["fold"] for member in estimator.members_) == 4
    weight = np.where(np.arange(80) < 40, 1.0, 1e-6)
    shifted = np.where(np.arange(80) < 40, y, y + 100.0)
    weighted = clone(estimator).fit(X, shifted, sample_weight=weight, cv=2)
    plain = clone(estimator).fit(X, shifted, cv=2)
    assert np.mean(np.abs(weighted.predict(X) - y)) < 0.5 * np.mean(np.abs(plain.predict(X) - y))


def test_folds_may_go_forward_in_time():
    """The first folds have fewer rows than a mini-batch of the preset, which is no mistake of the user."""
    X, y = table()
    estimator = md.MLPRegressor(**QUICK).fit(X, y, cv=TimeSeriesSplit(5))
    assert np.isnan(estimator.oof_prediction_[:15]).all()
    assert np.isfinite(estimator.oof_prediction_[15:]).all()


def test_it_is_an_estimator_like_others():
    X, y = table()
    estimator = md.MLPClassifier(**QUICK)
    assert clone(estimator).get_params() == estimator.get_params()
    assert len(cross_val_score(estimator, X, TARGETS["binary"](y), cv=2)) == 2


def test_an_interrupted_run_is_resumed_with_the_same_result(tmp_path):
    X, y = table()
    whole = md.MLPRegressor(**QUICK).fit(X, y, cv=3, checkpoint=tmp_path / "whole")

    class Stop(md.Callback):
        def on_epoch_end(self, trainer, row):
            if row["epoch"] == 3:
                _thread.interrupt_main()  # as Ctrl-C does

    stopped = md.MLPRegressor(**QUICK, callbacks=[Stop()])
    with pytest.warns(UserWarning, match="interrupted"):
        stopped.fit(X, y, cv=3, checkpoint=tmp_path / "stopped")
    resumed = md.MLPRegressor(**QUICK).fit(X, y, cv=3, checkpoint=tmp_path / "stopped", resume=True)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_ctrl_c_while_linear_members_are_trained_ends_training(monkeypatch):
    """What is complete is used, and no net is started."""
    X, y = table()
    fit = md.Population.fit

    def interrupted(population, *arguments, **options):
        histories = fit(population, *arguments, **options)
        population.stopped = "interrupted"
        return histories

    monkeypatch.setattr(md.Population, "fit", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        estimator = md.MLPRegressor(**QUICK).fit(X, y, cv=2)
    assert {member["kind"].split(",")[0] for member in estimator.members_} == {"linear", "additive"}
    assert estimator.history_.stopped == "interrupted"
    assert np.isfinite(estimator.predict(X)).all()


def test_every_fold_has_all_classes(monkeypatch):
    """Sorted classes of 9 rows in 3 folds: each fold is judged on 3 rows of each class."""
    found = []
    monkeypatch.setattr(fitting, "make_folds", lambda *a, **k: found.append(make_folds(*a, **k)) or found[-1])
    y = np.repeat(["a", "b", "c"], 9)
    md.MLPClassifier(**QUICK).fit(np.random.default_rng(0).normal(size=(27, 2)), y, cv=3)
    assert [sorted(y[held]) for _, held in found[0]] == [["a"] * 3 + ["b"] * 3 + ["c"] * 3] * 3


def test_kinds_that_time_left_without_some_folds_are_left_out(monkeypatch):
    train = fitting.train_side_by_side

    def one_fold_less(estimator, tasks, rows, **options):
        members, stopped = train(estimator, tasks, rows, **options)
        return [each for each in members if not (each.task.kind.is_linear and each.task.fold)], stopped

    monkeypatch.setattr(fitting, "train_side_by_side", one_fold_less)
    estimator = fitted("regression")
    assert np.isfinite(estimator.oof_prediction_).all()
    assert all(member["weight"] == 0.0 for member in estimator.members_ if member["kind"] != "net")


def test_a_short_time_for_many_rows_leaves_out_some_rows(monkeypatch):
    monkeypatch.setattr(fitting, "measured_cost", lambda *given: Cost(0.0, 1.0))
    X, y = table(3000)
    estimator = md.MLPRegressor(**QUICK).fit(X, y, max_seconds=60.0)
    assert np.isfinite(estimator.oof_prediction_).sum() == 2000
    assert np.isfinite(estimator.predict(X)).all()


def test_a_short_time_leaves_a_model():
    X, y = table(400)
    estimator = md.MLPRegressor(preset="best", random_state=0).fit(X, y, max_seconds=0.3)
    assert np.isfinite(estimator.predict(X)).all()


def test_what_does_not_go_together_is_refused():
    X, y = table()
    for message, parameters, options in [
        ("validates each member on its own fold", {}, {"validation": (X, y)}),
        ("validates each member on its own fold", {"validation": 0.2}, {}),
        ("L-BFGS has none", {"solver": "lbfgs"}, {}),
        ('chooses the folds of preset="best"', {"preset": "auto"}, {"cv": 3}),
        ('chooses the folds of preset="best"', {"preset": None, "data": "auto"}, {"groups": np.arange(80)}),
    ]:
        with pytest.raises(ConfigError, match=message):
            md.MLPRegressor(**QUICK | parameters).fit(X, y, **options)
    estimator = md.MLPRegressor(**QUICK).fit(X, y, cv=2)
    with pytest.raises(ConfigError, match="cannot continue training"):
        estimator.partial_fit(X, y)
    with pytest.raises(ConfigError, match='QuantileMLPRegressor has no preset="best"'):
        md.QuantileMLPRegressor(preset="best").fit(X, y)
