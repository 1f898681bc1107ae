"""Faults with little evidence: noisy leaks, wrong labels among overlapping classes, rules that stop training."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.doctor.clock import Clock
from madaline.doctor.intercept import planned
from madaline.doctor.leaks import is_made_from_target
from madaline.doctor.sickness import SICKNESSES, all_sicknesses

all_sicknesses()


def exam_of(X, y, loss="mse", n_out=1, **arguments):
    trainer = md.Trainer(md.mlp(16, n_out), loss=loss, optimizer=md.Adam(3e-3), threads=1)
    return planned(trainer, X, y, **{"epochs": 20, "batch_size": 32, "validation": 0.25} | arguments).exam(Clock(10))


def watched(net, X, y, rate=3e-3, loss="mse", **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), threads=1)
    trainer.fit(X, y, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return md.diagnose(trainer)


@pytest.fixture(scope="module")
def sums():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 4)).astype("f")
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=600)).astype("f")


def test_a_column_that_gives_the_target_away_with_noise(sums):
    X, y = sums
    leak = np.exp(0.4 * y) + 0.05 * np.random.default_rng(3).normal(size=len(y))
    symptom = SICKNESSES["target_leak"].symptom(exam_of(np.column_stack([X, leak]).astype("f"), y))
    assert symptom is not None
    assert symptom.columns == [4]


def test_a_cause_that_dominates_is_no_leak():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 4)).astype("f")
    y = (5 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=600)).astype("f")
    exam = exam_of(X, y)
    assert not is_made_from_target(exam, 0)
    assert SICKNESSES["target_leak"].symptom(exam) is None


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_labels_that_are_exchanged_are_told_from_classes_that_overlap(share):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 1200)
    X = (rng.normal(size=(1200, 3)) + 1.5 * np.eye(3)[y]).astype("f")
    given = np.where(rng.random(1200) < share, rng.integers(0, 3, 1200), y)
    exam = exam_of(X, given, "cross_entropy", 3)
    assert (SICKNESSES["label_errors"].symptom(exam) is not None) == (share > 0)


@pytest.mark.clinic
def test_an_estimator_that_stops_at_a_large_tolerance(ring):
    X, y = ring
    clf = md.MLPClassifier(32, tol=0.1, n_iter_no_change=2, random_state=0, callbacks=md.Doctor())
    found = md.diagnose(clf.fit(X, y))
    assert found.names[0] == "stopped_too_early"
    assert found["stopped_too_early"].remedies[0].parameters["tol"] == 0.0


def test_early_stopping_is_repeated_on_its_own_few_rows(product):
    X, y = product
    exam = exam_of(X, y, early_stopping=1, validation=0.05)
    assert len(exam.problem.monitored) == 20
    assert len(exam.problem.held) > 20


def test_few_epochs_and_large_batches_have_different_names(product):
    net = md.mlp(32, 32, 1)
    assert watched(net, *product, epochs=4).names[0] == "not_converged"
    assert watched(net, *product, epochs=20, batch_size=None).names[0] == "too_few_steps"


def test_a_rare_class_that_a_slow_net_ignores_is_a_consequence():
    rng = np.random.default_rng(6)
    y = (rng.random(1200) < 0.05).astype(int)
    X = (rng.normal(size=(1200, 3)) + 3.0 * y[:, None]).astype("f")
    found = watched(md.mlp(16, 2), X, y, 2e-5, "cross_entropy", epochs=40)
    assert found.names[0] == "rate_too_low"
    assert "class_imbalance" not in [finding.name for finding in found.alarms]


def test_few_rows_are_not_enough_to_say_that_there_is_no_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5)).astype("f")
    y = (X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + rng.normal(size=150)).astype("f")
    assert "no_signal" not in watched(md.mlp(64, 64, 1), X, y, epochs=200)


def test_a_remedy_says_the_loss_before_and_after(product):
    found = watched(md.mlp(32, 32, 1, activation="identity"), *product)
    before, after = found.findings[0].remedies[0].losses
    assert after < before
    assert f"falls from {before:.3g} to {after:.3g}." in str(found)
    assert md.doctor.Diagnosis.from_dict(found.to_dict()).findings[0].remedies[0].losses == (before, after)


def test_a_divergence_refers_to_the_remedy_that_was_tried(product):
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.SGD(5.0), threads=1)
    trainer.fit(*product, epochs=20, doctor=True, on_divergence="stop")
    found = md.diagnose(trainer)
    assert [remedy.text for remedy in found["nonfinite_loss"].remedies] == [
        f"See the remedy of {found.names[0]}, which was tried."
    ]


def test_advice_for_every_finding_of_a_history():
    history = md.train.History()
    history.stopped = "diverged"
    assert md.diagnose(history)["nonfinite_loss"].remedies
