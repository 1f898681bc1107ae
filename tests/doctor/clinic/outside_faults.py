"""Changes of data and validation sets that the sick runs of the fifth half use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from broad_faults import Change, inputs, target
from clinic_data import Table

Rng = np.random.Generator
__all__ = ["Change", "inputs", "target"]

# ---- activations


def whole(x: np.ndarray) -> np.ndarray:
    """A step at every whole number: the derivative is 0 everywhere."""
    return np.floor(x)


def root(x: np.ndarray) -> np.ndarray:
    """NaN below 0."""
    return np.sqrt(x)


def logarithm(x: np.ndarray) -> np.ndarray:
    """NaN below 0."""
    return np.log(x)


# ---- inputs


def bytes_sent(X: np.ndarray) -> np.ndarray:
    """Two columns in bytes, the others in seconds."""
    X = X.astype(float)
    X[:, 0], X[:, -1] = 3e6 + 1e6 * X[:, 0], 5e8 * X[:, -1]
    return X


def eight_bits(X: np.ndarray) -> np.ndarray:
    """All columns from 0 to 255."""
    return np.clip(127.5 + 45 * X, 0, 255)


def years(X: np.ndarray) -> np.ndarray:
    """Years in place of ages."""
    return 1985 + 9 * X


def microns(X: np.ndarray) -> np.ndarray:
    return 4e3 * X


def metres(X: np.ndarray) -> np.ndarray:
    """Thousandths: every column is far too small."""
    return 2e-4 * X


def wealth(X: np.ndarray) -> np.ndarray:
    """Half of the columns are amounts that differ by many powers of ten."""
    return np.where(np.arange(X.shape[1]) % 2 == 0, np.exp(2.5 * X), X)


def minus_999(table: Table, rng: Rng) -> Table:
    """-9999 in place of a missing value, in training and test rows of one column in two."""
    X, X_test = table.X.copy(), table.X_test.copy()
    for part, share in ((X, 0.02), (X_test, 0.02)):
        for column in range(0, X.shape[1], 2):
            part[rng.random(len(part)) < share, column] = -9999.0
    return replace(table, X=X, X_test=X_test)


def decimal_slips(table: Table, rng: Rng) -> Table:
    """Readings with a decimal point in the wrong place, in one training row of 80."""
    X = table.X.copy()
    rows = rng.choice(len(X), len(X) // 80, replace=False)
    X[rows] *= 10.0 ** rng.integers(3, 6, (len(rows), X.shape[1]))
    return replace(table, X=X)


def empty_cells(table: Table, rng: Rng) -> Table:
    X = table.X.copy()
    X[rng.random(X.shape) < 0.01] = np.nan
    return replace(table, X=X)


def endless_target(table: Table, rng: Rng) -> Table:
    """A division by zero in the target."""
    y = table.y.astype("f").copy()
    y[rng.integers(0, len(y), 2)] = np.inf
    return replace(table, y=y)


# ---- targets and rows


def shuffled_target(table: Table, rng: Rng) -> Table:
    return replace(table, y=table.y[rng.permutation(len(table.y))])


def sorted_inputs(table: Table, rng: Rng) -> Table:
    """A file of inputs that was sorted by its first column, and a file of targets that was not."""
    return replace(table, X=table.X[np.argsort(table.X[:, 0], kind="stable")].copy())


def late_by_three(table: Table, rng: Rng) -> Table:
    """A join that is off by three rows."""
    return replace(table, y=np.roll(table.y, -3, axis=0))


def blocks(table: Table, rng: Rng) -> Table:
    """A file that was made of one file for each class, or sorted by the target from the largest value on."""
    order = np.argsort(-table.y, kind="stable")
    return replace(table, X=table.X[order].copy(), y=table.y[order].copy())


def oversampled(table: Table, rng: Rng) -> Table:
    """The rarest class, or the largest targets, were repeated until they were frequent, before the split."""
    is_rare = (
        table.y > np.quantile(table.y, 0.8)
        if table.task == "regression"
        else table.y == np.argmin(np.bincount(table.y.astype(int)))
    )
    rare = np.flatnonzero(is_rare)
    rows = rng.permutation(np.r_[np.arange(len(table.y)), rng.choice(rare, len(table.y) // 2)])
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def jittered(table: Table, rng: Rng) -> Table:
    """Each row three times with a little noise, as data augmentation before the split makes them."""
    rows = rng.permutation(np.repeat(np.arange(len(table.y) // 2), 3))
    X = table.X[rows] * (1 + 1e-4 * rng.normal(size=(len(rows), table.X.shape[1])))
    return replace(table, X=X.astype("f"), y=table.y[rows].copy())


def neighbouring_labels(table: Table, rng: Rng) -> Table:
    """One label in eleven is the next class."""
    y, k = table.y.copy(), int(table.y.max()) + 1
    rows = rng.choice(len(y), len(y) // 11, replace=False)
    y[rows] = (y[rows] + 1) % k
    return replace(table, y=y)


def rare_and_hidden(table: Table, rng: Rng) -> Table:
    """A class of 5 % that overlaps with the other."""
    n, k = len(table.y) + len(table.y_test), len(table.y)
    y = (rng.random(n) < 0.05).astype(int)
    X = rng.normal(size=(n, table.X.shape[1])) + 0.8 * y[:, None] * (np.arange(table.X.shape[1]) % 2 == 0)
    return replace(table, X=X[:k].astype("f"), y=y[:k], X_test=X[k:].astype("f"), y_test=y[k:])


# ---- leaks


def with_column(table: Table, column: np.ndarray, fake: np.ndarray) -> Table:
    mean, std = column.mean(), column.std() + 1e-12
    X = np.column_stack([table.X, (column - mean) / std]).astype("f")
    return replace(table, X=X, X_test=np.column_stack([table.X_test, (fake - mean) / std]).astype("f"))


def with_tax(table: Table, rng: Rng) -> Table:
    """The target with a percentage added and rounded."""
    return with_column(table, np.round(1.19 * table.y, 1), np.round(1.19 * rng.choice(table.y, len(table.y_test)), 1))


def measured_twice(table: Table, rng: Rng) -> Table:
    """The target once more, with an error of measurement of 5 %."""
    again = table.y + 0.05 * table.y.std() * rng.normal(size=len(table.y))
    return with_column(table, again, rng.choice(table.y, len(table.y_test)))


def case_number(table: Table, rng: Rng) -> Table:
    """Numbers that were given out class by class."""
    number = table.y * 1000 + rng.integers(0, 1000, len(table.y))
    return with_column(table, number.astype(float), rng.choice(number, len(table.y_test)).astype(float))


def closing_date(table: Table, rng: Rng) -> Table:
    """A date that is known only for the rows of one class."""
    dates = np.where(table.y == table.y.max(), rng.uniform(1, 3, len(table.y)), 0.0)
    return with_column(table, dates, rng.permutation(np.resize(dates, len(table.y_test))))


# ---- validation sets


def mostly_training(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A validation set of 150 training rows and 50 others."""
    rows = rng.choice(len(table.X), 150, replace=False)
    return np.r_[table.X[rows], table.X_test[:50]], np.r_[table.y[rows], table.y_test[:50]]


def next_year(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Every column has drifted a little, and so has the target."""
    y = table.y_test[:220]
    return (table.X_test[:220] * 1.3 + 0.7).astype("f"), y


def unscaled_rows(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The scaler was forgotten for the validation set."""
    return (table.X_test[:200] * 7 + 20).astype("f"), table.y_test[:200]


def two_columns_exchanged(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the validation file stand in another order and have other means."""
    return (table.X_test[:220, ::-1] + 0.8 * (np.arange(table.X.shape[1]) % 2)).astype("f"), table.y_test[:220]


def one_corner(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Only rows from one corner of the inputs."""
    order = np.argsort(table.X_test[:, 0] + table.X_test[:, 1])[-180:]
    return table.X_test[order], table.y_test[order]
