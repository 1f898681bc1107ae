"""Monte Carlo dropout: predictions of nets that are thinned by dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from madaline.errors import ConfigError
from madaline.estimators.recipe import seed_of
from madaline.estimators.tables import encoded
from madaline.functional.model import Model
from madaline.kernels.mapped import check_files
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.norm import BatchNorm
from madaline.nn.network import build
from madaline.train.data import is_sparse

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs

Array = np.ndarray[Any, Any]


class ThinnedNets:
    """Mixin for estimators with Monte Carlo dropout; they define ``_one_sample``, a prediction from raw outputs."""

    model_: Model
    table_plan_: Any

    def _one_sample(self, outputs: Array) -> Array:
        raise NotImplementedError

    def predict_samples(
        self, X: Inputs, n_samples: int = 100, random_state: int | np.random.RandomState | None = None
    ) -> Array:
        """Predictions of nets thinned by dropout, as in training. Their spread measures uncertainty.

        Monte Carlo dropout: Gal & Ghahramani 2016. Requires a net that was trained with ``dropout``.

        Parameters
        ----------
        X
            See ``predict``.
        n_samples : int
            Number of thinned nets.
        random_state : int, RandomState or None
            Random seed of the masks.

        Returns
        -------
        array
            Predictions of shape (n_samples, n) for one target, (n_samples, n, n_targets) for several, or, for a
            classifier, probabilities of shape (n_samples, n, n_classes).
        """
        if isinstance(n_samples, bool) or not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
            raise ConfigError(f"n_samples={n_samples!r} must be a whole number of at least 1.")
        return np.stack([self._one_sample(outputs) for outputs in self._thinned_outputs(X, n_samples, random_state)])

    def _thinned_outputs(self, X: Inputs, n_masks: int, random_state: int | np.random.RandomState | None) -> Array:
        check_is_fitted(self, "model_")
        if "table_plan_" in self.__dict__:
            X = encoded(self.table_plan_, X)
        else:
            check_files(X)
            X = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
        return thinned_outputs(self.model_, X, n_masks=n_masks, seed=seed_of(check_random_state(random_state)))


def thinned_outputs(model: Model, X: Any, *, n_masks: int, seed: int) -> Array:
    """The raw outputs with dropout as in training, (n_masks, n, outputs); each row has its own masks.

    Batch norms use their running statistics. Gal & Ghahramani 2016, section 4.

    Raises
    ------
    ConfigError
        If the net has no dropout.
    """
    rows = model.network.rows
    if not any(isinstance(row.layer, Dropout) and row.layer.p > 0.0 for row in rows):
        raise ConfigError("The net has no dropout, so all samples would be the same. Train it with dropout=0.1.")
    norms = [row.path for row in rows if isinstance(row.layer, BatchNorm)]  # frozen ones are as in a trained net
    network = build(model.net, model.network.inputs, dtype=model.network.dtype, freeze=(*model.network.freeze, *norms))
    thinned = Model(network, np.empty_like(model.params.flat), model.state.flat)
    for path in model.params:
        thinned.params[path] = model.params[path]
    X = X.toarray() if is_sparse(X) else X
    return np.stack([thinned(X, train=True, seed=seed, step=step) for step in range(n_masks)])
