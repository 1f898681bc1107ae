"""What is chance and what is not: copied rows, a signal in extreme rows, small rises of a curve, few labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import madaline as md
from madaline.doctor.clock import Clock
from madaline.doctor.curves import overfits
from madaline.doctor.diagnose import record_of
from madaline.doctor.intercept import planned
from madaline.doctor.near_rows import is_copied
from madaline.doctor.sickness import SICKNESSES, all_sicknesses
from madaline.train.history import History
from madaline.train.stopping import EarlyStopping

all_sicknesses()
COUNTS = {
    "equal": np.ones(300),
    "unequal": 1.0 / np.arange(1, 301),
    "two kinds": np.r_[np.full(20, 30.0), np.ones(280)],
}


def exam_of(X, y, loss="mse", n_out=1, **arguments):
    trainer = md.Trainer(md.mlp(16, n_out), loss=loss, optimizer=md.Adam(3e-3), threads=1)
    given = {"epochs": 20, "batch_size": 32, "validation": 0.25} | arguments
    return planned(trainer, np.asarray(X, "f"), y, **given).exam(Clock(10))


def trained(net, X, y, loss="mse", rate=3e-3, **arguments):
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), threads=1)
    trainer.fit(X, y, doctor=True, **{"epochs": 60, "batch_size": 32, "validation": 0.25} | arguments)
    return trainer


@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize("n_rows", [100, 400, 1500])
def test_rows_that_are_drawn_by_chance_are_no_copies(kind, n_rows):
    p = COUNTS[kind] / COUNTS[kind].sum()
    assert not any(is_copied(np.random.default_rng(seed).choice(300, n_rows, p=p)) for seed in range(40))


@pytest.mark.parametrize("times", [np.full(200, 2), np.repeat([1, 4], 100), np.repeat([1, 3, 5], 60)])
def test_rows_that_are_there_equally_often_are_copies(times):
    assert is_copied(np.repeat(np.arange(len(times)), times))


@pytest.mark.parametrize("often", [1, 4])
def test_oversampling_before_the_split_is_found_in_a_table_of_few_values(often):
    """Half of the rows are there several times, as often in the training set as in the validation set."""
    X = np.stack(np.meshgrid(*[np.arange(3.0)] * 6), axis=-1).reshape(-1, 6)
    X = np.random.default_rng(0).permutation(X)[:500]
    rows = np.r_[np.arange(250), np.repeat(np.arange(250, 500), often)]
    rows = np.random.default_rng(1).permutation(rows)
    found = SICKNESSES["split_duplicates"].symptom(
        exam_of(X[rows], (X.sum(axis=1) > 6).astype(int)[rows], "cross_entropy", 2)
    )
    assert (found is not None) == (often > 1)


def test_a_rare_class_is_looked_for_again_once_the_net_learns():
    """With a sigmoid before the loss every row gets class 1, also those of the rare class."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.06).astype(int)
    X = (rng.normal(size=(2000, 6)) + 1.1 * y[:, None] * (np.arange(6) < 3)).astype("f")
    net = md.Sequential(*md.mlp(16, 1).layers, "sigmoid")
    found = md.diagnose(trained(net, X, y, "binary_cross_entropy", epochs=30))
    assert found.names[0] == "loss_output_mismatch"
    assert "class_imbalance" in {finding.name for finding in found.alarms}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_predicting_less_than_the_mean_of_a_target_with_huge_values_is_no_signal(seed):
    """A net that predicts the median seems better than the mean of the training rows if few huge values decide it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1300, 5))
    y = np.where(rng.random(1300) < 0.01, rng.lognormal(2, 1.2, 1300), 0.0)
    assert SICKNESSES["no_signal"].symptom(exam_of(X, (y / y.std()).astype("f"))) is not None


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.045])
def test_a_column_with_little_noise_is_the_target_whatever_the_others_say(noise):
    """The other columns say nothing that few rows show, so that it could be a law of one column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + 2.5 * rng.normal(size=600)
    leak = y + noise * y.std() * rng.normal(size=600)
    found = SICKNESSES["target_leak"].symptom(exam_of(np.column_stack([X, leak]), y.astype("f")))
    assert found.severity == (None if noise < 0.02 else "info")


@pytest.mark.parametrize(("scale", "mean", "is_certain"), [(77.0, 152.0, True), (9.0, 22.0, False)])
def test_a_target_is_far_from_the_outputs_by_its_mean_and_its_spread(product, scale, mean, is_certain):
    X, y = product
    symptom = SICKNESSES["unscaled_target"].symptom(exam_of(X, scale * y / y.std() + mean))
    assert bool(symptom is not None and symptom.is_certain) == is_certain


def test_wrong_labels_are_counted_on_all_splits_if_there_are_few_held_out_rows():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(3)
    X, y = X[:700] / 16.0, y[:700].copy()
    rows = rng.choice(700, 100, replace=False)
    y[rows] = (y[rows] + rng.integers(1, 10, 100)) % 10
    trainer = trained(md.mlp(48, 10), X.astype("f"), y, "cross_entropy", epochs=20, validation=0.1)
    found = md.diagnose(trainer)["label_errors"]
    assert found.evidence["rows"] > 10


def curve_of(top, train):
    """A validation loss that falls to 1 and rises, and a training loss that falls."""
    held = np.r_[np.linspace(3.0, 1.0, 8), np.linspace(1.0, top, 12)]
    return History({"loss": np.geomspace(3.0, train, 20).tolist(), "val_loss": held.tolist()})


def test_the_best_epoch_of_the_training_loss_may_be_overfitted():
    history = curve_of(2.0, 0.1)
    history.best_epoch = 20
    assert not overfits(history, EarlyStopping("val_loss"))
    assert overfits(history, EarlyStopping("loss"))


def test_overfitting_comes_before_a_few_shared_rows_that_it_learns_by_heart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6)).astype("f")
    y = (X[:, 0] + 0.7 * rng.normal(size=600)).astype("f")
    held = np.r_[np.arange(30), np.arange(400, 600)]
    net = md.mlp(100, 100, 1)
    found = md.diagnose(trained(net, X[:400], y[:400], epochs=120, validation=(X[held], y[held])))
    assert found.names[:2] == ["overfitting", "split_duplicates"]


def test_what_costs_more_comes_before_a_few_shared_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6)).astype("f")
    y = (2000 + 300 * X[:, 0] * X[:, 1]).astype("f")
    held = np.r_[np.arange(30), np.arange(400, 600)]
    found = md.diagnose(trained(md.mlp(32, 1), X[:400], y[:400], epochs=30, validation=(X[held], y[held])))
    assert found.names[0] == "unscaled_target"


@pytest.mark.parametrize(("top", "train", "confidence"), [(1.3, 0.5, 0.7), (1.3, 0.01, 0.8), (1.8, 0.5, 0.8)])
def test_a_small_rise_of_the_validation_loss_is_not_a_sure_symptom(product, top, train, confidence):
    """Its remedy picks the epoch by the same rows."""
    exam = record_of(trained(md.mlp(16, 1), *product, epochs=5)).exam(Clock(10))
    exam.run_history = curve_of(top, train)
    assert SICKNESSES["overfitting"].symptom(exam).confidence == confidence
