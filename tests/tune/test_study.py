"""The trials of a search in a storage of Optuna."""

from __future__ import annotations

import numpy as np
import optuna
import pytest

from madaline.errors import ConfigError
from madaline.tune.optuna_package import quiet
from madaline.tune.record import TrialRecord
from madaline.tune.space import Choice, Range
from madaline.tune.study import SearchStudy

SPACE = {"rate": Range(1e-4, 1e-1, log=True), "kind": Choice(("a", (1, 2)))}


def record(number, round_number, loss=0.5, rate=0.01, state="finished"):
    return TrialRecord(number, round_number, {"rate": rate, "kind": "1, 2"}, {0: loss + 0.1, 1: loss}, state, 15, 0.5)


def test_a_round_that_was_killed_while_it_was_written_is_left_out_and_written_again():
    storage = optuna.storages.InMemoryStorage()
    study = SearchStudy(SPACE, storage)
    study.add([record(0, 0)])
    with quiet():  # the first trial of the next round, and then the process is killed
        inside = optuna.load_study(study_name="madaline", storage=storage)
        inside.add_trial(record(1, 1).frozen(study.distributions))
    again = SearchStudy(SPACE, storage)
    again.load()
    assert again.records == [record(0, 0)]
    assert again.next_round == 1
    again.add([record(1, 1), record(2, 1, state="stopped early")])
    last = SearchStudy(SPACE, storage)
    last.load()
    assert last.records == [record(0, 0), record(1, 1), record(2, 1, state="stopped early")]


def test_a_round_depends_on_its_seed_and_on_the_trials_before_it():
    study = SearchStudy(SPACE)
    study.add([record(0, 0)])
    assert study.ask(8, seed=1) == study.ask(8, seed=1) != study.ask(8, seed=2)
    first = study.ask(3, seed=1)
    study.add([record(k, 1, loss=k, rate=10.0 ** -(1 + k % 3)) for k in range(1, 20)])
    assert study.ask(3, seed=1) != first


def test_the_parameter_that_matters_has_the_largest_importance():
    rng = np.random.default_rng(0)
    study = SearchStudy(SPACE)
    assert study.importances() == {}
    rates = 10.0 ** rng.uniform(-4, -1, 40)
    study.add([record(k, 1, loss=abs(np.log10(rate) + 2), rate=rate) for k, rate in enumerate(rates.tolist())])
    found = study.importances()
    assert max(found, key=found.get) == "rate"
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_study_of_something_else_is_refused():
    storage = optuna.storages.InMemoryStorage()
    with quiet():
        optuna.create_study(study_name="madaline", storage=storage).optimize(lambda trial: 1.0, n_trials=1)
    with pytest.raises(ConfigError, match="not created by madaline"):
        SearchStudy(SPACE, storage).known()
    about = {"estimator": "net", "space": {}, "n_rows": 10}
    other = SearchStudy(SPACE, storage, name="other")
    other.agree(about)
    other.agree(about)
    with pytest.raises(ConfigError, match="search with another number of rows"):
        other.agree(about | {"n_rows": 11})
