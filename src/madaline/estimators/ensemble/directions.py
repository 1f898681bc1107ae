r"""The directions in which distances between rows count, from the gradients of trained nets.

The mean outer product of the gradients of a net, :math:`M = \mathrm{E}[\nabla f \nabla f^T]`, is large in directions in
which its outputs change (Radhakrishnan et al. 2024, "Mechanism for feature learning in neural networks and
backpropagation-free machine learning models", Science 383). Rows are multiplied by its square root, so that the plain
distance of the results is :math:`d(x, c)^2 = (x - c)^T M (x - c)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from madaline.data.encode import NUMBERS
from madaline.estimators.ensemble.members import EnsembleMember
from madaline.estimators.row_set import RowSet
from madaline.functional.gradient import grad
from madaline.train.data import is_sparse

Array = np.ndarray[Any, Any]

MOST_COLUMNS = 1_000
"With more columns of numbers there are no directions."
GRADIENT_ROWS = 1_000
"Number of rows at which each net is differentiated."
MEDIAN_ROWS = 500
"Number of rows whose distances give the median."
KEPT = 1.0 - 1e-4
"Part of the variation of distances that must be kept when directions are left out."


def numbers_of(X: Any) -> Array:
    """The columns of numbers of the inputs of a net; embedded categories are not used."""
    return np.asarray(X[NUMBERS] if isinstance(X, dict) else X)


def find_directions(
    nets: Sequence[EnsembleMember], rows: RowSet, average: str, *, radius: float, seed: int
) -> Array | None:
    """A matrix that maps the columns of numbers to a space in which plain distances count.

    Parameters
    ----------
    nets : sequence of EnsembleMember
        Nets of one shape.
    rows : RowSet
        Rows as inputs of the nets.
    average : str
        What an ensemble of the nets averages.
    radius : float
        This many median distances become 1.
    seed : int
        Random seed of samples.

    Returns
    -------
    array of shape (n_columns, n_directions) or None
        None for sparse rows, without or with too many numbers, and if outputs or most rows do not change.
    """
    if is_sparse(rows.X) or (isinstance(rows.X, dict) and NUMBERS not in rows.X):
        return None
    if not 0 < numbers_of(rows.X).shape[1] <= MOST_COLUMNS:
        return None
    total = np.zeros((1, 1))
    for net in nets:
        G = _gradients(net, rows, average, seed + net.task.number)
        total = total + G.T @ G / max(float(np.sum(G * G)), 1e-30)
    sizes, axes = np.linalg.eigh(total)
    scaled = axes * np.sqrt(np.maximum(sizes, 0.0))
    few = np.random.default_rng(seed).permutation(len(rows))[:MEDIAN_ROWS]
    Z = numbers_of(rows.X)[np.sort(few)] @ scaled
    spread = Z.var(axis=0)
    order = np.argsort(-spread)
    kept = order[: int(np.searchsorted(np.cumsum(spread[order]), KEPT * spread.sum())) + 1]
    median = float(np.median(pdist(Z[:, kept]))) if len(Z) > 1 else 0.0
    return (scaled[:, kept] / (radius * median)).astype(np.float32) if median > 1e-6 else None


def _gradients(net: EnsembleMember, rows: RowSet, average: str, seed: int) -> Array:
    """Gradients by numbers of random sums of the outputs.

    The outer products of random sums are on average the sums of those of the single outputs.
    """
    rng = np.random.default_rng(seed)
    inputs = rows.take(np.sort(rng.permutation(net.task.train)[:GRADIENT_ROWS])).X
    numbers = numbers_of(inputs).astype(net.model.network.dtype)
    signs = rng.choice([-1.0, 1.0], (len(numbers), net.outputs.shape[1]))
    if average == "softmax":  # a number that is added to all logits changes nothing
        signs -= signs.mean(axis=1, keepdims=True)
    signs = signs.astype(numbers.dtype)

    def combined(x: Any) -> Any:
        return np.sum(net.model(inputs | {NUMBERS: x} if isinstance(inputs, dict) else x) * signs)

    return np.asarray(grad(combined)(numbers), dtype=np.float64)
