"""Changes of data and validation sets that the sick runs of part f of the fifth half use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from clinic_data import Table
from outside_faults import with_column

Rng = np.random.Generator

# ---- inputs


def one_thousands(X: np.ndarray) -> np.ndarray:
    """One column is a thousand times larger than the others, as proline in the wine data."""
    return X * np.where(np.arange(X.shape[1]) == X.shape[1] - 1, 1000.0, 1.0)


def hundred_fold(X: np.ndarray) -> np.ndarray:
    return 100.0 * X


def thousandths(X: np.ndarray) -> np.ndarray:
    return 1e-3 * X


def raw_areas(X: np.ndarray) -> np.ndarray:
    """Columns from hundredths to thousands, as in the breast cancer data."""
    size = 10.0 ** np.linspace(-2, 3, X.shape[1])
    return size * (4.0 + X)


def offset(X: np.ndarray) -> np.ndarray:
    """Far from zero, with a spread of 1."""
    return X + 1000.0


def millions(X: np.ndarray) -> np.ndarray:
    return 1e6 * X


def cauchy(X: np.ndarray) -> np.ndarray:
    """Every column with the tails of a Cauchy distribution."""
    return np.sign(X) * (np.exp(np.abs(X) ** 1.9) - 1.0)


def tiny_numbers(X: np.ndarray) -> np.ndarray:
    """Smaller than the smallest normal number of 32 bits."""
    return 1e-41 * X.astype(float)


def positive(X: np.ndarray) -> np.ndarray:
    """Between 0 and 1."""
    return 1.0 / (1.0 + np.exp(-X))


def one_outlier(table: Table, rng: Rng) -> Table:
    """In each column one training value is 1e5."""
    X = table.X.copy()
    X[rng.integers(0, len(X), X.shape[1]), np.arange(X.shape[1])] = 1e5
    return replace(table, X=X)


def error_codes(table: Table, rng: Rng) -> Table:
    """99999 where a reading failed: one value in 50 of every column, in training and test rows."""
    X, X_test = table.X.copy(), table.X_test.copy()
    for part in (X, X_test):
        part[rng.random(part.shape) < 0.02] = 99_999.0
    return replace(table, X=X, X_test=X_test)


def empty_cell(table: Table, rng: Rng) -> Table:
    X = table.X.copy()
    X[3, 0] = np.nan
    return replace(table, X=X)


def endless_cell(table: Table, rng: Rng) -> Table:
    X = table.X.copy()
    X[rng.integers(0, len(X), 4), -1] = -np.inf
    return replace(table, X=X)


def empty_targets(table: Table, rng: Rng) -> Table:
    y = table.y.astype("f").copy()
    y[rng.random(len(y)) < 0.05] = np.nan
    return replace(table, y=y)


# ---- rows and targets


def as_it_is(table: Table, rng: Rng) -> Table:
    """A table whose target cannot be told from its columns."""
    return table


def random_target(table: Table, rng: Rng) -> Table:
    """The target was replaced by random numbers of the same kind, in test rows too."""
    everything = np.concatenate([table.y, table.y_test])
    drawn = rng.permutation(everything)
    return replace(table, y=drawn[: len(table.y)], y_test=drawn[len(table.y) :])


def shuffled_target(table: Table, rng: Rng) -> Table:
    return replace(table, y=rng.permutation(table.y))


def random_columns(table: Table, rng: Rng) -> Table:
    """All columns are random numbers."""
    return replace(table, X=rng.normal(size=table.X.shape).astype("f"))


def sorted_by_target(table: Table, rng: Rng) -> Table:
    order = np.argsort(table.y, kind="stable")
    return replace(table, X=table.X[order].copy(), y=table.y[order].copy())


def twice(table: Table, rng: Rng) -> Table:
    """``np.vstack([X, X])`` before the split."""
    rows = rng.permutation(np.r_[np.arange(len(table.y)), np.arange(len(table.y))])
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def oversampled(table: Table, rng: Rng) -> Table:
    """Half of the rows come four times: oversampling before the split."""
    n = len(table.y)
    rows = rng.permutation(np.r_[np.arange(n), np.repeat(np.arange(n // 2), 3)])
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def flipped(table: Table, rng: Rng, share: float = 0.15) -> Table:
    """Wrong labels: another class, chosen at random."""
    y, k = table.y.copy(), int(table.y.max()) + 1
    rows = rng.choice(len(y), int(share * len(y)), replace=False)
    y[rows] = (y[rows] + rng.integers(1, k, len(rows))) % k
    return replace(table, y=y)


def flipped_a_little(table: Table, rng: Rng) -> Table:
    return flipped(table, rng, 0.08)


def flipped_often(table: Table, rng: Rng) -> Table:
    return flipped(table, rng, 0.25)


def rare_overlap(table: Table, rng: Rng) -> Table:
    """A class of 6 % that overlaps with the other."""
    n, k = len(table.y) + len(table.y_test), len(table.y)
    y = (rng.random(n) < 0.06).astype(int)
    X = rng.normal(size=(n, table.X.shape[1])) + 1.1 * y[:, None] * (np.arange(table.X.shape[1]) < 3)
    return replace(table, X=X[:k].astype("f"), y=y[:k], X_test=X[k:].astype("f"), y_test=y[k:])


def rare_third(table: Table, rng: Rng) -> Table:
    """Of the rows of the last class, one in fifteen was kept, and it overlaps with its neighbour."""

    def kept(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = (y != y.max()) | (rng.random(len(y)) < 1 / 15)
        return (X + 1.2 * rng.normal(size=X.shape)).astype("f")[rows], y[rows]

    (X, y), (X_test, y_test) = kept(table.X, table.y), kept(table.X_test, table.y_test)
    return replace(table, X=X, y=y, X_test=X_test, y_test=y_test)


# ---- leaks


def target_itself(table: Table, rng: Rng) -> Table:
    """The target was not dropped from the inputs; in use it is not known."""
    y = table.y.astype(float)
    return with_column(table, y, rng.permutation(np.resize(y, len(table.y_test))))


def noisy_target(table: Table, rng: Rng) -> Table:
    """The target with noise of 1 % of its spread."""
    y = table.y.astype(float)
    return with_column(
        table, y + 0.01 * y.std() * rng.normal(size=len(y)), rng.permutation(np.resize(y, len(table.y_test)))
    )


def exponential_of_target(table: Table, rng: Rng) -> Table:
    """The price beside the logarithm of the price."""
    y = table.y.astype(float)
    return with_column(table, np.exp(1.5 * y), np.exp(1.5 * rng.permutation(np.resize(y, len(table.y_test)))))


def outcome_flag(table: Table, rng: Rng) -> Table:
    """A flag that is set only for the last class, and for 97 % of its rows."""
    flag = (table.y == table.y.max()) & (rng.random(len(table.y)) < 0.97)
    return with_column(table, flag.astype(float), rng.permutation(np.resize(flag, len(table.y_test))).astype(float))


def identifier(table: Table, rng: Rng) -> Table:
    """A row number in a file that was sorted by class."""
    number = np.empty(len(table.y))
    number[np.lexsort((rng.random(len(table.y)), table.y))] = np.arange(len(table.y))
    return with_column(table, number, rng.uniform(0, len(table.y), len(table.y_test)))


# ---- validation sets


def training_rows(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """``validation=(X[:250], y[:250])`` of the same ``X``."""
    return table.X[:250].copy(), table.y[:250].copy()


def half_training_rows(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    rows = rng.choice(len(table.X), 120, replace=False)
    return np.r_[table.X[rows], table.X_test[:120]], np.r_[table.y[rows], table.y_test[:120]]


def moved(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Another year: every column is 1.5 standard deviations higher."""
    return (table.X_test[:250] + 1.5).astype("f"), table.y_test[:250]


def unscaled_rows(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Only the training set was standardised."""
    return (12.0 * table.X_test[:250] + 40.0).astype("f"), table.y_test[:250]


def one_class_only(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The end of a sorted file: the largest targets."""
    rows = np.argsort(table.y_test, kind="stable")[-200:]
    return table.X_test[rows], table.y_test[rows]


def one_column_changed(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The first column is measured in another way."""
    X = table.X_test[:300].copy()
    X[:, 0] = 2.5 - 0.4 * X[:, 0]
    return X, table.y_test[:300]


def upper_half(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Only rows with a high first column."""
    rows = np.argsort(table.X_test[:, 0], kind="stable")[-200:]
    return table.X_test[rows], table.y_test[rows]
