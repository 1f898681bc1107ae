"""How the trials of a search are validated, and for how long they are trained, by the number of rows and the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.estimators.ensemble.folds import make_folds

FEW_ROWS, MANY_ROWS = 2_000, 20_000
"Up to these numbers of rows, a trial has five folds, and three; with more rows it has one validation set."
HELD_OUT = 0.15
"Fraction of the rows in that validation set."
FIRST_SHARE = 0.25
"Largest fraction of the time limit for the first trial; its folds and epochs are fewer if it would take longer."
FEWEST_EPOCHS = 5
MOST_NETS = 24
"Largest number of nets of the ensemble of finished trials."
MOST_CELLS = 20_000_000
"Largest number of held-out predictions that are kept in memory."


@dataclass(frozen=True)
class SearchPlan:
    """Number of folds of every trial, and of epochs of a trial that is trained to the end."""

    folds: int
    epochs: int

    @classmethod
    def of(cls, n_rows: int, epochs: int) -> SearchPlan:
        """The plan without a time limit."""
        folds = 5 if n_rows <= FEW_ROWS else 3 if n_rows <= MANY_ROWS else 1
        return cls(min(folds, max(n_rows // 2, 1)), epochs)

    def within(self, epochs: float) -> SearchPlan:
        """The plan in which the nets of the first trial have at most this many epochs together."""
        for folds in (self.folds, 3, 1):
            if folds <= self.folds and folds * self.epochs <= epochs:
                return SearchPlan(folds, self.epochs)
        return SearchPlan(1, int(min(max(epochs, FEWEST_EPOCHS), self.epochs)))


def folds_of(
    n_rows: int, n_folds: int, *, strata: np.ndarray | None, groups: Any, cv: Any, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and held-out rows of each fold; with one fold, a validation set."""
    if n_folds == 1 and cv is None:
        from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

        is_even = strata is not None and np.bincount(strata)[np.unique(strata)].min() >= 2
        kind = GroupShuffleSplit if groups is not None else StratifiedShuffleSplit if is_even else ShuffleSplit
        cv = kind(1, test_size=HELD_OUT, random_state=seed)
    return make_folds(n_rows, n_folds=n_folds, strata=strata, groups=groups, cv=cv, seed=seed)


def most_finishers(n_folds: int, n_held_out: int, n_outputs: int) -> int:
    """How many finished trials can be in the ensemble."""
    return int(np.clip(min(MOST_NETS // n_folds, MOST_CELLS // max(n_held_out * n_outputs, 1)), 2, 12))
