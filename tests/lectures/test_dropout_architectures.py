"""The dropout paper's figure 4: dropout lowers the test error of nets of any shape. Lecture row D8.

The example ``dropout_architectures`` of the gallery keeps the whole measurement; here are fewer rows and units.
"""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


@pytest.fixture(scope="module")
def data(data_dir):
    """Few rows of MNIST to learn from, more to judge by."""
    with np.load(data_dir / "image" / "mnist.npz") as file:
        parts = [
            (file["x_train"][:1000], file["y_train"][:1000]),
            (file["x_test"][5000:7000], file["y_test"][5000:7000]),
        ]
    return [(X.reshape(len(X), -1).astype(np.float32) / 255, y.astype(np.int64)) for X, y in parts]


def errors(data, *, dropout, steps, every):
    """Test errors at regular intervals; the drop probabilities are those of the paper."""
    net = md.mlp(256, 256, 10, dropout=0.5 * dropout, input_dropout=0.2 * dropout)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(5e-4))
    history = trainer.fit(
        *data[0],
        epochs=steps // every,
        batch_size=100,
        sampler=lambda n_rows, rng: rng.integers(0, n_rows, every * 100),
        validation=data[1],
        metrics="accuracy",
    )
    return 1.0 - np.array(history["val_accuracy"])


def test_dropout_lowers_the_test_error(data):  # D8
    without, with_ = (errors(data, dropout=dropout, steps=1050, every=150) for dropout in (False, True))
    assert with_[-3:].mean() < without[-3:].mean() - 0.003


def test_dropout_learns_less_from_the_first_steps(data):  # D8
    without, with_ = (errors(data, dropout=dropout, steps=30, every=30)[0] for dropout in (False, True))
    assert with_ > without
