"""Findings about searches and about luck."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.doctor import all_sicknesses


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, X[:, 0] * X[:, 1]


@pytest.fixture
def estimator():
    return md.MLPRegressor("mse", (16,), max_iter=20, random_state=0)


def test_all_43_names_of_the_catalogue_exist():
    assert [sickness.number for sickness in all_sicknesses()] == list(range(1, 44))


def test_a_best_value_at_the_edge_is_information(data):
    narrow = md.MLPRegressor("mse", (1,), max_iter=20, learning_rate_init=0.01, random_state=0)
    best = md.search(narrow, *data, space={"width": {"low": 15, "high": 16}}, trials=3, max_seconds=None)
    finding = md.diagnose(best)["search_edge"]
    assert finding.severity == "info"
    assert finding.evidence["width"] in (15, 16)
    assert finding.remedies[0].text.startswith("Search width between 1")


def test_no_edge_no_finding(data, estimator):
    best = md.search(estimator, *data, space={"dropout": [0.0, 0.1]}, trials=2, max_seconds=None)
    assert "search_edge" not in md.diagnose(best)


def _diagnosis(X, y):
    trainer = md.Trainer(md.mlp(16, 1), optimizer=md.Adam(0.01), threads=1)
    trainer.fit(X, y, epochs=40, batch_size=32, validation=0.25, doctor=True, progress=False)
    return md.diagnose(trainer)


def test_a_clear_gain_over_a_linear_model_is_not_luck(data):
    assert "seed_noise" not in _diagnosis(*data)


def test_a_gain_that_another_seed_reverses_is_luck():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    finding = _diagnosis(X, X[:, 0] + 0.15 * np.abs(X[:, 1]) + 0.5 * rng.normal(size=300))["seed_noise"]
    assert finding.severity == "info"
    assert finding.evidence["spread over 3 seeds"] > finding.evidence["gain over a linear model"] > 0


def test_a_run_with_a_fault_is_not_compared_over_seeds(product):
    X, y = product
    trainer = md.Trainer(md.Sequential(md.Linear(16), md.Linear(16), md.Linear(1)), optimizer=md.Adam(0.003))
    trainer.fit(X, y, epochs=80, batch_size=32, validation=0.25, doctor=True, progress=False)
    found = md.diagnose(trainer)
    assert "missing_nonlinearity" in found
    assert "seed_noise" not in found
