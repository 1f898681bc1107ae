"""``md.search``: an estimator with searched hyperparameters."""

from __future__ import annotations

import _thread
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import madaline as md
from madaline.errors import ConfigError, MissingPackageError
from madaline.estimators.ensemble import plan
from madaline.tune import trial_nets

SPACE = {
    "learning_rate_init": {"low": 1e-3, "high": 1e-1, "log": True},
    "width": {"low": 4, "high": 12},
    "dropout": [0.0, 0.2],
}
QUICK = {"preset": "auto", "hidden_layer_sizes": (8,), "max_iter": 15, "random_state": 0}


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.normal(size=n), "city": rng.choice(["Rome", "Oslo"], n), "age": rng.normal(size=n)})
    X.loc[3, "age"] = np.nan
    return X, (X["size"] + (X["city"] == "Rome") + 0.3 * rng.normal(size=n)).to_numpy()


TARGETS = {
    "binary": lambda y: np.where(y > 0.5, "yes", "no"),
    "multiclass": lambda y: np.array(["low", "mid", "top"])[np.digitize(y, [0.0, 1.0])],
    "regression": lambda y: y,
}


def searched(task="regression", *, trials=10, parameters=None, **options):
    X, y = table()
    kind = md.MLPRegressor if task == "regression" else md.MLPClassifier
    options = {"space": SPACE, "cv": 2, "max_seconds": None, "trials": trials} | options
    return md.search(kind(**QUICK | (parameters or {})), X, TARGETS[task](y), **options)


@pytest.mark.parametrize("task", TARGETS)
def test_every_task_gives_an_ordinary_estimator_that_is_saved_whole(tmp_path, task):
    found = searched(task)
    X, _ = table(20, seed=1)
    assert type(found) is (md.MLPRegressor if task == "regression" else md.MLPClassifier)
    assert [row["trial"] for row in found.trials_] == list(range(10))
    assert {row["state"] for row in found.trials_} == {"finished", "stopped early"}
    assert sum(member["weight"] for member in found.members_) == pytest.approx(1.0)
    assert found.best_params_.keys() == {"learning_rate_init", "hidden_layer_sizes", "dropout"}
    assert found.get_params()["dropout"] == found.best_params_["dropout"] == found.resolved_params_["dropout"]
    md.save(found, tmp_path / "found.madaline")
    again = md.load(tmp_path / "found.madaline")
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert again.trials_ == found.trials_
    assert again.best_params_ == found.best_params_
    assert again.search_ == found.search_
    assert clone(again).fit(*table()[:1], TARGETS[task](table()[1])).predict(X).shape == (20,)


@pytest.mark.parametrize("task", TARGETS)
def test_the_result_is_never_worse_than_the_estimator_itself_on_held_out_rows(task):
    found = searched(task, space={"learning_rate_init": [1e-6, 1e-5]}, trials=4)
    assert found.search_["best_trial"] == 0
    assert found.search_["ensemble_loss"] <= found.trials_[0]["loss"]
    assert found.best_params_["learning_rate_init"] == found.resolved_params_["learning_rate_init"] == 5e-3


def test_trial_0_is_the_estimator_with_its_own_parameters():
    """Its nets are those of an ensemble with these parameters and no search."""
    found = searched(trials=1)
    assert found.trials_[0]["learning_rate_init"] == 5e-3
    assert found.trials_[0]["width"] == 8
    assert found.trials_[0]["epochs"] == 15
    assert "dropout" not in found.trials_[0]  # 0.1 is not in the space


def test_results_do_not_depend_on_the_number_of_threads():
    X, _ = table(20, seed=1)
    first, second = (searched("binary", parameters={"threads": threads}) for threads in (1, 3))
    without_time = [[{k: v for k, v in row.items() if k != "seconds"} for row in e.trials_] for e in (first, second)]
    assert without_time[0] == without_time[1]
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_nets_of_a_rung_are_trained_from_the_start_with_a_schedule_of_their_own():
    """So annealed nets are compared: 5 epochs on the first rung, 15 on the last."""
    found = searched()
    stopped = [row for row in found.trials_ if row["state"] == "stopped early"]
    finished = [row for row in found.trials_ if row["state"] == "finished"]
    assert {(row["epochs"], row["rung"]) for row in stopped} == {(5, 1)}
    assert {(row["epochs"], row["rung"]) for row in finished} == {(15, 2)}
    assert 1 < len(finished) < len(stopped)


