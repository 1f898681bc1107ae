"""Rank correlations of number columns with each other and with the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from madaline.report.findings import NUMBERS

MOST_COLUMNS = 30
MOST_TARGETS = 5
"Targets, labels or classes that have a row of their own; of more, none has."
LEAST_ROWS = 3


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation of columns, those most correlated with the target first.

    Attributes
    ----------
    names : sequence of str
        Targets, then columns.
    matrix : array of shape (len(names), len(names))
        NaN where a column is constant or two columns have too few rows in common.
    n_targets : int
        How many of the names are targets.
    n_columns : int
        Number of number columns of the table.
    """

    names: Sequence[str]
    matrix: np.ndarray
    n_targets: int
    n_columns: int


def correlate(
    columns: Mapping[str, np.ndarray],
    n_columns: int,
    task: str,
    truth: np.ndarray,
    classes: Sequence[str],
    targets: Sequence[str],
) -> Correlation | None:
    """Correlations of columns with each other and with the target; None with fewer than two columns.

    Parameters
    ----------
    columns : mapping of str to array
        Numbers, NaN for missing values. Each pair is compared on the rows that have both.
    n_columns : int
        Number of number columns of the table.
    task, truth, classes, targets
        As in :func:`~madaline.report.table_summary.summarize`. A class is 1 for its rows and 0 for others.
    """
    if len(columns) < 2 or len(truth) < LEAST_ROWS:
        return None
    wanted = _targets(task, truth, classes, targets)
    ranks = {name: _standard_ranks(x) for name, x in columns.items()}
    target_ranks = np.column_stack([_standard_ranks(y) for y in wanted.values()])
    strength = {name: float(np.abs(rank @ target_ranks).max()) for name, rank in ranks.items()}
    chosen = sorted(columns, key=lambda name: -strength[name])[:MOST_COLUMNS]
    shown = wanted if len(wanted) <= MOST_TARGETS else {}
    series = [*shown.values(), *(columns[name] for name in chosen)]
    matrix = np.eye(len(series))
    is_whole = [bool(np.isfinite(x).all()) for x in series]
    quick = [_standard_ranks(x) for x in series]
    for i, x in enumerate(series):
        for j in range(i):
            both = quick[i] @ quick[j] if is_whole[i] and is_whole[j] else spearman(x, series[j])
            matrix[i, j] = matrix[j, i] = both if quick[i].any() and quick[j].any() else np.nan
    return Correlation([*shown, *chosen], matrix, len(shown), n_columns)


def _standard_ranks(x: np.ndarray) -> np.ndarray:
    """Ranks with mean 0 and length 1; 0 for missing values and for all values of a constant column."""
    known = np.isfinite(x)
    ranks = np.zeros(len(x))
    ranks[known] = rankdata(x[known])
    ranks[known] -= ranks[known].mean() if known.any() else 0.0
    length = float(np.sqrt(ranks @ ranks))
    return ranks / length if length > 0.0 else ranks


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation over the rows in which both are known.

    Examples
    --------
    >>> round(spearman(np.array([1.0, 2.0, 3.0, np.nan]), np.array([1.0, 8.0, 27.0, 0.0])), 6)
    1.0
    """
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < LEAST_ROWS:
        return float("nan")
    a, b = (rankdata(each[known]) for each in (x, y))
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0.0 else float("nan")


def _targets(task: str, truth: np.ndarray, classes: Sequence[str], targets: Sequence[str]) -> dict[str, np.ndarray]:
    """What columns are compared with, by name."""
    if task in NUMBERS:
        names = [targets[k] if k < len(targets) else f"target {k + 1}" for k in range(truth.shape[1])]
        return {name: truth[:, k].astype(float) for k, name in enumerate(names)}
    if task == "multilabel":
        return {name: truth[:, k].astype(float) for k, name in enumerate(classes)}
    of = f"{targets[0]} = " if targets else "class "
    places = [1] if len(classes) == 2 else range(len(classes))
    return {f"{of}{classes[k]}": (truth == k).astype(float) for k in places}
