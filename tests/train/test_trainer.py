"""The trainer: what goes in and out, threads and callbacks."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, UnknownNameError
from small_trainer import small


def test_several_inputs_and_outputs_by_name(rng):
    net = md.Sequential(
        md.Parallel(a=md.Linear(4), b=md.Sequential(md.Linear(4), "tanh")),
        md.Concat(),
        md.Parallel(kind=md.Linear(3), size=md.Linear(1)),
    )
    X = {"b": rng.normal(size=(60, 2)), "a": rng.normal(size=(60, 3))}
    y = {"size": X["a"][:, :1], "kind": np.argmax(X["a"], axis=1)}
    trainer = md.Trainer(net, loss={"kind": "cross_entropy", "size": "mse"}, optimizer=md.Adam(0.02), dtype="float64")
    history = trainer.fit(X, y, epochs=60, batch_size=20, validation=0.2, sample_weight=np.ones(60))
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    found = trainer.predict(X)
    assert found["kind"].shape == (60, 3)
    np.testing.assert_allclose(found["kind"].sum(axis=1), 1.0)
    z = trainer.model(X)
    parts = md.CrossEntropy()(z["kind"], y["kind"]) + md.MSE()(z["size"], y["size"])
    assert trainer.evaluate(X, y)["loss"] == pytest.approx(parts, rel=1e-12)
    with pytest.raises(ConfigError, match="give a loss for each"):
        md.Trainer(net, loss="mse").fit(X, y)
    with pytest.raises(ConfigError, match="loss names the output 'other'"):
        md.Trainer(net, loss={"other": "mse"}).fit(X, y)


def test_a_tuple_of_inputs(rng):
    net = md.Sequential(md.Parallel(md.Linear(4), md.Linear(4)), md.Concat(), md.Linear(1))
    X = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
    trainer = md.Trainer(net)
    trainer.fit(X, X[0][:, :1], epochs=2)
    assert trainer.predict(X).shape == (30, 1)


def test_without_targets_a_net_learns_to_give_its_inputs_back(digits):
    X, _ = digits
    trainer = md.Trainer(md.mlp(16, 64), optimizer=md.Adam(0.01))
    history = trainer.fit(X, epochs=8, validation=0.2, metrics="mae")
    assert history["val_loss"][-1] < 0.6 * history["val_loss"][0]
    assert trainer.evaluate(X)["loss"] == pytest.approx(np.mean((trainer.predict(X) - X) ** 2), rel=1e-5)


@pytest.mark.parametrize("batch_size", [16, 300, None])
def test_the_result_does_not_depend_on_the_number_of_threads_or_on_the_run(digits, same, batch_size):
    X, y = digits
    net = md.Sequential(
        md.Linear(48), md.BatchNorm(), "relu", md.Residual(md.Linear(48), "swish"), md.Dropout(0.3), md.Linear(10)
    )
    found = []
    for threads in (1, 2, 4, 1):
        trainer = md.Trainer(net, loss="cross_entropy", threads=threads, clip_norm=1.0)
        trainer.fit(X, y, epochs=2, batch_size=batch_size, validation=0.2, metrics=["accuracy", "auc"])
        found.append(trainer)
    for trainer in found[1:]:
        same(trainer.model, found[0].model)
        for column in ("loss", "val_loss", "val_auc"):
            assert trainer.history[column].tolist() == found[0].history[column].tolist()


def test_another_seed_gives_another_run(digits, differs):
    X, y = digits
    one, other = (md.Trainer(md.mlp(8, 10), loss="cross_entropy", seed=seed) for seed in (0, 1))
    one.fit(X, y, epochs=1)
    other.fit(X, y, epochs=1)
    differs(one.model, other.model)


def test_several_threads_may_predict_at_once(digits):
    X, y = digits
    trainer = md.Trainer(md.mlp(32, 10), loss="cross_entropy")
    trainer.fit(X, y, epochs=1)
    expected = trainer.predict(X)
    found = [None] * 8

    def predict(k):
        found[k] = trainer.predict(X[k::8])

    threads = [threading.Thread(target=predict, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, part in enumerate(found):
        np.testing.assert_array_equal(part, expected[k::8])


def test_nothing_can_be_predicted_before_there_is_a_model():
    trainer = small()
    with pytest.raises(ConfigError, match="call fit first"):
        trainer.predict(np.zeros((2, 4)))
    with pytest.raises(ConfigError, match="call fit first"):
        _ = trainer.run
    with pytest.raises(ConfigError, match="net='relu' must be a layer"):
        md.Trainer("relu")
    with pytest.raises(UnknownNameError, match="cross_entropy"):
        small(loss="cros_entropy")


def test_a_callback_scales_the_rate_from_the_next_epoch_on(rows):
    X, y = rows
    trainer = small()
    history = trainer.fit(X, y, epochs=3, callbacks=lambda trainer, row: trainer.scale_rate(0.5 ** row["epoch"]))
    np.testing.assert_allclose(history["learning_rate"], [0.1, 0.05, 0.025])
    with pytest.raises(ConfigError, match=r"factor=-1.0 must be a number of at least 0"):
        trainer.scale_rate(-1.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_validation_rows_are_judged_alike_wherever_they_lie(threads):
    """Together in memory they are run as they are; in another order, type or number they are gathered."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)).astype("float32"), rng.normal(size=(500, 1)).astype("float32")

    def losses(held):
        trainer = md.Trainer(md.mlp(8, 1, dropout=0.2, norm="batch"), loss="mse", threads=threads)
        return trainer.fit(X, y, epochs=3, validation=(held, y))["val_loss"]

    together = losses(X)
    assert np.array_equal(losses(np.asfortranarray(X)), together)
    assert np.array_equal(losses(X.astype("float64")), together)
    trainer = md.Trainer(md.mlp(8, 1), loss="mse", threads=threads)
    last = trainer.fit(X, y, epochs=2, validation=(X, y))["val_loss"][-1]
    assert trainer.evaluate(X, y)["loss"] == pytest.approx(last, rel=1e-6)


def test_callbacks_see_the_model_the_history_and_the_progress(rows):
    X, y = rows
    trainer, seen = small(), []

    def look(training, row):
        seen.append((training.progress.epoch, training.history.epochs, training.epochs_done))
        assert training.model is trainer.model
        assert training.recipe is trainer.recipe

    trainer.fit(X, y, epochs=2, callbacks=look)
    assert seen == [(1, 1, 1.0), (2, 2, 2.0)]
