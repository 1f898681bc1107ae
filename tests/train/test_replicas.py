"""Data-parallel training in one process: rounds of local steps, and what is averaged."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.train import pace, replicas

RNG = np.random.default_rng(0)
X = RNG.normal(size=(203, 4))
Y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2])[:, None]
NET = md.Sequential(md.Linear(8), md.BatchNorm(), "relu", md.Dropout(0.1), md.Linear(1))


def fitted(trainer, **options):
    trainer.fit(X, Y, **{"epochs": 4, "batch_size": 10} | options)
    return trainer


def test_plain_sgd_that_is_averaged_after_every_step_is_sgd_with_larger_batches():
    """The mean of steps is the step of the mean gradient; the last batch has 203 - 160 = 43 rows, 11 or 10 each."""
    options = {"dtype": "float64", "optimizer": md.SGD(0.1)}
    net = md.mlp(8, 1)
    one = fitted(md.Trainer(net, **options), batch_size=40, drop_last=True)
    four = fitted(md.Trainer(net, **options), replicas=4, local_steps=1, drop_last=True)
    np.testing.assert_allclose(four.model.params.flat, one.model.params.flat, rtol=0, atol=1e-14)
    np.testing.assert_allclose(four.history["loss"], one.history["loss"], rtol=1e-12)


def test_a_round_is_the_mean_of_replicas_that_were_trained_apart():
    """Two replicas, one round: each sees every second row of every batch."""
    net = md.mlp(5, 1)
    start = net.init(X, seed=3)
    parts = []
    for rows in (np.arange(0, 40, 2), np.arange(1, 40, 2)):
        alone = md.Trainer(start, dtype="float32")
        alone.fit(X[rows], Y[rows], epochs=1, batch_size=5, shuffle=False)
        parts.append(alone.model.params.flat.astype(np.float64))
    both = md.Trainer(start, dtype="float32")
    both.fit(X[:40], Y[:40], epochs=1, batch_size=5, shuffle=False, replicas=2, local_steps=100)
    np.testing.assert_array_equal(both.model.params.flat, np.mean(parts, axis=0).astype(np.float32))


def test_the_outer_step_has_nesterovs_momentum():
    net = md.mlp(5, 1)
    start = net.init(X, seed=3)
    begin = start.params.flat.astype(np.float64)
    options = {"epochs": 1, "batch_size": 20, "shuffle": False, "replicas": 2, "local_steps": 100}
    mean, outer = md.Trainer(start), md.Trainer(start)
    mean.fit(X[:40], Y[:40], **options)
    outer.fit(X[:40], Y[:40], outer="nesterov", **options)
    change = begin - mean.model.params.flat
    np.testing.assert_allclose(outer.model.params.flat, begin - 0.7 * (change + 0.9 * change), rtol=0, atol=1e-6)


@pytest.mark.parametrize("outer", ["mean", "nesterov"])
def test_results_depend_neither_on_threads_nor_on_interruptions(tmp_path, outer):
    options = {"replicas": 3, "local_steps": 4, "outer": outer, "validation": 0.2, "epochs": 5}

    def new(threads=1):
        return md.Trainer(NET, optimizer="adam", schedule="cosine", average=md.optim.EMA(0.9), threads=threads)

    class Stop(md.Callback):
        every = 3

        def on_steps(self, trainer, step, values):
            if step == 9:  # in the middle of a round
                trainer.stop()

    whole = fitted(new(), **options)
    other = fitted(new(threads=2), **options)
    path = tmp_path / "checkpoint"
    stopped = fitted(new(), checkpoint=path, callbacks=Stop(), **options)
    assert stopped.history.stopped == "callback"
    resumed = fitted(new(), checkpoint=path, resume=path, **options)
    for found in (other, resumed):
        np.testing.assert_array_equal(found.model.params.flat, whole.model.params.flat)
        np.testing.assert_array_equal(found.model.state.flat, whole.model.state.flat)
        np.testing.assert_array_equal(found.history["val_loss"], whole.history["val_loss"])


def test_other_replicas_are_refused_when_a_run_is_resumed(tmp_path):
    path = tmp_path / "checkpoint"
    fitted(md.Trainer(NET), epochs=1, checkpoint=path, replicas=2)
    with pytest.raises(ConfigError, match="replicas"):
        fitted(md.Trainer(NET), epochs=2, resume=path, replicas=3)


def test_a_stream_is_trained_by_replicas():
    def chunks():
        for start in range(0, 200, 50):
            yield X[start : start + 50], Y[start : start + 50]

    trainer = md.Trainer(NET, optimizer="adam")
    history = trainer.fit(md.Stream(chunks, n_rows=200, buffer=80), epochs=6, batch_size=10, replicas=2, local_steps=3)
    assert history["loss"][-1] < history["loss"][0]


def test_replicas_learn():
    trainer = fitted(md.Trainer(md.mlp(16, 1), optimizer=md.Adam(0.01)), epochs=60, replicas=4, local_steps=10)
    assert trainer.history["loss"][-1] < 0.3 * np.var(Y)


def test_an_estimator_with_a_preset_is_trained_by_replicas():
    found = md.MLPRegressor(preset="auto", max_iter=4, random_state=0).fit(X, Y.ravel(), replicas=2, local_steps=3)
    again = md.MLPRegressor(preset="auto", max_iter=4, random_state=0).fit(X, Y.ravel(), replicas=2, local_steps=3)
    np.testing.assert_array_equal(found.predict(X), again.predict(X))


@pytest.mark.parametrize(
    ("settings", "options", "text"),
    [
        ({}, {"replicas": 0}, "replicas=0"),
        ({}, {"local_steps": 0}, "local_steps=0"),
        ({}, {"outer": "max"}, "outer='max' must be one of 'mean', 'nesterov'"),
        ({}, {"cluster": "auto"}, "needs replicas="),
        ({"optimizer": "lbfgs"}, {"replicas": 2}, "takes all rows at once"),
        ({}, {"replicas": 2, "probes": True}, "cannot be combined with probes"),
        ({}, {"replicas": 2, "sampler": lambda n, rng: np.arange(20)}, "number of steps"),
    ],
)
def test_what_replicas_cannot_do_is_one_sentence(settings, options, text):
    with pytest.raises(ConfigError, match=text):
        fitted(md.Trainer(md.mlp(4, 1), **settings), **options)


def test_a_replica_that_diverges_is_explained():
    wild = Y.copy()
    wild[7] = np.inf
    with pytest.raises(md.errors.MadalineError):
        md.Trainer(md.mlp(4, 1)).fit(X, wild, replicas=2)
    far = md.Trainer(md.mlp(4, 1), optimizer=md.SGD(1e30))
    with pytest.raises(md.errors.DivergenceError):
        far.fit(X, Y, epochs=20, batch_size=10, replicas=2, local_steps=3)


def test_a_clock_does_not_divide_rounds(monkeypatch):
    """Every piece of a round is sent to all nodes: with a time limit, there are as many as without one."""
    calls = []
    run = replicas.LocalReplicas.run

    def counted(self, data, works, *, threads):
        calls.append(len(works[0].batches))
        return run(self, data, works, threads=threads)

    monkeypatch.setattr(replicas.LocalReplicas, "run", counted)
    monkeypatch.setattr(pace, "TICK_SECONDS", 0.0)
    fitted(md.Trainer(NET), replicas=2, local_steps=4, epochs=2, max_seconds=1e6)
    assert calls == [4, 4, 2] * 2  # 203 rows in batches of 20; three rows are too few for a batch


def test_the_bar_shows_replicas_rounds_and_rows(capsys):
    fitted(md.Trainer(NET), replicas=2, local_steps=4, progress=True)
    shown = capsys.readouterr().err
    assert "2 replicas  round 12" in shown
    assert "rows/s" in shown
