"""The rows of one fit, and the split into training and validation sets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context


@dataclass(frozen=True)
class RowSet:
    """Rows with their targets and weights.

    Attributes
    ----------
    X : array, sparse matrix, dict of arrays or Table
        The inputs of the net, or a table that a plan has not encoded yet.
    y : array
        Targets in the form that the loss needs.
    weight : array, optional
        Sample weights.
    given_y : array, optional
        The targets as the user gave them, to find columns that reveal the target.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    given_y: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray) -> RowSet:
        """Some of the rows."""
        X = self.X.take(rows) if self.is_table else _taken(self.X, rows)
        weight, given = (None if each is None else each[rows] for each in (self.weight, self.given_y))
        return RowSet(X, self.y[rows], weight, given)

    @property
    def is_table(self) -> bool:
        """Whether the rows are a table that is not encoded yet."""
        return hasattr(self.X, "n_rows")

    @property
    def n_features(self) -> int:
        """Number of columns of the net's input."""
        if isinstance(self.X, dict):
            return sum(part.shape[1] if part.ndim > 1 else 1 for part in self.X.values())
        return int(self.X.shape[1])

    @property
    def inputs(self) -> Any:
        """The argument of ``init`` for a model: the number of columns, or the arrays of a table."""
        return self.X if isinstance(self.X, dict) else self.n_features


def _taken(X: Any, rows: np.ndarray) -> Any:
    return {name: part[rows] for name, part in X.items()} if isinstance(X, dict) else X[rows]


def split_off_validation(
    rows: RowSet, fraction: float, rng: np.random.RandomState, *, strata: np.ndarray | None
) -> tuple[RowSet, RowSet]:
    """Training and validation sets, the same rows as scikit-learn would choose."""
    from sklearn.model_selection import train_test_split  # slow to import

    with config_context(skip_parameter_validation=True):  # its messages would not be those of scikit-learn's MLP
        train, validation = train_test_split(
            np.arange(len(rows)), random_state=rng, test_size=fraction, stratify=strata
        )
    if len(validation) < 2:
        raise ValueError("The validation set is too small. Increase 'validation_fraction' or the size of your dataset.")
    return rows.take(train), rows.take(validation)


def batch_rows(batch_size: Any, n_rows: int) -> int:
    """The mini-batch size, with scikit-learn's warning if there are fewer rows."""
    if batch_size == "auto":
        return min(200, n_rows)
    if batch_size > n_rows:
        warnings.warn(
            "Got `batch_size` less than 1 or larger than sample size. It is going to be clipped", stacklevel=5
        )
    return int(np.clip(batch_size, 1, n_rows))
