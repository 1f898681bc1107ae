"""Judgements of runs with several faults, and of faults that other measures hide."""

from __future__ import annotations

import numpy as np

import madaline as md
from madaline.nn.initializers import Constant


def diagnosed(net, data, rate=3e-3, loss="mse", max_seconds=10, **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), threads=1)
    trainer.fit(*data, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return md.diagnose(trainer, max_seconds=max_seconds)


def alarms(found):
    return {finding.name for finding in found.alarms}


def test_faults_that_hide_each_other_are_both_found(ring):
    """Neither activations nor random weights help alone."""
    net = md.mlp(16, 16, 2, activation="identity", init=Constant(0.2))
    found = diagnosed(net, ring, loss="cross_entropy")
    assert {"missing_nonlinearity", "symmetric_weights"} <= alarms(found)


def test_what_is_wrong_by_any_standard_is_named_beside_a_fact(product):
    """A column that gives the target away leaves nothing to gain for the net, which is linear all the same."""
    X, y = product
    found = diagnosed(md.mlp(16, 1, activation="identity"), (np.column_stack([X, 3 * y]), y))
    assert found.names[0] == "target_leak"
    assert "missing_nonlinearity" in alarms(found)
    assert found["missing_nonlinearity"].gain == 0.0


def test_a_linear_net_for_a_linear_target_is_healthy():
    X = np.random.default_rng(0).normal(size=(400, 3)).astype("f")
    y = (X @ [1.0, -1.0, 0.5] + 0.3 * np.random.default_rng(1).normal(size=400)).astype("f")
    assert diagnosed(md.mlp(16, 1, activation="identity"), (X, y)).is_healthy


def test_a_shifted_validation_set_does_not_hide_what_can_be_learned(product):
    X, y = product
    found = diagnosed(md.mlp(32, 32, 1), (X[:300], y[:300]), validation=(0.2 * X[300:] - 2.0, y[300:]))
    assert found.names[0] == "split_shift"
    assert "no_signal" not in found


def test_shared_rows_outside_of_the_sample_are_seen():
    """The doctor looks at 2,000 rows; each validation row is somewhere among the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3)).astype("f")
    y = (X[:, 0] + 0.5 * rng.normal(size=6000)).astype("f")
    found = diagnosed(md.mlp(8, 1), (X, y), validation=(X[:200], y[:200]), epochs=3, max_seconds=1)
    assert found["split_duplicates"].evidence["fraction of validation rows in the training set"] == 1.0


def test_overfitting_is_not_taken_for_a_high_rate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 6)).astype("f")
    y = (X[:, 0] + rng.normal(size=240)).astype("f")
    found = diagnosed(md.mlp(128, 128, 1), (X, y), epochs=150)
    assert found.names[0] == "overfitting"
    assert "rate_too_high" not in alarms(found)


def test_batch_norm_with_tiny_batches(ring):
    found = diagnosed(md.mlp(16, 16, 2, norm="batch"), ring, loss="cross_entropy", batch_size=2, epochs=5)
    assert "batch_norm_mismatch" in alarms(found)


def test_healing_starts_again_where_no_remedy_suffices(product):
    """A net of two units that are never active, with a flat activation, is replaced as a whole."""
    net = md.Sequential(md.Linear(2, bias_init=Constant(-50.0)), "step", md.Linear(2), "step", md.Linear(1))
    sick = md.Trainer(net, optimizer=md.SGD(1e-7), threads=1)
    healing = md.heal(sick, *product, epochs=20, batch_size=64, max_seconds=3)
    assert healing.after < 0.5 * healing.before
    assert "usual settings" in healing.remedies[-1].text
