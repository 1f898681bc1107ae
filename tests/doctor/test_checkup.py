"""Checkups before training."""

from __future__ import annotations

import numpy as np

import madaline as md


def test_a_sound_plan_is_healthy(product):
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(3e-3), threads=1)
    assert md.checkup(trainer, *product, epochs=60, batch_size=32).is_healthy


def test_nothing_is_trained(product):
    trainer = md.Trainer(md.mlp(8, 1), threads=1)
    md.checkup(trainer, *product, epochs=2)
    assert not hasattr(trainer, "model")
    reg = md.MLPRegressor("mse", 8, random_state=0)
    md.checkup(reg, *product, max_seconds=1)
    assert not hasattr(reg, "model_")
    assert reg.callbacks is None


def test_missing_values_are_named_with_their_place(product):
    X, y = product
    X = X.copy()
    X[17, 2] = np.nan
    finding = md.checkup(md.Trainer(md.mlp(8, 1)), X, y).findings[0]
    assert finding.name == "nonfinite_data"
    assert finding.where == "X, row 17, column 2"


def test_softmax_before_cross_entropy(ring):
    net = md.Sequential(md.Linear(32), "relu", md.Linear(2), "softmax")
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.01), threads=1)
    assert md.checkup(trainer, *ring, epochs=60, batch_size=32).names[0] == "loss_output_mismatch"


def test_targets_that_do_not_fit_are_a_finding_and_no_traceback(ring):
    X, y = ring
    found = md.checkup(md.Trainer(md.mlp(8, 2), loss="cross_entropy"), X, y + 5)
    assert found.names == ["loss_output_mismatch"]
    assert "must be a class from 0 to 1" in found.findings[0].where


def test_a_target_in_large_units(product):
    X, y = product
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(3e-3), threads=1)
    assert md.checkup(trainer, X, y * 1e4 + 1e5, epochs=40).names[0] == "unscaled_target"


def test_a_leak(product):
    X, y = product
    trainer = md.Trainer(md.mlp(32, 1), optimizer=md.Adam(3e-3), threads=1)
    found = md.checkup(trainer, np.column_stack([X, 2 * y + 1]), y, epochs=40)
    assert found.names[0] == "target_leak"
    assert found["target_leak"].where == "column 3"