def test_a_search_that_was_interrupted_is_resumed_with_the_same_result(tmp_path, monkeypatch):
    X, _ = table(20, seed=1)
    whole = searched(trials=20, checkpoint=tmp_path / "whole")
    fit, calls = md.Population.fit, []

    def interrupted(population, *arguments, **options):
        calls.append(len(population))
        if len(calls) == 5:  # the last rung of the second round
            _thread.interrupt_main()
        return fit(population, *arguments, **options)

    monkeypatch.setattr(md.Population, "fit", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        stopped = searched(trials=20, checkpoint=tmp_path / "stopped")
    assert stopped.search_["stopped"] == "interrupted"
    assert len(stopped.trials_) == 9  # the default and one round
    assert np.isfinite(stopped.predict(X)).all()
    calls.append(0)
    resumed = searched(trials=20, checkpoint=tmp_path / "stopped", resume=True)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
    assert [row["loss"] for row in resumed.trials_] == [row["loss"] for row in whole.trials_]


def test_several_searches_share_a_storage(tmp_path):
    """The second one learns from the trials of the first, and continues their numbers."""
    url = f"sqlite:///{(tmp_path / 'shared.db').as_posix()}"
    first = searched(trials=5, storage=url)
    both = searched(trials=9, storage=url)
    assert both.trials_[:5] == first.trials_
    assert len({row["trial"] for row in both.trials_}) == 9
    with pytest.raises(ConfigError, match="search with another space"):
        searched(trials=9, storage=url, space={"dropout": [0.0, 0.5]})


def test_the_time_limit_ends_a_search():
    """However short it is, there is a model."""
    X, y = table(400)
    found = md.search(md.MLPRegressor(preset="auto", random_state=0), X, y, max_seconds=1.0)
    assert found.search_["stopped"] == "time"
    assert np.isfinite(found.predict(X)).all()
    assert found.trials_[0]["trial"] == 0


def test_a_trial_that_diverges_is_listed_and_the_others_go_on():
    found = searched(trials=5, space={"learning_rate_init": [1e-3, 1e30]}, parameters={"optimizer": "sgd"})
    states = {row["learning_rate_init"]: row["state"] for row in found.trials_ if row["trial"]}
    assert states[1e30] == "diverged"
    assert math.isfinite(found.search_["ensemble_loss"])


def test_plain_parameters_are_searched_without_a_preset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    estimator = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=10, random_state=0)
    found = md.search(estimator, X, X[:, 0], trials=3, max_seconds=None, cv=2)
    assert found.best_params_.keys() >= {"alpha", "learning_rate_init", "activation"}
    assert "hidden_layer_sizes" not in found.best_params_  # the user chose it
    assert found.hidden_layer_sizes == (8,)
    assert not hasattr(estimator, "trials_")


def test_callbacks_see_one_net():
    epochs = []
    searched(trials=3, parameters={"callbacks": lambda trainer, row: epochs.append(row["epoch"])})
    assert epochs == sorted(set(epochs))


def test_what_lies_at_the_edge_of_the_space_is_named():
    found = searched(space={"learning_rate_init": {"low": 1e-7, "high": 1e-6, "log": True}}, trials=10)
    assert found.search_["edges"] == []  # the best is trial 0, which is not in the space
    found = searched(space={"width": {"low": 8, "high": 400}}, trials=1)
    assert found.search_["edges"] == [{"name": "width", "end": "low", "value": 8}]


def test_what_does_not_go_together_is_refused():
    X, y = table()
    for message, estimator, options in [
        ("needs an end", md.MLPRegressor(), {"max_seconds": None}),
        ("max_seconds=0 must be", md.MLPRegressor(), {"max_seconds": 0}),
        ("trials=0 must be", md.MLPRegressor(), {"trials": 0}),
        ("needs an MLPClassifier or MLPRegressor", "net", {}),
        ("needs an MLPClassifier or MLPRegressor", md.GaussianMLPRegressor(), {}),
        ("L-BFGS has none", md.MLPRegressor(solver="lbfgs"), {}),
        ("validates trials on folds", md.MLPRegressor(validation=0.2), {}),
        ("pass checkpoint=PATH", md.MLPRegressor(), {"resume": True}),
        ("asynchronous=True is for the trials of a cluster", md.MLPRegressor(), {"asynchronous": True}),
        ("sampler='best' is not known", md.MLPRegressor(), {"sampler": "best"}),
        ("cannot be opened", md.MLPRegressor(preset="auto"), {"storage": "nothing://here"}),
    ]:
        with pytest.raises(ConfigError, match=message):
            md.search(estimator, X, y, **options)


def test_a_sampler_without_its_package_is_explained_before_training(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="sampler='gp' needs PyTorch"):
        searched(sampler="gp")
    monkeypatch.undo()
    assert len(searched(trials=3, sampler="random").trials_) == 3


def test_without_optuna_one_sentence_says_how_to_install_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingPackageError, match=r'pip install "madaline\[tune\]"'):
        searched()


def test_with_a_preset_there_is_a_kernel_machine(monkeypatch):
    monkeypatch.setattr(plan, "KERNEL_FROM", 100)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 2))
    y = np.sin(9.0 * X[:, 0]) * np.cos(9.0 * X[:, 1]) + X[:, 0]
    tiny = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=9, random_state=0)
    found = md.search(tiny, X, y, space={"dropout": (0.0, 0.2)}, trials=2, max_seconds=None)
    assert sum(member["weight"] for member in found.members_ if member["kind"] == "kernel") > 0.3


def test_ctrl_c_while_the_kernel_machine_is_computed_keeps_the_search(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "KERNEL_FROM", 10)
    monkeypatch.setattr(trial_nets, "kernel_member", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        found = searched(trials=2)
    assert found.search_["stopped"] == "interrupted"
    assert np.isfinite(found.predict(table(20, seed=1)[0])).all()


def test_folds_may_be_an_iterator():
    X, _ = table(20, seed=1)
    found, same = (searched(trials=2, cv=cv) for cv in (KFold(3).split(np.zeros(60)), KFold(3)))
    np.testing.assert_array_equal(found.predict(X), same.predict(X))
