"""Fast predictions with little overhead."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.estimators.threads import allowed_threads
from madaline.functional.forward import FEW_ROWS
from madaline.functional.model import Model
from madaline.kernels.threads import get_threads
from madaline.losses.loss import Loss
from madaline.nn.layers.sequential import LayerLike, Sequential, as_layer
from madaline.nn.network import build
from madaline.train.data import input_sources, is_sparse
from madaline.train.inference import BatchedForward

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs

LAYERS: dict[str, LayerLike] = {"softmax": "softmax", "sigmoid": "sigmoid", "exp": np.exp}
"Output activations that can be added as a last layer of the net, and so run natively."


class Predictor:
    """Raw outputs and predictions of a model.

    Parameters
    ----------
    model : Model
        The model. Its arrays are read in every call.
    loss : Loss
        The loss, which defines the meaning of outputs.
    activation : str
        Name of the function that converts outputs to predictions, or ``"own"`` for ``predict`` of the loss.
    threads : int, optional
        Maximum number of threads.
    """

    def __init__(self, model: Model, loss: Loss, *, activation: str, threads: int | None = None) -> None:
        self.model, self.loss, self.activation, self.threads = model, loss, activation, threads
        self._finished: Model | None = None
        self._inference: BatchedForward | None = None
        spec = model.network.inputs
        self._width = spec.shape[0] if hasattr(spec, "shape") and len(spec.shape) == 1 else -1
        self._dtype = model.network.dtype

    def takes(self, X: Inputs) -> bool:
        """Whether X can be used without conversion: an array with the type of the net and finite numbers."""
        return (
            type(X) is np.ndarray
            and X.dtype is self._dtype
            and X.ndim == 2
            and X.shape[1] == self._width
            and len(X) > 0
            and _is_finite(X)
        )

    def __call__(self, X: Inputs) -> np.ndarray:
        """Predictions: values or probabilities, (n, outputs)."""
        if self.activation == "own":
            return np.asarray(self.loss.predict(self.outputs(X)))
        if self._finished is None:  # planned at the first call
            self._finished = _with_output_layer(self.model, self.activation)
        return self._run(self._finished, X)

    def outputs(self, X: Inputs) -> np.ndarray:
        """Raw outputs: logits, margins, logarithms."""
        return self._run(self.model, X)

    def _run(self, model: Model, X: Any) -> np.ndarray:
        is_sparse_matrix = is_sparse(X)
        n_rows = X.shape[0] if is_sparse_matrix or isinstance(X, np.ndarray) else len(next(iter(X.values())))
        threads = 1 if n_rows <= FEW_ROWS else allowed_threads(self.threads)
        if not is_sparse_matrix and (n_rows <= FEW_ROWS or threads == get_threads()):
            found: np.ndarray = model(X)
            return found
        if self._inference is None or self._inference.network is not model.network:
            self._inference = BatchedForward(model.network)
        sources = input_sources(model.network, X)
        arrays = model.params.flat, model.state.flat
        return np.asarray(self._inference(*arrays, sources, np.arange(n_rows), threads=threads))


def _with_output_layer(model: Model, activation: str) -> Model:
    """The model with its output activation as an additional layer, with the same arrays."""
    if activation not in LAYERS:
        return model
    inside = model.net.layers if isinstance(model.net, Sequential) else (model.net,)
    net = Sequential(*inside, as_layer(LAYERS[activation]))
    network = build(net, model.network.inputs, dtype=model.network.dtype, freeze=model.network.freeze)
    return Model(network, model.params.flat, model.state.flat)


def _is_finite(X: np.ndarray) -> bool:
    """Whether all numbers are certainly finite, according to their sum."""
    with np.errstate(all="ignore"):
        return math.isfinite(X.sum())
