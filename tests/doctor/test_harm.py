"""What counts as harm: alarms need it, also beside facts about the rows and in runs of small tables."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.doctor.clock import Clock
from madaline.doctor.diagnose import record_of
from madaline.doctor.intercept import planned
from madaline.doctor.judgement import _is_covered
from madaline.doctor.sample import on_new_rows
from madaline.doctor.sickness import SICKNESSES, Symptom, all_sicknesses
from madaline.doctor.trials import Candidate
from madaline.nn.initializers import Constant
from madaline.optim import schedules

all_sicknesses()


def trained(net, X, y, loss="mse", rate=3e-3, schedule=None, **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), schedule=schedule, threads=1)
    trainer.fit(X, y, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return trainer


def alarms(found):
    return {finding.name for finding in found.alarms}


def test_beside_a_leak_a_net_that_suffices_without_it_is_not_blamed():
    """What a linear net cannot learn is not the matter: the other columns have a linear effect."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).astype("f")
    y = (X @ [1.0, -1.0, 0.5] + rng.normal(size=400)).astype("f")
    found = md.diagnose(trained(md.mlp(16, 1, activation="identity"), np.column_stack([X, 3 * y]), y))
    assert alarms(found) == {"target_leak"}


def off(width, n_out):
    """A net whose hidden units are 0 for every row."""
    return md.Sequential(md.Linear(width, bias_init=Constant(-9.0)), "relu", md.Linear(n_out))


def test_units_that_are_dead_at_the_start_are_named_beside_a_low_rate(ring):
    found = md.diagnose(trained(off(32, 2), *ring, loss="cross_entropy", rate=2e-5))
    assert {"dead_units", "rate_too_low"} <= alarms(found)


@pytest.mark.parametrize(("net", "is_from_init"), [(off(16, 1), True), (md.mlp(16, 1), False)])
def test_units_that_are_dead_at_the_start_are_a_fault_of_the_net(product, net, is_from_init):
    exam = planned(md.Trainer(net, threads=1), *product, epochs=2, batch_size=32).exam(Clock(10))
    symptom = SICKNESSES["dead_units"].symptom(exam)
    assert (symptom is not None and symptom.is_certain and symptom.cause == 4) == is_from_init


def test_a_schedule_that_is_over_early_is_replaced(product):
    found = md.diagnose(trained(md.mlp(32, 32, 1), *product, schedule=schedules.Polynomial(steps=30)))
    assert found.names[0] == "rate_too_low"
    assert found.findings[0].remedies[0].parameters == {"schedule": "cosine"}


