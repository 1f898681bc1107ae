"""Searches that do not wait for slow trials."""

from __future__ import annotations

import signal
import threading
import warnings

import numpy as np
import pytest

import madaline as md
from madaline.tune.study import SearchStudy
from madaline.tune.trial_nets import TrialNets

pytest.importorskip("optuna")
X = np.random.default_rng(0).normal(size=(120, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
ROWS = np.arange(len(X))
ONE_SPLIT = [(ROWS[:80], ROWS[80:])]
SPACE = {"dropout": [0.0, 0.1, 0.2], "learning_rate_init": {"low": 1e-3, "high": 1e-2, "log": True}}


def search(cluster, **options):
    model = md.MLPClassifier(preset="auto", max_iter=options.pop("max_iter", 6), random_state=0)
    given = {"space": SPACE, "trials": 6, "max_seconds": None, "cv": ONE_SPLIT, "asynchronous": True}
    return md.search(model, X, Y, cluster=cluster.address, **given | options)


@pytest.fixture
def on_record(monkeypatch):
    """Call a function whenever trials are added, with their number so far."""
    add = SearchStudy.add

    def install(function):
        def added(self, records):
            add(self, records)
            function(len(self.records))

        monkeypatch.setattr(SearchStudy, "add", added)

    return install


def test_no_trial_waits_for_a_slow_one(cluster, monkeypatch, on_record):
    """Trial 1 takes until three others have ended; in a round, they would wait for it."""
    others_ended, train = threading.Event(), TrialNets.train
    on_record(lambda count: others_ended.set() if count == 4 else None)

    def slow(self, trials, rung):
        assert 1 not in trials or others_ended.wait(120)
        return train(self, trials, rung)

    monkeypatch.setattr(TrialNets, "train", slow)
    found = search(cluster)
    assert sorted(row["trial"] for row in found.trials_) == list(range(6))
    assert found.search_["stopped"] == "finished"
    assert found.predict(X).shape == (120,)


def test_trials_are_those_of_one_computer(cluster):
    """Trial 0 has the parameters of the estimator, and the same loss wherever it is trained."""
    found = search(cluster, trials=3, max_iter=20)
    alone = md.search(
        md.MLPClassifier(preset="auto", max_iter=20, random_state=0), X, Y, space=SPACE, trials=1, max_seconds=None,
        cv=ONE_SPLIT,
    )  # fmt: skip
    assert next(row["loss"] for row in found.trials_ if row["trial"] == 0) == alone.trials_[0]["loss"]
    assert {row["state"] for row in found.trials_} <= {"finished", "stopped early"}


def test_an_interrupted_search_is_resumed(cluster, tmp_path, on_record):
    on_record(lambda count: signal.raise_signal(signal.SIGINT) if count == 3 else None)
    with warnings.catch_warnings():  # filters are shared with threads of Ray, where the warning is sometimes lost
        warnings.simplefilter("ignore", UserWarning)
        found = search(cluster, checkpoint=tmp_path / "run")
    assert found.search_["stopped"] == "interrupted"
    earlier = {row["trial"]: row["loss"] for row in found.trials_}
    assert len(earlier) == 3
    again = search(cluster, checkpoint=tmp_path / "run", resume=True)
    losses = {row["trial"]: row["loss"] for row in again.trials_}
    assert len(losses) == 6
    assert earlier.items() <= losses.items()


def test_errors_of_trials_are_raised(cluster, monkeypatch):
    train = TrialNets.train

    def failing(self, trials, rung):
        if 0 not in trials:
            raise md.errors.ConfigError("The third node has no disk.")
        return train(self, trials, rung)

    monkeypatch.setattr(TrialNets, "train", failing)
    with pytest.raises(md.errors.ConfigError, match="no disk"):
        search(cluster)


def test_the_time_limit_holds(cluster):
    found = search(cluster, trials=None, max_seconds=3.0)
    assert found.search_["stopped"] == "time"
    assert found.search_["seconds"] < 30
