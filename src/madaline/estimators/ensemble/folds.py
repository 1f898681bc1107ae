"""Folds of cross-validation: which rows train a member, and which rows it is judged on."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, check_cv

from madaline.errors import ConfigError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.data.data_types import Folds

SMALLEST = 4
"Smallest number of rows that can be divided into folds."


def make_folds(
    n_rows: int,
    *,
    n_folds: int,
    strata: np.ndarray | None,
    groups: ArrayLike | None = None,
    cv: Folds | None = None,
    seed: int = 0,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers of the training and held-out rows of each fold.

    Parameters
    ----------
    n_rows : int
    n_folds : int
        Number of folds, if ``cv`` does not decide it.
    strata : array of int, optional
        Classes that are spread evenly over the folds.
    groups : array of shape (n_rows,), optional
        Rows of one group stay in one fold.
    cv : int, scikit-learn splitter, or iterable of (train, test), optional
    seed : int
        Random seed of the shuffling.
    """
    if n_rows < SMALLEST:
        raise ConfigError(f'preset="best" needs at least {SMALLEST} rows, and there are {n_rows}. Use preset="auto".')
    groups = None if groups is None else np.asarray(groups)
    if groups is not None and len(groups) != n_rows:
        raise ShapeError(f"groups has {len(groups)} values, and X has {n_rows} rows.")
    y = np.zeros(n_rows, dtype=int) if strata is None else strata
    if cv is not None and not isinstance(cv, (int, np.integer)):
        splitter = check_cv(cv, y, classifier=strata is not None)
    else:
        count = int(n_folds if cv is None else cv)
        if not 2 <= count <= n_rows:
            raise ConfigError(f"cv={count} must be between 2 and the number of rows, {n_rows}.")
        if groups is not None:
            n_groups = len(np.unique(groups))
            if n_groups < 2:
                raise ConfigError("groups has only one group; folds need at least two.")
            splitter = GroupKFold(min(count, n_groups))
        elif strata is not None and np.bincount(strata).max(initial=0) >= count:
            splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
        else:
            splitter = KFold(count, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # classes with fewer rows than folds are spread as far as they go
        warnings.simplefilter("ignore", UserWarning)
        found = [(np.asarray(train), np.asarray(held)) for train, held in splitter.split(np.empty(n_rows), y, groups)]
    if any(len(train) == 0 or len(held) == 0 for train, held in found):
        raise ConfigError("cv makes a fold without training rows or without held-out rows.")
    return found
