"""Averages of parameters, and the running statistics they need."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.train.statistics import refresh_statistics

NET = md.Sequential(
    md.nn.Standardize(), md.Linear(16), md.BatchNorm(momentum=0.3), "relu", md.BatchNorm(), md.Linear(10)
)


class Follows(md.Callback):
    """Keeps the parameters after every step."""

    every = 1

    def __init__(self):
        self.w = []

    def on_steps(self, trainer, step, values):
        self.w.append(trainer.run.arrays["w"].copy())


def test_an_exponential_average_is_what_the_model_shows(digits):
    X, y = digits
    trainer = md.Trainer(md.mlp(8, 10), loss="cross_entropy", average=md.optim.EMA(0.9), dtype="float64")
    follows = Follows()
    trainer.fit(X, y, epochs=1, callbacks=follows)
    average = trainer.net.init(X, dtype="float64").params.flat.copy()
    for w in follows.w:
        average = 0.9 * average + 0.1 * w
    np.testing.assert_allclose(trainer.model.params.flat, average, rtol=1e-12)
    assert trainer.evaluate(X, y)["loss"] == pytest.approx(trainer.evaluate(X, y)["loss"])
    plain = md.Trainer(md.mlp(8, 10), loss="cross_entropy", dtype="float64")
    plain.fit(X, y, epochs=1)
    np.testing.assert_array_equal(plain.model.params.flat, follows.w[-1])


def test_stochastic_weight_averaging_takes_the_statistics_anew(digits):
    X, y = digits
    trainer = md.Trainer(NET, loss="cross_entropy", average=md.optim.SWA(start=5, every=3), dtype="float64")
    follows = Follows()
    trainer.fit(X, y, epochs=2, batch_size=100, callbacks=follows)
    expected = np.mean([w for step, w in enumerate(follows.w, 1) if step > 5 and (step - 5) % 3 == 0], axis=0)
    np.testing.assert_allclose(trainer.model.params.flat, expected, rtol=1e-10)
    batches = trainer.run.source.batches(2)
    means = {path: [] for path in ("2", "4")}
    variances = {path: [] for path in means}
    for k in range(len(batches)):
        seen = trainer.model.activations(X[batches.part(k, k + 1).order], train=True)
        for path, before in (("2", "1"), ("4", "3")):
            means[path].append(seen[before].mean(axis=0))
            variances[path].append(seen[before].var(axis=0, ddof=1))
    for path, found in means.items():
        np.testing.assert_allclose(trainer.model.state[f"{path}.mean"], np.mean(found, axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trainer.model.state[f"{path}.variance"], np.mean(variances[path], axis=0), rtol=1e-9)
    start = NET.init(X, dtype="float64")
    np.testing.assert_array_equal(trainer.model.state["0.mean"], start.state["0.mean"])


def test_training_goes_on_from_the_parameters_and_not_from_their_average(digits):
    X, y = digits
    one, other = (md.Trainer(md.mlp(8, 10), loss="cross_entropy", average="ema") for _ in range(2))
    one.fit(X, y, epochs=2)
    other.fit(X, y, epochs=1)
    other.partial_fit(X, y)
    np.testing.assert_array_equal(one.model.params.flat, other.model.params.flat)


def test_over_a_stream_the_statistics_are_those_of_all_its_rows(digits, tmp_path, same):
    """Also where a run was killed between its last checkpoint and its end."""
    X, y = digits
    parts = [(X[start : start + 150], y[start : start + 150]) for start in range(0, len(y), 150)]

    def trainer():
        net = md.Sequential(md.Linear(8), md.BatchNorm(), "relu", md.Linear(10))
        return md.Trainer(net, loss="cross_entropy", average=md.optim.SWA())

    whole, resumed, array = trainer(), trainer(), trainer()
    options = {"epochs": 2, "batch_size": 50, "shuffle": False}
    whole.fit(md.Stream(parts, buffer=200), **options, checkpoint=tmp_path / "run")
    resumed.fit(md.Stream(parts, buffer=200), **options, resume=tmp_path / "run")
    array.fit(X, y, **options)
    same(resumed.model, whole.model)
    np.testing.assert_allclose(whole.model.state.flat, array.model.state.flat, rtol=1e-4, atol=1e-6)


def test_where_time_is_short_a_batch_is_enough(digits):
    """After Ctrl-C nobody waits for all the data."""
    X, y = digits
    trainer = md.Trainer(md.Sequential(md.BatchNorm(), md.Linear(10)), loss="cross_entropy", average=md.optim.SWA())
    trainer.fit(X, y, epochs=1, batch_size=100)
    refresh_statistics(trainer.run, max_seconds=0.0)
    batches = trainer.run.source.batches(trainer.run.progress.epoch)
    np.testing.assert_allclose(trainer.model.state["0.mean"], X[batches.part(0, 1).order].mean(axis=0), atol=1e-6)
    refresh_statistics(trainer.run)
    seen = [X[batches.part(k, k + 1).order].mean(axis=0) for k in range(len(batches))]
    np.testing.assert_allclose(trainer.model.state["0.mean"], np.mean(seen, axis=0), atol=1e-6)


def test_statistics_of_the_whole_training_set_are_exact(digits):  # N4
    """After training with small batches the running averages are noisy; recomputed, they are those of all rows."""
    X, y = digits
    trainer = md.Trainer(NET, loss="cross_entropy", dtype="float64")
    trainer.fit(X, y, epochs=1, batch_size=16)
    model, before = trainer.model, trainer.model.state.flat.copy()
    weights = model.params.flat.copy()
    md.train.recompute_statistics(model, X)
    seen = model.activations(X, train=True)
    for path, inputs in (("2", "1"), ("4", "3")):
        np.testing.assert_allclose(model.state[f"{path}.mean"], seen[inputs].mean(axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.state[f"{path}.variance"], seen[inputs].var(axis=0, ddof=1), rtol=1e-9)
    assert np.abs(model.state.flat - before).max() > 1e-3
    np.testing.assert_array_equal(model.params.flat, weights)
    np.testing.assert_array_equal(model.state["0.mean"], NET.init(X, dtype="float64").state["0.mean"])


def test_statistics_can_be_means_over_mini_batches(digits):  # N4
    X, _ = digits
    model = md.BatchNorm().init(X, dtype="float64")
    md.train.recompute_statistics(model, X, batch_size=100)
    parts = [X[start : start + 100] for start in range(0, len(X), 100)]
    np.testing.assert_allclose(model.state["mean"], np.mean([part.mean(axis=0) for part in parts], axis=0), atol=1e-9)
    plain = md.mlp(8, 10).init(X)
    md.train.recompute_statistics(plain, X)
    with pytest.raises(md.errors.ConfigError, match=r"X has 1 row\(s\); statistics need at least 2"):
        md.train.recompute_statistics(model, X[:1])
    with pytest.raises(md.errors.ConfigError, match="batch_size=1 must be"):
        md.train.recompute_statistics(model, X, batch_size=1)
