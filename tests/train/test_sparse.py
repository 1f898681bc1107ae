"""Embeddings whose rows are updated only when a mini-batch uses them."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError

RNG = np.random.default_rng(0)
CATEGORIES = RNG.zipf(1.3, size=(400, 3)).clip(max=4999)
NUMBERS = RNG.normal(size=(400, 4)).astype("float32")
X = {"categories": CATEGORIES, "numbers": NUMBERS}
Y = (NUMBERS[:, :1] + (CATEGORIES[:, :1] == 1)).astype("float32")


def net(*, sparse=True, **options):
    table = md.Embedding(5000, 4, sparse=sparse, init=md.nn.initializers.Normal(0.1))
    branches = md.Parallel(categories=table, numbers=md.nn.Identity())
    return md.Sequential(branches, md.Concat(), md.Linear(8), md.BatchNorm(), "relu", md.Dropout(0.2), md.Linear(1))


def trained(*, sparse=True, optimizer="adam", trainer=None, **options):
    found = md.Trainer(net(sparse=sparse), optimizer=optimizer, seed=1, **(trainer or {}))
    found.fit(X, Y, **{"epochs": 3, "batch_size": 32, "validation": 0.2} | options)
    return found


@pytest.mark.parametrize("optimizer", [md.SGD(0.05), md.optim.Adagrad(0.05)])
def test_without_moving_averages_the_step_is_that_of_the_whole_table(optimizer):
    found, expected = (trained(optimizer=optimizer, sparse=sparse) for sparse in (True, False))
    np.testing.assert_allclose(found.model.params.flat, expected.model.params.flat, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.model.state.flat, expected.model.state.flat, rtol=1e-5)
    np.testing.assert_allclose(found.history["val_loss"], expected.history["val_loss"], rtol=1e-5)
    np.testing.assert_allclose(found.history["loss"], expected.history["loss"], rtol=1e-5)


def test_rows_that_no_batch_uses_stay_as_they_are():
    start = md.Trainer(net(), seed=1)
    start.fit(X, Y, epochs=1, batch_size=32, max_seconds=0.0)
    found = trained(optimizer=md.Adam(1e-2)).model.params["0.categories.W"]
    unused = np.setdiff1d(np.arange(5000), CATEGORIES)
    first = net().init(X, seed=1).params["0.categories.W"]
    np.testing.assert_array_equal(found[unused], first[unused])
    assert (found[np.unique(CATEGORIES[:200])] != first[np.unique(CATEGORIES[:200])]).any(axis=1).mean() > 0.5


def test_adam_updates_the_averages_of_a_row_only_when_it_is_used():
    """By hand, for one table and a linear net: a row that occurs in every third step."""
    table = md.Embedding(3, 1, sparse=True, init="zeros")
    trainer = md.Trainer(table, loss="mse", optimizer=md.Adam(0.1))
    x, y = np.array([0, 1, 1, 0, 1, 1]), np.full((6, 1), 2.0, "float32")
    trainer.fit(x, y, epochs=1, batch_size=1, shuffle=False)
    w = np.zeros(3)
    m, v = np.zeros(3), np.zeros(3)
    for t, row in enumerate(x, start=1):
        g = 2 * (w[row] - 2.0)
        m[row], v[row] = 0.9 * m[row] + 0.1 * g, 0.999 * v[row] + 0.001 * g * g
        w[row] -= 0.1 * m[row] / (1 - 0.9**t) / (np.sqrt(v[row] / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(trainer.model.params["W"][:, 0], w, rtol=1e-5)


def test_a_resumed_run_ends_with_the_same_bits(tmp_path):
    class Stop(md.Callback):
        every = 1

        def on_steps(self, trainer, step, values):
            if step == 13:
                trainer.stop()

    path = tmp_path / "checkpoint"
    trained(checkpoint=path, callbacks=Stop())
    found, expected = trained(checkpoint=path, resume=path), trained()
    np.testing.assert_array_equal(found.model.params.flat, expected.model.params.flat)
    np.testing.assert_array_equal(found.history["loss"], expected.history["loss"])


def test_results_do_not_depend_on_threads_and_pieces():
    runs = [trained(trainer={"threads": threads}, record_steps=steps) for threads, steps in ((1, False), (2, True))]
    np.testing.assert_array_equal(runs[0].model.params.flat, runs[1].model.params.flat)


def test_replicas_train_sparse_tables():
    found = trained(replicas=2, local_steps=4, epochs=2)
    assert np.isfinite(found.history["val_loss"]).all()


@pytest.mark.parametrize("trainer", [{"regularizer": "l2"}, {"average": "ema"}, {"constraint": md.optim.MaxNorm(1.0)}])
def test_what_would_change_all_rows_is_refused(trainer):
    with pytest.raises(ConfigError, match=f"{next(iter(trainer))}=.* sparse=True"):
        trained(trainer=trainer)


def test_categories_must_be_an_input_of_their_own():
    shared = md.Sequential(
        md.Parallel(md.Embedding(5000, 2, sparse=True), md.Embedding(5000, 2)), md.Concat(), md.Linear(1)
    )
    with pytest.raises(ConfigError, match="no other layer uses"):
        md.Trainer(shared).fit(CATEGORIES, Y, epochs=1)


def test_the_model_is_saved_and_predicts(tmp_path):
    trainer = trained()
    md.save(trainer.model, tmp_path / "net.madaline")
    np.testing.assert_array_equal(md.load(tmp_path / "net.madaline")(X), trainer.model(X))
