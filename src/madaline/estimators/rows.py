"""The rows of one fit, and which of them are held back to judge the net by."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context


@dataclass(frozen=True)
class Rows:
    """Rows with their targets, as the net takes them, and weights."""

    X: Any
    "An array, a sparse matrix, a dict of arrays, or a table that a plan is yet to make arrays of."
    y: np.ndarray
    weight: np.ndarray | None = None
    answers: np.ndarray | None = None
    "Targets as they were given, of a table: a column may give them away."

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray) -> Rows:
        """Some of them."""
        X = self.X.take(rows) if self.is_table else _taken(self.X, rows)
        weight, answers = (None if each is None else each[rows] for each in (self.weight, self.answers))
        return Rows(X, self.y[rows], weight, answers)

    @property
    def is_table(self) -> bool:
        """Whether they are still columns of anything."""
        return hasattr(self.X, "n_rows")

    @property
    def n_features(self) -> int:
        """Columns the net takes."""
        if isinstance(self.X, dict):
            return sum(part.shape[1] if part.ndim > 1 else 1 for part in self.X.values())
        return int(self.X.shape[1])

    @property
    def inputs(self) -> Any:
        """What a model is made for: the number of columns, or the arrays of a table."""
        return self.X if isinstance(self.X, dict) else self.n_features


def _taken(X: Any, rows: np.ndarray) -> Any:
    return {name: part[rows] for name, part in X.items()} if isinstance(X, dict) else X[rows]


def held_back(
    rows: Rows, fraction: float, rng: np.random.RandomState, *, strata: np.ndarray | None
) -> tuple[Rows, Rows]:
    """Rows to train on and rows to validate on, those that scikit-learn would choose."""
    from sklearn.model_selection import train_test_split  # only those who hold rows back wait for it

    with config_context(skip_parameter_validation=True):  # so that its messages are those of scikit-learn's MLP
        train, held = train_test_split(np.arange(len(rows)), random_state=rng, test_size=fraction, stratify=strata)
    if len(held) < 2:
        raise ValueError("The validation set is too small. Increase 'validation_fraction' or the size of your dataset.")
    return rows.take(train), rows.take(held)


def batch_rows(batch_size: Any, n_rows: int) -> int:
    """The number of rows of a batch, with scikit-learn's warning if there are not so many."""
    if batch_size == "auto":
        return min(200, n_rows)
    if batch_size > n_rows:
        warnings.warn(
            "Got `batch_size` less than 1 or larger than sample size. It is going to be clipped", stacklevel=5
        )
    return int(np.clip(batch_size, 1, n_rows))
