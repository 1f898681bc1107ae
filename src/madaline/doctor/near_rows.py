"""Rows that are copies of others but for rounding, and rows that are nearly copies, as made by data augmentation or by
repeated measurements of one thing.
"""

from __future__ import annotations

import numpy as np

NEAR = 0.05
"Distance to the nearest row, relative to that to the tenth nearest one."
FEW, MANY = 10, 20
CONTINUOUS = 0.5
"Fraction of distinct values that every column must have: elsewhere near rows are common."
BEYOND, SHARE = 5.0, 0.15
"Near rows must be this many times as frequent as the density of the rows explains, and at least this fraction."
MOST_COLUMNS = 60
ROUNDING = 1e-3
"Standard deviations of a column by which values differ if they were rounded on the way."
FEWEST_COPIED, STANDARD_ERRORS = 10, 3.0
"Rows that occur equally often, from which on their number is looked at, and standard errors beyond chance."


def near_copies(train: np.ndarray, held: np.ndarray, y_train: np.ndarray, y_held: np.ndarray) -> np.ndarray | None:
    """Whether each held-out row is nearly a copy of a training row; None if there are no more than chance explains.

    The target of a copy is the same.

    With a smooth density in d dimensions, the nearest of k rows is within a fraction r of the distance of the k-th one
    with a probability of about k r^d. The dimension is estimated from rows further away,
    E log(d_2k / d_k) = (log 2) / d (Levina & Bickel 2004).
    """
    n, width = train.shape
    if n < 5 * MANY or not 2 <= width <= MOST_COLUMNS or not np.isfinite(train).all() or not np.isfinite(held).all():
        return None
    if min(len(np.unique(train[:, j])) for j in range(width)) < CONTINUOUS * n:
        return None
    from scipy.spatial import cKDTree

    spread = np.maximum(train.std(axis=0), 1e-12)
    distances, places = cKDTree(train / spread).query(held / spread, k=MANY)
    first, tenth, twentieth = distances[:, 0], distances[:, FEW - 1], distances[:, MANY - 1]
    if not (tenth > 0).all():
        return None
    dimension = np.log(MANY / FEW) / max(float(np.mean(np.log(twentieth / tenth))), 1e-12)
    has_same_target = (y_train.reshape(n, -1)[places[:, 0]] == y_held.reshape(len(held), -1)).all(axis=1)
    is_near = (first < NEAR * tenth) & has_same_target
    by_chance = FEW * NEAR**dimension
    return is_near if is_near.mean() > max(SHARE, BEYOND * by_chance) else None


def rounded_copies(
    train: np.ndarray, held: np.ndarray, y_train: np.ndarray, y_held: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Whether each held-out row, and each training row, is another training row but for rounding.

    That of training rows says how often it happens by chance. None if there are too many columns, or values that are
    not finite.
    """
    train, held = _with_target(train, y_train), _with_target(held, y_held)
    if len(train) < 2 or train.shape[1] > MOST_COLUMNS or not np.isfinite(train).all() or not np.isfinite(held).all():
        return None
    from scipy.spatial import cKDTree

    spread = np.maximum(train.std(axis=0), 1e-12)
    tree = cKDTree(train / spread)
    found = [
        tree.query(rows / spread, k=[k], p=np.inf, distance_upper_bound=ROUNDING)[0][:, 0] <= ROUNDING
        for rows, k in ((held, 1), (train, 2))  # the first neighbour of a training row is the row itself
    ]
    return found[0], found[1]


def is_copied(keys: np.ndarray) -> bool:
    """Whether rows occur more regularly than rows drawn by chance do, as if a part of them had been copied.

    If each of the possible rows is drawn by chance, however likely each is, the number n_k of rows that occur k times
    is that of a mixture of Poisson distributions: (k! n_k)^2 <= (k-1)! n_(k-1) (k+1)! n_(k+1). Rows that are all there
    twice, or once and four times, break this rule.

    Parameters
    ----------
    keys : array
        A number for each row; equal rows have equal numbers.
    """
    times = np.unique(keys, return_counts=True)[1]
    n = np.bincount(times, minlength=int(times.max()) + 2).astype(float)
    for k in range(2, len(n) - 1):
        if n[k] < FEWEST_COPIED:
            continue
        fewer = n[k - 1] + STANDARD_ERRORS * np.sqrt(n[k - 1]) + 1.0
        least = k / (k + 1) * max(n[k] - STANDARD_ERRORS * np.sqrt(n[k]), 0.0) ** 2 / fewer
        if n[k + 1] + STANDARD_ERRORS * np.sqrt(max(least, 1.0)) < least:
            return True
    return False


def _with_target(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.asarray(y, dtype=np.float64).reshape(len(X), -1)])
