"""Layer-wise pre-training, as deep nets were trained before 2010. Lecture row N15."""

from __future__ import annotations

import numpy as np

import madaline as md


def test_pre_trained_layers_help_where_labels_are_few(rng):  # N15
    """Each layer learns to reproduce its input; the whole net is fine-tuned with 20 labels."""
    mixing = rng.normal(size=(2, 20))
    hidden = rng.normal(size=(1500, 2))
    X = np.tanh(hidden @ mixing + 0.1 * rng.normal(size=(1500, 20))).astype(np.float32)
    y = np.sin(2 * hidden[:, :1]).astype(np.float32)
    losses = {"random": [], "pre-trained": []}
    for seed in range(5):
        random = md.mlp(16, 8, 1, activation="tanh").init(X, seed=seed)
        trained = md.mlp(16, 8, 1, activation="tanh").init(X, seed=seed)
        inputs = X
        for layer, width in (("0", 16), ("2", 8)):
            autoencoder = md.Trainer(
                md.mlp(width, inputs.shape[1], activation="tanh"), optimizer=md.Adam(0.01), seed=seed
            )
            history = autoencoder.fit(inputs, epochs=20)
            assert history["loss"][-1] < 0.5 * history["loss"][0]
            for name in ("W", "b"):
                trained.params[f"{layer}.{name}"][...] = autoencoder.model.params[f"0.{name}"]
            inputs = autoencoder.model.activations(inputs)["1"]
        np.testing.assert_allclose(trained.activations(X)["3"], inputs, rtol=1e-5, atol=1e-6)
        for name, model in (("random", random), ("pre-trained", trained)):
            tuner = md.Trainer(model, optimizer=md.Adam(0.01), freeze=["0", "2"])
            tuner.fit(X[:20], y[:20], epochs=300, batch_size=None)
            losses[name].append(tuner.evaluate(X[20:], y[20:])["loss"])
    assert np.mean(losses["pre-trained"]) < np.mean(losses["random"])
