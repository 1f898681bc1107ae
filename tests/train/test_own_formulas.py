"""Activation, loss and optimizer of one's own, each three lines of NumPy: they train, and are saved as graphs."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline import container


def bent(x):
    rising = np.maximum(x, 0.0)
    falling = np.minimum(x, 0.0)
    return rising + 0.1 * np.sin(falling)


def surprise(z, y):
    z = z - np.max(z, axis=1, keepdims=True)
    chosen = np.take_along_axis(z, y[:, None], axis=1)[:, 0]
    return np.log(np.sum(np.exp(z), axis=1)) - chosen


def rule(w, g, m, v, *, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    step = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w - lr * step, m, v


def own(*widths, rate):
    return md.Trainer(
        md.mlp(*widths, activation=bent), loss=surprise, optimizer=md.optim.as_optimizer(rule, learning_rate=rate)
    )


def loaded(path):
    """A trainer made from what a checkpoint holds, without any of the functions."""
    setting = container.read(path, kind="checkpoint")[1]["setting"]  # numbers, strings, lists and dicts
    recipe = setting["recipe"]
    return md.Trainer(md.nn.Layer.from_dict(setting["net"]), loss=recipe["loss"], optimizer=recipe["optimizer"])


def check_files(trainer, X, y, tmp_path, widths, *, rate, epochs, **options):
    """The model, and the run in its middle, come back from files and go on as they would have."""
    md.save(trainer.model, tmp_path / "model")
    np.testing.assert_array_equal(md.load(tmp_path / "model")(X), trainer.model(X))
    own(*widths, rate=rate).fit(X, y, epochs=epochs // 2, checkpoint=tmp_path / "run", **options)
    resumed = loaded(tmp_path / "run")
    resumed.fit(X, y, epochs=epochs, resume=tmp_path / "run", **options)
    np.testing.assert_array_equal(resumed.model.params.flat, trainer.model.params.flat)


def test_they_learn_xor(tmp_path):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    trainer = own(8, 2, rate=0.05)
    trainer.fit(X, y, epochs=200, batch_size=4)
    assert trainer.outputs(X).argmax(axis=1).tolist() == [0, 1, 1, 0]
    check_files(trainer, X, y, tmp_path, (8, 2), rate=0.05, epochs=200, batch_size=4)


def test_they_learn_the_digits_of_mnist(data_dir, tmp_path):
    with np.load(data_dir / "image" / "mnist.npz") as file:
        X, y = file["x_train"][:8000].reshape(-1, 784) / np.float32(255), file["y_train"].astype(np.int64)
    train, test = slice(0, 6000), slice(6000, 8000)
    trainer = own(64, 10, rate=2e-3)
    trainer.fit(X[train], y[train], epochs=4)
    built_in = md.Trainer(md.mlp(64, 10), loss="cross_entropy", optimizer=md.Adam(2e-3))
    built_in.fit(X[train], y[train], epochs=4)
    accuracy, theirs = ((t.outputs(X[test]).argmax(axis=1) == y[test]).mean() for t in (trainer, built_in))
    assert accuracy > 0.9
    assert accuracy == pytest.approx(theirs, abs=0.02)
    check_files(trainer, X[train], y[train], tmp_path, (64, 10), rate=2e-3, epochs=4)
