"""Training that continues, and calls that are refused and change nothing."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, MadalineError
from small_trainer import small


def test_fine_tuning_starts_from_a_models_parameters_and_leaves_it_alone(digits, same):
    X, y = digits
    first = md.Trainer(md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Linear(10)), loss="cross_entropy")
    first.fit(X, y, epochs=3)
    before = copy.deepcopy(first.model)
    second = md.Trainer(first.model, loss="cross_entropy", optimizer=md.SGD(0.0))
    second.fit(X, y, epochs=1)
    np.testing.assert_array_equal(second.model.params.flat, before.params.flat)
    tuned = md.Trainer(first.model, loss="cross_entropy", freeze=["0"])
    assert tuned.fit(X, y, epochs=1)["loss"][0] < first.history["loss"][0]
    same(first.model, before)
    assert tuned.model.params["0.W"].tobytes() == before.params["0.W"].tobytes()
    assert (tuned.model.params["3.W"] != before.params["3.W"]).any()


def test_fit_starts_afresh_and_partial_fit_goes_on(digits, same):
    X, y = digits
    one, two, four = (md.Trainer(md.mlp(16, 10), loss="cross_entropy") for _ in range(3))
    one.fit(X, y, epochs=4)
    first = one.model.params.flat.copy()
    one.fit(X, y, epochs=4)
    np.testing.assert_array_equal(one.model.params.flat, first)
    two.fit(X, y, epochs=2)
    two.partial_fit(X, y, epochs=2)
    same(two.model, one.model)
    assert two.history["epoch"].tolist() == [1, 2, 3, 4]
    assert two.history["loss"].tolist() == one.history["loss"].tolist()
    for _ in range(4):
        four.partial_fit(X, y)
    same(four.model, one.model)


def test_steps_by_hand_are_those_of_an_epoch_in_order(rows, same):
    X, y = rows
    one, other = small(), small()
    one.fit(X, y, batch_size=10, epochs=1, shuffle=False, record_steps=True)
    losses = [other.step(X[i : i + 10], y[i : i + 10]) for i in range(0, 40, 10)]
    same(one.model, other.model)
    assert losses == one.history.steps["loss"].tolist()


def test_going_on_with_other_data_is_fine(rows):
    X, y = rows
    trainer = small()
    trainer.partial_fit(X[:10], y[:10])
    trainer.partial_fit(X[10:], y[10:], sample_weight=np.ones(30))
    trainer.partial_fit(X, np.eye(3)[y])
    assert trainer.history.epochs == 3


@pytest.mark.parametrize("average", [None, "ema"])
def test_a_trainer_can_be_copied_and_pickled_and_the_copy_goes_on_alike(digits, same, average):
    X, y = digits
    net = md.Sequential(md.Linear(8), md.BatchNorm(), "relu", md.Linear(10))
    trainer = md.Trainer(net, loss="cross_entropy", average=average, schedule=md.optim.schedules.ReduceOnPlateau())
    for twin in (copy.deepcopy(trainer), pickle.loads(pickle.dumps(trainer))):
        twin.fit(X, y, epochs=1)
    trainer.fit(X, y, epochs=2, metrics="accuracy")
    twins = copy.deepcopy(trainer), pickle.loads(pickle.dumps(trainer))
    before = trainer.model.params.flat.copy()
    for twin in twins:
        same(twin.model, trainer.model)
        assert twin.history["loss"].tolist() == trainer.history["loss"].tolist()
        np.testing.assert_array_equal(twin.predict(X[:5]), trainer.predict(X[:5]))
        assert twin.evaluate(X, y) == trainer.evaluate(X, y)
        twin.partial_fit(X, y)
    np.testing.assert_array_equal(trainer.model.params.flat, before)
    trainer.partial_fit(X, y)
    for twin in twins:
        same(twin.model, trainer.model)
    assert len(pickle.dumps(trainer)) < 200_000, "the data do not come along"


def test_a_trainer_that_let_go_of_its_data_trains_on(rows):
    X, y = rows
    kept, released = small(optimizer="adam"), small(optimizer="adam")
    for trainer in (kept, released):
        trainer.fit(X, y, epochs=2)
    released.release()
    with pytest.raises(ConfigError, match="no training yet"):
        _ = released.run
    for trainer in (kept, released):
        trainer.partial_fit(X, y)
    assert np.array_equal(kept.model.params.flat, released.model.params.flat)


def test_a_copy_of_a_trainer_goes_on_from_the_weights_its_model_is_given(rows):
    X, y = rows
    trainer = small(optimizer=md.SGD(0.0))
    trainer.fit(X, y, epochs=1)
    again = pickle.loads(pickle.dumps(trainer))
    again.model.params.flat[...] = 1.0
    again.partial_fit(X, y)
    assert (again.model.params.flat == 1.0).all()


def test_a_call_that_is_refused_leaves_the_trained_model_as_it_was(diabetes):
    X, y = diabetes
    trainer = md.Trainer(md.mlp(8, 1))
    trainer.fit(X, y, epochs=2, metrics="mae")
    before, epochs = trainer.predict(X), trainer.history.epochs
    for options in ({"validation": 1.5}, {"metrics": "none"}, {"sampler": "none"}, {"resume": "there is none"}):
        with pytest.raises((ValueError, FileNotFoundError)):
            trainer.fit(X, y, epochs=1, **options)
    with pytest.raises(ValueError, match="rows"):
        trainer.fit(X, y[:5], epochs=1)
    np.testing.assert_array_equal(trainer.predict(X), before)
    assert "mae" in trainer.evaluate(X, y)
    assert trainer.partial_fit(X, y).epochs == epochs + 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"class_weight": "none"},
        {"metrics": "top_k", "early_stopping": "val_loss"},
        {"probes": ["7"]},
        {"sample_weight": np.ones(3)},
        {"resume": "no such file"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_refused_fit_changes_nothing(rows, wrong):
    X, y = rows
    fresh, trained, kept = small(), small(), small()
    with pytest.raises((MadalineError, FileNotFoundError)):
        fresh.fit(X, y, **wrong)
    assert not hasattr(fresh, "model")
    with pytest.raises(ConfigError, match="no training yet"):
        _ = fresh.run
    for trainer in (trained, kept):
        trainer.fit(X, y, epochs=2)
    model, history, run = trained.model, trained.history, trained.run
    with pytest.raises((MadalineError, FileNotFoundError)):
        trained.fit(X, y, **wrong)
    assert trained.model is model
    assert trained.history is history
    assert trained.run is run
    for trainer in (trained, kept):
        trainer.partial_fit(X, y)
    assert np.array_equal(trained.model.params.flat, kept.model.params.flat)


def test_a_refused_partial_fit_changes_nothing(rows):
    X, y = rows
    fresh, trained, kept = small(), small(), small()
    with pytest.raises(MadalineError):
        fresh.partial_fit(X, y, sample_weight=np.ones(3))
    assert not hasattr(fresh, "model")
    for trainer in (trained, kept):
        trainer.fit(X, y, epochs=2)
    with pytest.raises(MadalineError):
        trained.partial_fit(X, y, sample_weight=np.ones(3))
    for trainer in (trained, kept):
        trainer.partial_fit(X, y)
    assert trained.history.epochs == kept.history.epochs == 3
    assert np.array_equal(trained.model.params.flat, kept.model.params.flat)