def test_a_loss_far_above_that_of_a_constant_is_harm_where_little_can_be_learned():
    """The target is nearly noise, so that no remedy gains anything over a constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4)).astype("f")
    y = (0.4 * X[:, 0] + rng.normal(size=900) > 1.9).astype(int)
    X[:, 1:3] = 5e6 + 1e4 * X[:, 1:3]
    found = md.diagnose(trained(md.mlp(8, 2), X, y, loss="cross_entropy"))
    assert "unscaled_inputs" in alarms(found)


def test_a_run_that_is_longer_than_its_repetition_is_not_compared_on_other_splits(product):
    trainer = trained(md.mlp(8, 1), *product, epochs=10, batch_size=2)
    exam = record_of(trainer).exam(Clock(10))
    assert len(exam.folds) > 0
    exam = record_of(trainer).exam(Clock(10))
    exam.max_steps = 1000
    assert exam.is_limited
    assert exam.folds == []


def test_a_layer_of_a_few_units_needs_more_harm_than_a_single_one(product):
    factors = [
        SICKNESSES["underfitting"].symptom(record_of(trained(md.mlp(width, 1), *product, epochs=5)).exam(Clock(10)))
        for width in (2, 12)
    ]
    assert [symptom.min_gain_factor for symptom in factors] == [0.5, 2.0]


def test_extreme_probabilities_are_found_with_few_validation_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 6)).astype("f")
    y = (X[:, 0] + rng.normal(size=260) > 0).astype(int)
    found = md.diagnose(trained(md.mlp(128, 128, 2), X, y, loss="cross_entropy", epochs=100))
    assert found["overconfident"].evidence["temperature"] > 2.0


@pytest.mark.parametrize(("own", "is_covered"), [([1], True), ([1, 4], False), ([], True)])
def test_columns_that_are_not_scaled_are_covered_by_heavy_tails_of_the_same_columns(own, is_covered):
    candidate = Candidate(SICKNESSES["unscaled_inputs"], Symptom({}, columns=own), ())
    assert _is_covered(candidate, {"heavy_tails"}, {"heavy_tails": {1, 2}}) == is_covered


def test_shared_rows_are_left_out_of_the_comparison(product):
    X, y = product
    trainer = trained(md.mlp(8, 1), X[:300], y[:300], validation=(X[250:], y[250:]))
    exam = record_of(trainer).exam(Clock(10))
    symptom = SICKNESSES["split_duplicates"].symptom(exam)
    assert symptom.rows.tolist() == [True] * 50 + [False] * 100
    assert len(on_new_rows(exam.problem, symptom.rows, 40).held) == 100
    inside = on_new_rows(exam.problem, np.ones(150, dtype=bool), 40)
    assert len(inside.train) + len(inside.held) == 300


def test_batch_norm_that_averages_too_slowly_gets_the_default_speed(product):
    net = md.mlp(32, 32, 1, norm=md.BatchNorm(momentum=0.0003))
    found = md.diagnose(trained(net, *product))
    assert found.names[0] == "batch_norm_mismatch"
    assert "default speed" in found.findings[0].remedies[0].text


def test_a_net_that_is_far_worse_than_a_constant_after_it_was_better_is_overfitted_by_any_standard():
    """The best epoch is hardly better than a constant, so that stopping there gains next to nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6)).astype("f")
    y = (0.25 * X[:, 0] + rng.normal(size=900) > 0).astype(int)
    found = md.diagnose(trained(md.mlp(128, 128, 2), X, y, loss="cross_entropy", epochs=100))
    assert "overfitting" in alarms(found)


@pytest.mark.parametrize("metric", [None, "val_loss", "val_accuracy"])
def test_schedules_that_watch_the_validation_set_are_repeated(product, metric):
    X, y = product
    plateau = schedules.ReduceOnPlateau(
        0.3, patience=6, metric=metric, mode="max" if metric == "val_accuracy" else "min"
    )
    trainer = md.Trainer(md.mlp(8, 2), loss="cross_entropy", optimizer=md.Adam(3e-3), schedule=plateau, threads=1)
    trainer.fit(X, (y > 0).astype(int), epochs=8, batch_size=32, validation=0.25, doctor=True, metrics="accuracy")
    exam = record_of(trainer).exam(Clock(10))
    assert [again.failure for _, again in exam.before_on_folds] == ["", ""]
    assert exam.run(exam.setup).failure == ""


@pytest.mark.parametrize(("decay", "factor"), [(0.1, 1.5), (3.0, 1.0)])
def test_a_usual_decay_that_keeps_the_weights_needs_more_harm(product, decay, factor):
    trainer = md.Trainer(md.mlp(16, 1), optimizer=md.AdamW(3e-3, weight_decay=decay), threads=1)
    trainer.fit(*product, epochs=10, batch_size=32, doctor=True)
    assert SICKNESSES["excessive_decay"].symptom(record_of(trainer).exam(Clock(10))).min_gain_factor == factor


@pytest.mark.parametrize(("rows", "confidence"), [(15, 0.7), (60, 0.8)])
def test_the_curve_of_very_few_validation_rows_is_not_a_sure_symptom(rows, confidence):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 6)).astype("f")
    y = (X[:, 0] + rng.normal(size=260)).astype("f")
    trainer = trained(md.mlp(128, 128, 1), X[rows:], y[rows:], epochs=100, validation=(X[:rows], y[:rows]))
    assert SICKNESSES["overfitting"].symptom(record_of(trainer).exam(Clock(10))).confidence == confidence
