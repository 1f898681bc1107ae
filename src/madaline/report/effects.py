"""Permutation importance and partial dependence of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.report.findings import Dependence, Effect, Effects

Arrays = Mapping[str, np.ndarray]
"Arrays of rows, by the names of the net's inputs."

MAX_COLUMNS = 200
"Of a wider table, the columns most correlated with the predictions are tried."
MAX_ROWS, MIN_ROWS = 1000, 100
WORK = 1e11
"Approximate number of multiplications of all predictions together, which decides how many rows are used."
REPEATS, FEW_REPEATS, MANY_COLUMNS = 5, 2, 40
TOP = 6
"Columns whose partial dependence is computed."
DEPENDENCE_ROWS = 200


@dataclass(frozen=True)
class Feature:
    """Where a column of a table is among the input arrays of a net.

    Attributes
    ----------
    column : str
    name : str
        Name of the input.
    places : slice, optional
        The columns of the input that belong to it; by default all of them.
    values : array
        Values to try, as they are in the table: numbers, dates or texts.
    arrays : array
        The same values as inputs of the net, (n_values, ...).
    """

    column: str
    name: str
    places: slice | None
    values: np.ndarray
    arrays: np.ndarray

    def replaced(self, X: Arrays, values: Any) -> Arrays:
        """The rows with this column replaced by other values."""
        if self.places is None:
            return {**X, self.name: np.broadcast_to(values, X[self.name].shape)}
        changed = X[self.name].copy()
        changed[:, self.places] = values
        return {**X, self.name: changed}

    def of(self, X: Arrays) -> np.ndarray:
        """The values of this column."""
        return X[self.name] if self.places is None else X[self.name][:, self.places]


def find_effects(
    predict: Callable[[Arrays], np.ndarray],
    error: Callable[[np.ndarray, np.ndarray], float],
    X: Arrays,
    truth: np.ndarray,
    features: Sequence[Feature],
    *,
    error_name: str,
    n_params: int,
    seed: int = 0,
) -> Effects:
    r"""Permutation importance of columns, and partial dependence on the most important ones.

    Importance is :math:`E(y, f(X_{\pi})) - E(y, f(X))`, where in :math:`X_{\pi}` the values of the column are shuffled
    among the rows: Breiman 2001, section 10; Fisher, Rudin & Dominici 2019, eq. 3.3. Partial dependence
    is the mean over rows of :math:`f` with the same value of the column in all of them: Friedman 2001, eq. 53.

    Parameters
    ----------
    predict : callable
        From rows to predictions, (n, k).
    error : callable
        From targets and predictions to an error, the smaller the better.
    X, truth
        Test set.
    features : sequence of Feature
    error_name : str
    n_params : int
        Number of parameters of the net, which is about the cost of a row.
    seed : int
        Random seed of the shuffles and of the sample of rows.
    """
    rng = np.random.default_rng(seed)
    tried = min(len(features), MAX_COLUMNS)
    repeats = REPEATS if tried <= MANY_COLUMNS else FEW_REPEATS
    n_rows = int(np.clip(WORK / max(tried * repeats * n_params, 1), MIN_ROWS, MAX_ROWS))
    rows = rng.permutation(len(truth))[:n_rows]  # any first rows of a permutation are a random sample
    X, truth = {name: array[rows] for name, array in X.items()}, truth[rows]
    prediction = predict(X)
    base = error(truth, prediction)
    found = []
    for feature in _chosen(features, X, prediction):
        orders = [rng.permutation(len(rows)) for _ in range(repeats)]
        growth = [error(truth, predict(feature.replaced(X, feature.of(X)[order]))) - base for order in orders]
        found.append((float(np.mean(growth)), float(np.std(growth)), feature))
    found.sort(key=lambda each: -each[0])
    few = {name: array[:DEPENDENCE_ROWS] for name, array in X.items()}
    effects = [
        Effect(feature.column, mean, spread, _dependence(predict, few, feature) if place < TOP else None)
        for place, (mean, spread, feature) in enumerate(found)
    ]
    return Effects(error_name, effects, len(features), len(rows))


def _dependence(predict: Callable[[Arrays], np.ndarray], X: Arrays, feature: Feature) -> Dependence | None:
    if len(feature.values) < 2:
        return None
    means = [predict(feature.replaced(X, value)).mean(axis=0) for value in feature.arrays]
    return Dependence(feature.values, np.array(means))


def _chosen(features: Sequence[Feature], X: Arrays, prediction: np.ndarray) -> Iterator[Feature]:
    """The features to try: all, or those most correlated with the predictions."""
    if len(features) <= MAX_COLUMNS:
        yield from features
        return
    spread = _standardized(prediction)
    strength = [_together(_standardized(feature.of(X)), spread) for feature in features]
    for place in np.argsort(strength, kind="stable")[::-1][:MAX_COLUMNS]:
        yield features[place]


def _standardized(values: np.ndarray) -> np.ndarray:
    matrix = np.asarray(values, np.float64).reshape(len(values), -1)
    return np.asarray((matrix - matrix.mean(axis=0)) / np.maximum(matrix.std(axis=0), 1e-12))


def _together(x: np.ndarray, y: np.ndarray) -> float:
    """The largest correlation of a column of ``x`` with one of ``y``."""
    return float(np.max(np.abs(x.T @ y)) / len(x))
