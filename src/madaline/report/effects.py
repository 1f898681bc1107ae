"""What each column does for the predictions: how much it matters, and which way it pulls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.report.findings import Dependence, Effect, Effects

Arrays = Mapping[str, np.ndarray]
"Rows as a net takes them, by input."

MAX_COLUMNS = 200
"Of a wider table, the columns whose values go most with the predictions are tried."
MAX_ROWS, MIN_ROWS = 1000, 100
WORK = 1e11
"Multiplications for all that is tried together, about; it decides how many rows are taken."
REPEATS, FEW_REPEATS, MANY_COLUMNS = 5, 2, 40
TOP = 6
"Columns whose dependence is shown."
DEPENDENCE_ROWS = 200


@dataclass(frozen=True)
class Feature:
    """Where a column of a table is among the arrays that a net takes.

    Attributes
    ----------
    column : str
    name : str
        Of the input.
    places : slice, optional
        Of the input's columns; all of it unless told.
    values : array
        Values to try, in the table's own words: numbers, dates or texts.
    arrays : array
        The same as the net takes them, (n_values, ...).
    """

    column: str
    name: str
    places: slice | None
    values: np.ndarray
    arrays: np.ndarray

    def replaced(self, X: Arrays, values: Any) -> Arrays:
        """The rows with other values of this column."""
        if self.places is None:
            return {**X, self.name: np.broadcast_to(values, X[self.name].shape)}
        changed = X[self.name].copy()
        changed[:, self.places] = values
        return {**X, self.name: changed}

    def of(self, X: Arrays) -> np.ndarray:
        """The column's part of the rows."""
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
    r"""Permutation importance of columns, and partial dependence on those that matter most.

    Importance is :math:`E(y, f(X_{\pi})) - E(y, f(X))`, where :math:`X_{\pi}` has the column's values shuffled among
    the rows: Breiman 2001, section 10; Fisher, Rudin & Dominici 2019, eq. 3.3. Dependence is the mean over rows of
    :math:`f` with one value of the column in all of them: Friedman 2001, eq. 53.

    Parameters
    ----------
    predict : callable
        Predictions of rows, (n, k).
    error : callable
        Of truth and predictions, the smaller the better.
    X, truth
        Rows that training did not see.
    features : sequence of Feature
    error_name : str
    n_params : int
        Of the net: about what a row costs.
    seed : int
        Of the shuffles and of the rows that are taken.
    """
    rng = np.random.default_rng(seed)
    tried = min(len(features), MAX_COLUMNS)
    repeats = REPEATS if tried <= MANY_COLUMNS else FEW_REPEATS
    n_rows = int(np.clip(WORK / max(tried * repeats * n_params, 1), MIN_ROWS, MAX_ROWS))
    rows = rng.permutation(len(truth))[:n_rows]  # the first of them are a sample, too
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
    """The features to try: all, or those that go most with the predictions."""
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
