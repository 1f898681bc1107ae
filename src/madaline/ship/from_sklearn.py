"""Models trained with scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.nn.layer import Layer
from madaline.nn.layers.activation import Activation
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.sequential import Sequential
from madaline.ship.foreign import model_with

ACTIVATIONS = {"identity": "identity", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}
"Our names for the activations of scikit-learn."


def from_sklearn(estimator: Any) -> Model:
    """Create a model with the weights of a fitted ``MLPClassifier`` or ``MLPRegressor`` of scikit-learn.

    Parameters
    ----------
    estimator : sklearn.neural_network.MLPClassifier or MLPRegressor
        Fitted.

    Returns
    -------
    Model
        Its outputs are those of the last layer, before the output function of scikit-learn. For a classifier,
        ``md.CrossEntropy().predict(model(X))`` returns the probabilities (``md.BinaryCrossEntropy()`` for two classes
        and for several labels). For a regressor with ``loss="poisson"``, ``md.losses.Poisson().predict`` returns the
        means.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> from sklearn.neural_network import MLPRegressor
    >>> X = np.linspace(-1, 1, 40).reshape(-1, 1)
    >>> theirs = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", tol=1.0).fit(X, X[:, 0] ** 2)
    >>> bool(np.allclose(md.ship.from_sklearn(theirs)(X)[:, 0], theirs.predict(X)))
    True
    """
    weights, biases = getattr(estimator, "coefs_", None), getattr(estimator, "intercepts_", None)
    if not weights or not biases:
        raise ConfigError(
            f"from_sklearn was given {type(estimator).__name__}, which has no coefs_ and intercepts_. Pass a fitted "
            "MLPClassifier or MLPRegressor of scikit-learn."
        )
    if estimator.activation not in ACTIVATIONS:
        raise ConfigError(f"activation={estimator.activation!r} is not supported. Supported: {', '.join(ACTIVATIONS)}.")
    layers: list[Layer] = []
    arrays: dict[str, np.ndarray] = {}
    for W, b in zip(weights, biases, strict=True):
        if layers:
            layers.append(Activation(ACTIVATIONS[estimator.activation]))
        arrays |= {f"{len(layers)}.W": W, f"{len(layers)}.b": b}
        layers.append(Linear(W.shape[1]))
    return model_with(Sequential(*layers), weights[0].shape[0], arrays)
