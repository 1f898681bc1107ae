"""Diagnoses of runs: sick ones get the right name, healthy ones none, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DivergenceError, FileFormatError


def diagnosed(net, data, rate=3e-3, loss="mse", max_seconds=10, **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), threads=1)
    trainer.fit(*data, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return md.diagnose(trainer, max_seconds=max_seconds)


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


def test_shared_rows_that_inflate_the_score_are_an_error(product):
    """A net that knows noisy rows by heart is far ahead of a linear model on shared rows only."""
    rng = np.random.default_rng(0)
    X, y = product[0][:150], rng.normal(size=150).astype("float32")
    validation = (
        np.concatenate([X[:50], rng.normal(size=(50, 3)).astype("float32")]),
        np.concatenate([y[:50], rng.normal(size=50).astype("float32")]),
    )
    found = diagnosed(md.mlp(64, 64, 1), (X, y), validation=validation, epochs=150, max_seconds=1)["split_duplicates"]
    assert found.severity == "error"
    assert found.evidence["fraction of validation rows in the training set"] == 0.5
    assert found.evidence["part of the score that is due to them"] > 0.1
    assert found.remedies[0].options == "--drop-duplicates"


def test_shared_rows_that_do_no_harm_are_information(product):
    X, y = product
    validation = np.concatenate([X[:20], X[300:]]), np.concatenate([y[:20], y[300:]])
    found = diagnosed(md.mlp(32, 32, 1), (X[:300], y[:300]), validation=validation)
    assert found["split_duplicates"].severity == "info"
    assert found.is_healthy


def test_rows_that_differ_in_the_target_or_in_a_category_are_not_shared(product):
    import polars as pl

    X, y = product
    found = diagnosed(md.mlp(32, 32, 1), (X[:300], y[:300]), validation=(X[:100], y[:100] + 0.01))
    assert "split_duplicates" not in found
    many = [f"town {k}" for k in range(20)]
    table = {f"x{j}": np.tile(X[:200, j], 2) for j in range(3)} | {"town": [many[k % 20] for k in range(200)] * 2}
    table["town"][200:] = table["town"][201:] + table["town"][200:201]
    halves = [pl.DataFrame(table)[part] for part in (slice(0, 200), slice(200, 400))]
    regressor = md.MLPRegressor(preset="auto", max_iter=5, random_state=0, callbacks=md.Doctor())
    regressor.fit(halves[0], y[:200], validation=(halves[1], y[:200]))
    assert "split_duplicates" not in md.diagnose(regressor, max_seconds=1)


def test_the_remedy_for_shared_rows_leaves_out_their_ids(product):
    """Rows with different ids are not equal, so that dropping repeated rows alone would do nothing."""
    import polars as pl

    X, y = product
    rows = np.r_[np.arange(300), np.arange(100)]
    table = pl.DataFrame({"row id": np.arange(400)} | {f"x{j}": X[rows, j] for j in range(3)})
    regressor = md.MLPRegressor(preset="auto", max_iter=5, random_state=0, callbacks=md.Doctor())
    regressor.fit(table[:300], y[:300], validation=(table[300:], y[:100]))
    found = md.diagnose(regressor, max_seconds=1)["split_duplicates"]
    assert found.remedies[0].options == "--drop-duplicates --ignore 'row id'"


def test_findings_of_an_estimator_name_the_columns_of_its_table():
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    table = pd.DataFrame({f"x{j}": rng.normal(size=300) for j in range(6)} | {"last, known later": y})
    table["last, known later"] += 0.01 * rng.normal(size=300)
    regressor = md.MLPRegressor(max_iter=100, random_state=0, callbacks=md.Doctor(), schedule="cosine")
    finding = md.diagnose(regressor.fit(table, y), max_seconds=1)["target_leak"]
    assert finding.where == "column 'last, known later'"
    assert finding.remedies[0].options == "--ignore 'last,, known later'"
    encoded = md.checkup(md.MLPRegressor(preset="auto", random_state=0), table, y, max_seconds=1)["target_leak"]
    assert encoded.where == "column 'last, known later'"
    without = md.diagnose(md.MLPRegressor(**regressor.get_params()).fit(table.to_numpy(), y), max_seconds=1)
    assert without["target_leak"].where == "column 6"


def test_a_class_is_named_as_in_the_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=3000) > 2.2, "rare", "usual")
    classifier = md.MLPClassifier((16,), max_iter=40, early_stopping=True, validation_fraction=0.3, random_state=0)
    found = md.diagnose(classifier.set_params(callbacks=md.Doctor()).fit(X, y), max_seconds=1)
    assert found["class_imbalance"].where == "class 'rare'"


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
    found = md.diagnose(clf.fit(X, y), max_seconds=1)
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


@pytest.mark.filterwarnings("ignore")
def test_a_table_of_categories_alone_is_examined():
    """The net has one input, which is a dict; there is no linear model of it to compare with."""
    table = {"shop": [f"s{k % 30}" for k in range(300)]}
    clf = md.MLPClassifier(preset="auto", max_iter=3, hidden_layer_sizes=(4,), random_state=0, callbacks=md.Doctor())
    assert md.diagnose(clf.fit(table, [k % 2 for k in range(300)])).findings is not None
