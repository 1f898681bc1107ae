"""scikit-learn: ``MLPClassifier`` and ``MLPRegressor``, one ``partial_fit`` per epoch."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from workloads import Array, Workload

from peers import CannotError


def estimator(workload: Workload, shuffle: bool) -> MLPClassifier | MLPRegressor:
    """An estimator with the initial weights of the workload and a new optimizer."""
    if workload.batch_norm or workload.dropout:
        raise CannotError("batch norm and dropout are not supported")
    kind = MLPRegressor if workload.loss == "mse" else MLPClassifier
    model = kind(
        hidden_layer_sizes=workload.widths[1:-1],
        activation=workload.activation,
        solver=workload.optimizer,
        alpha=0.0,
        batch_size=workload.batch,
        learning_rate_init=workload.rate,
        shuffle=shuffle,
        momentum=0.0,
        nesterovs_momentum=False,
        random_state=0,
    )
    X, y = workload.data()
    y = y.squeeze()
    options = {} if workload.loss == "mse" else {"classes": np.arange(workload.widths[-1])}
    model.partial_fit(X[: workload.batch], y[: workload.batch], **options)
    for position, (W, b) in enumerate(workload.start()):
        single = model.coefs_[position].shape[1] == 1 and W.shape[1] == 2
        model.coefs_[position][...] = W[:, 1:] - W[:, :1] if single else W
        model.intercepts_[position][...] = b[1:] - b[:1] if single else b
    del model._optimizer
    return model


def differs(workload: Workload) -> str:
    """The reason why its losses differ from those of the others, or an empty string."""
    two = workload.loss == "cross_entropy" and workload.widths[-1] == 2
    return "one logistic output for two classes" if two else ""


def train(workload: Workload, threads: int, shuffle: bool = True) -> Callable[[int], float]:
    warnings.simplefilter("ignore")
    model = estimator(workload, shuffle)
    X, y = workload.data()
    y = y.squeeze()
    scale = 2.0 if workload.loss == "mse" else 1.0  # its squared error has a factor 1/2

    def epochs(count: int) -> float:
        for _ in range(count):
            model.partial_fit(X, y)
        return float(scale * model.loss_)

    return epochs


def predict(workload: Workload, threads: int) -> Callable[[Array], Array]:
    return estimator(workload, shuffle=False).predict_proba


TRAINERS = {"sklearn": train}
PREDICTORS = {"sklearn": predict}
