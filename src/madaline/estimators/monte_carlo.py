"""Predictions of thinned nets: what dropout leaves of a net, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.norm import BatchNorm
from madaline.nn.network import build
from madaline.train.data import is_sparse


def thinned_outputs(model: Model, X: Any, *, n_masks: int, seed: int) -> np.ndarray[Any, Any]:
    """The raw outputs with units dropped as in training, (n_masks, n, outputs); each row has masks of its own.

    Batch norms use their running statistics. Gal & Ghahramani 2016, section 4.

    Raises
    ------
    ConfigError
        If the net drops nothing.
    """
    rows = model.network.rows
    if not any(isinstance(row.layer, Dropout) and row.layer.p > 0.0 for row in rows):
        raise ConfigError("The net drops no units, so that all samples would be the same. Train it with dropout=0.1.")
    norms = [row.path for row in rows if isinstance(row.layer, BatchNorm)]  # frozen ones are as in a trained net
    network = build(model.net, model.network.inputs, dtype=model.network.dtype, freeze=(*model.network.freeze, *norms))
    thinned = Model(network, np.empty_like(model.params.flat), model.state.flat)
    for path in model.params:
        thinned.params[path] = model.params[path]
    X = X.toarray() if is_sparse(X) else X
    return np.stack([thinned(X, train=True, seed=seed, step=step) for step in range(n_masks)])
