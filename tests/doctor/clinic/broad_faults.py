"""Changes of data and validation sets that the sick runs of the fourth half use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from clinic_data import Table

Rng = np.random.Generator
Change = Callable[[Table, Rng], Table]


def _inputs(table: Table, rng: Rng, *, change: Callable[[np.ndarray], np.ndarray]) -> Table:
    return replace(table, X=change(table.X).astype("f"), X_test=change(table.X_test).astype("f"))


def inputs(change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """The same change of the inputs of training and test rows."""
    return partial(_inputs, change=change)


def _target(table: Table, rng: Rng, *, factor: float, offset: float) -> Table:
    y, y_test = factor * table.y + offset, factor * table.y_test + offset
    return replace(table, y=y.astype("f"), y_test=y_test.astype("f"))


def target(factor: float, offset: float = 0.0) -> Change:
    """The target in other units."""
    return partial(_target, factor=factor, offset=offset)


def timestamps(X: np.ndarray) -> np.ndarray:
    """A column in seconds since 1970 beside others of size 1."""
    X = X.astype(float)
    X[:, 0] = 1.6e9 + 1e7 * X[:, 0]
    return X


def metres(X: np.ndarray) -> np.ndarray:
    """Every second column in units a thousand times smaller, the others a thousand times larger."""
    return X * np.where(np.arange(X.shape[1]) % 2, 1e-3, 1e3)


def percent(X: np.ndarray) -> np.ndarray:
    """Values of 0 to 100."""
    return 50 + 18 * X


def pressure(X: np.ndarray) -> np.ndarray:
    """Columns around 1013 with little spread."""
    return 1013 + 5 * X


def tiny(X: np.ndarray) -> np.ndarray:
    return 1e-5 * X


def raw_money(X: np.ndarray) -> np.ndarray:
    """Incomes that nobody took a logarithm of."""
    return np.exp(3.0 * X)


def sentinels(table: Table, rng: Rng) -> Table:
    """99999 in place of a missing value, in a hundredth of the training rows."""
    X = table.X.copy()
    for column in range(X.shape[1]):
        X[rng.choice(len(X), max(len(X) // 100, 3), replace=False), column] = 99_999.0
    return replace(table, X=X)


def cauchy(table: Table, rng: Rng) -> Table:
    """Measurements with errors of any size, now and then."""
    X = table.X.copy()
    rows = rng.choice(len(X), len(X) // 60, replace=False)
    X[rows] = X[rows] * (1 + np.abs(rng.standard_cauchy((len(rows), 1))) * 500)
    return replace(table, X=X.astype("f"))


def sorted_rows(table: Table, rng: Rng) -> Table:
    order = np.argsort(table.y if table.y.ndim == 1 else table.y[:, 0], kind="stable")
    return replace(table, X=table.X[order].copy(), y=table.y[order].copy())


def shuffled_target(table: Table, rng: Rng) -> Table:
    return replace(table, y=table.y[rng.permutation(len(table.y))])


def shifted_join(table: Table, rng: Rng) -> Table:
    return replace(table, y=np.roll(table.y, 1, axis=0))


def other_inputs(table: Table, rng: Rng) -> Table:
    """Columns of another table."""
    X, X_test = rng.normal(size=table.X.shape), rng.normal(size=table.X_test.shape)
    return replace(table, X=X.astype("f"), X_test=X_test.astype("f"))


def _with_column(table: Table, column: np.ndarray, fake: np.ndarray) -> Table:
    mean, std = column.mean(), column.std() + 1e-12
    X = np.column_stack([table.X, (column - mean) / std]).astype("f")
    return replace(table, X=X, X_test=np.column_stack([table.X_test, (fake - mean) / std]).astype("f"))


def row_number(table: Table, rng: Rng) -> Table:
    """A row number in a file that is sorted by the class."""
    number = np.argsort(np.argsort(table.y + 1e-6 * rng.random(len(table.y)), kind="stable"))
    order = rng.permutation(len(table.y))
    shuffled = replace(table, X=table.X[order], y=table.y[order])
    return _with_column(shuffled, number[order].astype(float), rng.uniform(0, len(table.y), len(table.y_test)))


def outcome_column(table: Table, rng: Rng) -> Table:
    """A column that is filled in once the outcome is known."""
    noise = 0.03 * rng.normal(size=len(table.y))
    return _with_column(table, np.exp(0.5 * table.y) + noise, np.exp(0.5 * rng.choice(table.y, len(table.y_test))))


def repeated_rows(table: Table, rng: Rng) -> Table:
    """Rows that were drawn with replacement before the split."""
    rows = rng.integers(0, len(table.X), int(1.5 * len(table.X)))
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def rare_overlap(table: Table, rng: Rng) -> Table:
    """A class of 4 % that overlaps with the other one."""
    n, k = len(table.y) + len(table.y_test), len(table.y)
    y = (rng.random(n) < 0.04).astype(int)
    X = (rng.normal(size=(n, table.X.shape[1])) + 0.9 * y[:, None] * (np.arange(table.X.shape[1]) < 3)).astype("f")
    return replace(table, X=X[:k], y=y[:k], X_test=X[k:], y_test=y[k:])


def swapped_labels(table: Table, rng: Rng) -> Table:
    """A tenth of the labels are of another class."""
    y, k = table.y.copy(), int(table.y.max()) + 1
    rows = rng.choice(len(y), len(y) // 10, replace=False)
    y[rows] = (y[rows] + rng.integers(1, k, len(rows))) % k
    return replace(table, y=y)


def holes_in_target(table: Table, rng: Rng) -> Table:
    y = table.y.astype("f").copy()
    y[rng.integers(0, len(y), 5)] = np.nan
    return replace(table, y=y)


def log_of_zero(table: Table, rng: Rng) -> Table:
    X = table.X.copy()
    X[rng.integers(0, len(X), 20), 0] = -np.inf
    return replace(table, X=X)


def training_set(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The training set once more, as validation set."""
    return table.X, table.y


def many_copies(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A validation set of which two thirds are training rows."""
    rows = rng.choice(len(table.X), 120, replace=False)
    return np.r_[table.X[rows], table.X_test[:60]], np.r_[table.y[rows], table.y_test[:60]]


def end_of_sorted_file(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A validation set with the largest targets, as at the end of a sorted file."""
    key = table.y_test if table.y_test.ndim == 1 else table.y_test[:, 0]
    rows = np.argsort(key, kind="stable")[-180:]
    return table.X_test[rows], table.y_test[rows]


def scaled_by_itself(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A validation set whose columns were scaled to 0..1, and those of the training set to variance 1."""
    X = table.X_test[:220]
    return ((X - X.min(axis=0)) / (np.ptp(X, axis=0) + 1e-12)).astype("f"), table.y_test[:220]


def later(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A validation set of a later time: several columns have drifted."""
    X = table.X_test[:220].copy()
    X[:, : max(X.shape[1] // 2, 1)] += 1.5
    return X, table.y_test[:220]
