"""Diagnoses of runs: sick ones get the right name, healthy ones none, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DivergenceError, FileFormatError


def diagnosed(net, data, rate=3e-3, loss="mse", **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), threads=1)
    trainer.fit(*data, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return md.diagnose(trainer)


def test_a_sound_run_is_healthy(product):
    found = diagnosed(md.mlp(32, 32, 1), product)
    assert found.is_healthy
    assert str(found).startswith("Training looks healthy, because the loss on held-out rows is")


def test_a_sound_run_without_validation_set_is_healthy(ring):
    assert diagnosed(md.mlp(32, 2), ring, loss="cross_entropy", validation=None).is_healthy


@pytest.mark.parametrize(
    ("name", "net", "rate", "arguments"),
    [
        ("missing_nonlinearity", md.mlp(32, 32, 1, activation="identity"), 3e-3, {}),
        ("rate_too_low", md.mlp(32, 32, 1), 1e-5, {}),
        ("rate_too_high", md.mlp(32, 32, 1), 3.0, {}),
        ("symmetric_weights", md.mlp(32, 32, 1, init=md.nn.initializers.Constant(0.1)), 3e-3, {}),
        ("loss_output_mismatch", md.Sequential(md.Linear(32), "relu", md.Linear(1), "sigmoid"), 3e-3, {}),
        ("too_few_steps", md.mlp(32, 32, 1), 3e-3, {"batch_size": None, "epochs": 20}),
        ("underfitting", md.mlp(1, 1), 1e-2, {}),
    ],
)
def test_a_planted_fault_is_named_first(name, net, rate, arguments, product):
    found = diagnosed(net, product, rate, **arguments)
    assert found.names[0] == name
    finding = found[name]
    assert finding.evidence
    assert 0.5 < finding.confidence <= 1.0
    assert finding.remedies[0].gain > 0.05
    assert finding.remedies[0].python


def test_columns_of_different_size_are_named(product):
    X, y = product
    found = diagnosed(md.mlp(32, 32, 1), (X * np.array([1e3, 1.0, 1e-3], "float32"), y))
    assert "unscaled_inputs" in found
    assert "Standardize()" in found["unscaled_inputs"].remedies[0].python


def test_a_wrong_scaling_inside_of_the_net_is_named(product):
    net = md.Sequential(md.nn.Standardize(mean=[0.0] * 3, std=[1e6] * 3), *md.mlp(32, 32, 1).layers)
    found = diagnosed(net, product)
    assert found.names[0] == "unscaled_inputs"
    assert "Standardize()" in found["unscaled_inputs"].remedies[0].python
    assert "std=" not in found["unscaled_inputs"].remedies[0].python


def test_a_finding_explains_what_is_gone_with_its_remedy(product):
    found = diagnosed(md.mlp(32, 32, 1), product, 3.0)
    assert [finding.name for finding in found.alarms] == ["rate_too_high"]
    explained = [finding.name for finding in found.findings if finding.explained_by]
    assert list(found["rate_too_high"].explains) == explained
    assert explained


def test_rows_in_both_sets_are_a_fact(product):
    X, y = product
    found = diagnosed(md.mlp(32, 32, 1), (X, y), validation=(X[:100], y[:100]))
    assert found.names[0] == "split_duplicates"
    assert found["split_duplicates"].evidence["fraction of validation rows in the training set"] == 1.0


def test_two_faults_are_both_found(product):
    X, y = product
    found = diagnosed(md.mlp(32, 32, 1, activation="identity"), (X * 1000, y), rate=1e-3)
    assert {"missing_nonlinearity", "unscaled_inputs"} & set(found.names)


def test_after_an_error(product):
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.SGD(100.0), threads=1)
    with pytest.raises(DivergenceError):
        trainer.fit(*product, epochs=5)
    found = md.diagnose(trainer)
    assert {"nonfinite_loss", "rate_too_high"} <= set(found.names)


def test_an_estimator_with_a_doctor(ring):
    X, y = ring
    clf = md.MLPClassifier(
        32, learning_rate_init=1e-6, schedule="constant", max_iter=30, random_state=0, callbacks=md.Doctor()
    )
    found = md.diagnose(clf.fit(X, y))
    assert "rate_too_low" in found
    assert "set_params(learning_rate_init=" in found["rate_too_low"].remedies[0].python


def test_a_history_alone_says_less(product):
    trainer = md.Trainer(md.mlp(32, 1), threads=1)
    found = md.diagnose(trainer.fit(*product, epochs=5))
    assert found.is_healthy
    assert "only the history was given" in found.limits[0]


def test_the_doctor_changes_no_bit_of_training(product):
    def params(**arguments):
        trainer = md.Trainer(md.mlp(16, 1), threads=1)
        trainer.fit(*product, epochs=3, **arguments)
        return trainer.model.params.flat

    np.testing.assert_array_equal(params(doctor=True), params())


def test_the_doctor_watches_layers_and_units(product):
    trainer = md.Trainer(md.mlp(16, 1), threads=1)
    watched = trainer.fit(*product, epochs=60, batch_size=32, doctor=True).probes
    assert {"dead", "saturated", "gradient_norm", "update_ratio"} <= set(watched)
    assert np.isfinite(watched["dead"][watched["layer"] == "1"][-1])
    assert not trainer.fit(*product, epochs=3, callbacks=md.Doctor(layers=False)).probes.n_rows


def test_diagnosing_changes_nothing(product):
    trainer = md.Trainer(md.mlp(16, 1), optimizer=md.Adam(1e-5), threads=1)
    trainer.fit(*product, epochs=3, doctor=True)
    before, loss = trainer.model.params.flat.copy(), trainer.history["loss"].tolist()
    md.diagnose(trainer, max_seconds=1)
    np.testing.assert_array_equal(trainer.model.params.flat, before)
    assert trainer.history["loss"].tolist() == loss


def test_without_training_there_is_nothing_to_diagnose():
    with pytest.raises(ConfigError, match=r"call fit first, or use md\.checkup"):
        md.diagnose(md.Trainer(md.mlp(4, 1)))
    with pytest.raises(ConfigError, match=r"int has no history"):
        md.diagnose(3)


def test_a_folder_that_is_not_a_run(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no result\.json"):
        md.diagnose(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(FileFormatError, match="has no diagnosis"):
        md.diagnose(tmp_path)
