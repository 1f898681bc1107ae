"""Changes of data and validation sets that the sick runs of part d of the fifth half use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from clinic_data import Table
from outside_faults import with_column

Rng = np.random.Generator

# ---- activations and inputs


def exponential(x: np.ndarray) -> np.ndarray:
    """Grows without bound: a few layers of it overflow."""
    return np.exp(x * x)


def milliseconds(X: np.ndarray) -> np.ndarray:
    """The first column is a time in milliseconds, the last a small share."""
    X = X.astype(float)
    X[:, 0], X[:, -1] = 1.7e12 + 3e10 * X[:, 0], 0.001 * X[:, -1]
    return X


def scaled_twice(X: np.ndarray) -> np.ndarray:
    """Standardised columns, divided by 255 twice more as if they were pixels."""
    return X / 255.0**2


def millimetres(X: np.ndarray) -> np.ndarray:
    """Lengths around 1.8 m in millimetres."""
    return 1800 + 250 * X


def inhabitants(X: np.ndarray) -> np.ndarray:
    """One column is a number of inhabitants, one a share in percent; the others are standardised."""
    X = X.astype(float)
    X[:, 1], X[:, 2] = 4e5 + 1.5e5 * X[:, 1], 50 + 15 * X[:, 2]
    return X


def squared_exponentials(X: np.ndarray) -> np.ndarray:
    """Concentrations over eight powers of ten."""
    return np.exp(3.5 * X)


def minus_999(table: Table, rng: Rng) -> Table:
    """-999 in place of missing values: one value in thirty of every column, in training and test rows."""
    X, X_test = table.X.copy(), table.X_test.copy()
    for part in (X, X_test):
        part[rng.random(part.shape) < 0.03] = -999.0
    return replace(table, X=X, X_test=X_test)


def stuck_sensor(table: Table, rng: Rng) -> Table:
    """Some readings of each column are the largest number of the sensor."""
    X = table.X.copy()
    X[rng.random(X.shape) < 0.004] = 65_535.0
    return replace(table, X=X)


def empty_price(table: Table, rng: Rng) -> Table:
    y = table.y.astype("f").copy()
    y[rng.integers(0, len(y), 3)] = np.nan
    return replace(table, y=y)


# ---- rows and targets


def index_reset(table: Table, rng: Rng) -> Table:
    """The inputs were sorted by two columns, and the target kept its order."""
    return replace(table, X=table.X[np.lexsort((table.X[:, 1], table.X[:, 0]))].copy())


def permuted(table: Table, rng: Rng) -> Table:
    """The target was shuffled, and the inputs were not."""
    return replace(table, y=table.y[rng.permutation(len(table.y))])


def one_file_per_class(table: Table, rng: Rng) -> Table:
    """Files were appended one after the other."""
    order = np.argsort(table.y + 1e-3 * rng.random(len(table.y)), kind="stable")
    return replace(table, X=table.X[order].copy(), y=table.y[order].copy())


def four_visits(table: Table, rng: Rng) -> Table:
    """Every patient has four rows with nearly the same values and the same outcome."""
    rows = rng.permutation(np.repeat(np.arange(len(table.y) // 3), 4))
    X = table.X[rows] + 1e-3 * rng.normal(size=(len(rows), table.X.shape[1]))
    return replace(table, X=X.astype("f"), y=table.y[rows].copy())


def concatenated_twice(table: Table, rng: Rng) -> Table:
    """The same file was read twice."""
    rows = rng.permutation(np.tile(np.arange(len(table.y)), 2))
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def confused_pairs(table: Table, rng: Rng) -> Table:
    """The last two classes were exchanged in a quarter of their rows."""
    y, k = table.y.copy(), int(table.y.max())
    rows = np.flatnonzero((y >= k - 1) & (rng.random(len(y)) < 0.25))
    y[rows] = 2 * k - 1 - y[rows]
    return replace(table, y=y)


def rare_churn(table: Table, rng: Rng) -> Table:
    """A class of 4 % that overlaps with the other."""
    n, k = len(table.y) + len(table.y_test), len(table.y)
    y = (rng.random(n) < 0.04).astype(int)
    X = rng.normal(size=(n, table.X.shape[1])) + 1.0 * y[:, None] * (np.arange(table.X.shape[1]) < 2)
    return replace(table, X=X[:k].astype("f"), y=y[:k], X_test=X[k:].astype("f"), y_test=y[k:])


# ---- leaks


def net_amount(table: Table, rng: Rng) -> Table:
    """The target before a fee that depends a little on the row."""
    fee = 0.02 * rng.random(len(table.y))
    return with_column(table, table.y * (1 - fee), rng.choice(table.y, len(table.y_test)))


def ward(table: Table, rng: Rng) -> Table:
    """A number of the ward that a patient was brought to after the diagnosis."""
    wards = 10 * table.y + rng.integers(0, 3, len(table.y))
    return with_column(table, wards.astype(float), rng.choice(wards, len(table.y_test)).astype(float))


def refund(table: Table, rng: Rng) -> Table:
    """An amount that is only filled in for one class, and for 97 % of its rows."""
    amount = np.where((table.y == 1) & (rng.random(len(table.y)) < 0.97), rng.lognormal(0, 0.4, len(table.y)), 0.0)
    return with_column(table, amount, rng.permutation(np.resize(amount, len(table.y_test))))


# ---- validation sets


def read_again(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Half of the validation rows are training rows that were rounded on the way."""
    rows = rng.choice(len(table.X), 130, replace=False)
    return np.r_[np.round(table.X[rows], 4), table.X_test[:130]], np.r_[table.y[rows], table.y_test[:130]]


def other_hospital(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Half of the columns are measured with another instrument."""
    X = table.X_test[:240].copy()
    X[:, ::2] = 1.6 * X[:, ::2] - 1.1
    return X, table.y_test[:240]


def not_recorded(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Two columns are 0 in the validation set, because nobody recorded them there."""
    X = table.X_test[:240].copy()
    X[:, :2] = 0.0
    return X, table.y_test[:240]


def forgotten_scaler(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The validation set was not standardised."""
    return (table.X_test[:240] * 12 + 55).astype("f"), table.y_test[:240]
