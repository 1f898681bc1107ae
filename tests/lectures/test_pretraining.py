"""Layer-wise pre-training, as deep nets were trained before 2010. Lecture row N15."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

import madaline as md

WIDTHS = (32, 32, 32, 32)


def test_pre_trained_layers_let_a_deep_sigmoid_net_with_small_weights_learn():  # N15
    """From small random weights it stays at guessing; after each layer has learned to copy its input, it learns."""
    X, y = load_digits(return_X_y=True)
    X, y = (X[:600] / 16.0).astype(np.float32), y[:600]
    small = md.nn.initializers.Normal(0.01)
    net = md.mlp(*WIDTHS, 10, activation="sigmoid", init=small)
    models = {"random": net.init(X), "pre-trained": net.init(X)}
    inputs = X
    for layer, width in enumerate(WIDTHS):
        autoencoder = md.Trainer(
            md.mlp(width, inputs.shape[1], activation="sigmoid", init=small), optimizer=md.Adam(0.01)
        )
        history = autoencoder.fit(inputs, epochs=40)
        assert history["loss"][-1] < history["loss"][0]
        for name in ("W", "b"):
            models["pre-trained"].params[f"{2 * layer}.{name}"][...] = autoencoder.model.params[f"0.{name}"]
        inputs = autoencoder.model.activations(inputs)["1"]
    np.testing.assert_allclose(models["pre-trained"].activations(X)["7"], inputs, rtol=1e-4, atol=1e-5)
    losses = {}
    for name, model in models.items():
        trainer = md.Trainer(model, loss="cross_entropy", optimizer=md.SGD(0.1, momentum=0.9))
        losses[name] = trainer.fit(X, y, epochs=40, batch_size=30)["loss"][-1]
    assert losses["random"] > 0.9 * np.log(10)
    assert losses["pre-trained"] < 0.5 * np.log(10)
