"""Columns and rows that are hard to tell from sound ones: laws and leaks, rare extremes, shared rows."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.doctor.clock import Clock
from madaline.doctor.intercept import planned
from madaline.doctor.leaks import explained_by_column
from madaline.doctor.sickness import SICKNESSES, all_sicknesses

all_sicknesses()


def exam_of(X, y, loss="mse", n_out=1, *, scaled=False, **arguments):
    net = md.mlp(16, n_out, standardize=scaled)
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(3e-3), threads=1)
    given = {"epochs": 20, "batch_size": 32, "validation": 0.25} | arguments
    return planned(trainer, np.asarray(X, "f"), y, **given).exam(Clock(10))


def diagnosed(net, X, y, loss="mse", rate=3e-3, **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), threads=1)
    trainer.fit(X, y, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return md.diagnose(trainer)


@pytest.fixture(scope="module")
def celsius():
    """Fahrenheit as measured, which is a line of one column, and two columns of noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3)).astype("f")
    return X, (X[:, 0] + 0.045 * rng.normal(size=800)).astype("f")


def test_a_law_of_one_column_is_information(celsius):
    symptom = SICKNESSES["target_leak"].symptom(exam_of(*celsius))
    assert symptom.severity == "info"
    assert symptom.columns == [0]


def test_a_linear_net_for_a_law_of_one_column_is_healthy(celsius):
    assert diagnosed(md.mlp(8, 1, activation="identity"), *celsius).is_healthy


def test_the_same_column_gives_a_target_away_that_others_predict_too(product):
    X, y = product
    leak = y + 0.045 * y.std() * np.random.default_rng(1).normal(size=len(y))
    symptom = SICKNESSES["target_leak"].symptom(exam_of(np.column_stack([X, leak]), y))
    assert symptom.severity is None
    assert symptom.columns == [3]


def test_the_target_in_other_units_is_a_leak_whatever_the_others_say(celsius):
    X, y = celsius
    assert SICKNESSES["target_leak"].symptom(exam_of(np.column_stack([X[:, 1:], 1.8 * y + 32]), y)).severity is None


def test_ranks_of_a_target_with_ties_give_it_away():
    """The ranks of equal targets differ by chance, so that their correlation with the target is far below 1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3)).astype("f")
    total = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=800)
    marks = (np.digitize(total, np.quantile(total, (0.2, 0.8))) - 1.0).astype("f")
    rank = np.argsort(np.argsort(marks + 1e-3 * rng.normal(size=800))) / 800
    assert explained_by_column(rank, marks) > 0.999
    assert np.corrcoef(rank, marks)[0, 1] ** 2 < 0.99
    symptom = SICKNESSES["target_leak"].symptom(exam_of(np.column_stack([X, rank]), marks))
    assert symptom is not None
    assert symptom.columns == [3]


def with_rare_values(X, size, share=0.02):
    is_rare = np.random.default_rng(3).random((len(X), 2)) < share
    return np.column_stack([X, size * is_rare])


@pytest.mark.parametrize(
    ("size", "share", "scaled", "is_found"),
    [(1e6, 0.02, False, True), (1.0, 0.02, False, False), (1e6, 0.02, True, False), (1e6, 0.3, False, False)],
)
def test_rare_values_of_a_constant_column_are_extreme_if_they_are_large(product, size, share, scaled, is_found):
    X, y = product
    exam = exam_of(with_rare_values(X, size, share), y, scaled=scaled)
    symptom = SICKNESSES["heavy_tails"].symptom(exam)
    assert (symptom is not None) == is_found
    assert symptom is None or symptom.columns == [3, 4]


def test_rare_values_are_compared_with_the_other_columns(product):
    X, y = product
    assert SICKNESSES["heavy_tails"].symptom(exam_of(3000 * with_rare_values(X, 1.0), y)) is None


def test_rare_extremes_are_named_before_what_they_do(product):
    X, y = product
    found = diagnosed(md.mlp(32, 32, 1), with_rare_values(X, 1e6).astype("f"), y)
    assert found.names[0] == "heavy_tails"


def test_overfitting_is_seen_on_rows_that_are_not_shared():
    """Most validation rows are training rows, so that the validation loss falls with the training loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)).astype("f")
    y = (X[:, 0] + 0.5 * rng.normal(size=200)).astype("f")
    rows = rng.permutation(np.repeat(np.arange(200), 3))
    found = diagnosed(md.mlp(128, 128, 1), X[rows], y[rows], epochs=100)
    assert found.names[:2] == ["split_duplicates", "overfitting"]


def test_inputs_below_the_smallest_normal_number(product):
    X, y = product
    found = diagnosed(md.mlp(16, 1), (1e-40 * X.astype("d")).astype("f"), y, epochs=5)
    assert found["numeric_limits"].evidence["fraction of inputs below the smallest normal number"] > 0.9
