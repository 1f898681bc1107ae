"""Changes of data and validation sets that the sick runs of the third half use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from clinic_data import Table


def _both(table: Table, change: object) -> Table:
    return replace(table, X=change(table.X).astype("f"), X_test=change(table.X_test).astype("f"))  # type: ignore[operator]


def salaries(table: Table, rng: np.random.Generator) -> Table:
    """One column in other units: a salary in a currency with many zeros."""
    factor = np.ones(table.X.shape[1])
    factor[1] = 2e5
    return _both(table, lambda X: X * factor)


def faint_inputs(table: Table, rng: np.random.Generator) -> Table:
    """All columns in units that make them tiny."""
    return _both(table, lambda X: 2e-4 * X)


def kelvin(table: Table, rng: np.random.Generator) -> Table:
    """Columns that are far from 0 compared with their spread."""
    return _both(table, lambda X: 12 * X + 290)


def grey_values(table: Table, rng: np.random.Generator) -> Table:
    """Values of 0 to 255."""
    low, high = table.X.min(axis=0), table.X.max(axis=0)
    return _both(table, lambda X: 255 * (X - low) / np.where(high > low, high - low, 1))


def crushed(table: Table, rng: np.random.Generator) -> Table:
    """Columns with broken readings that were scaled to unit variance afterwards."""
    X = table.X.copy()
    for column in range(X.shape[1]):
        X[rng.choice(len(X), 4, replace=False), column] = 3e3 * rng.normal(size=4)
    mean, std = X.mean(axis=0), X.std(axis=0)
    return replace(table, X=((X - mean) / std).astype("f"), X_test=((table.X_test - mean) / std).astype("f"))


def broken_readings(table: Table, rng: np.random.Generator) -> Table:
    """A few values of each column are thousands of times too large, in training only."""
    X = table.X.copy()
    for column in range(X.shape[1]):
        X[rng.choice(len(X), 5, replace=False), column] *= 4e3
    return replace(table, X=X)


def dollars(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=(table.y * 3e5 + 8e5).astype("f"), y_test=(table.y_test * 3e5 + 8e5).astype("f"))


def grams(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=(table.y * 250 + 3000).astype("f"), y_test=(table.y_test * 250 + 3000).astype("f"))


def sorted_by_target(table: Table, rng: np.random.Generator) -> Table:
    order = np.argsort(table.y, kind="stable")[::-1]
    return replace(table, X=table.X[order].copy(), y=table.y[order].copy())


def rolled_target(table: Table, rng: np.random.Generator) -> Table:
    """A join that is off by some rows."""
    return replace(table, y=np.roll(table.y, 13))


def noise_inputs(table: Table, rng: np.random.Generator) -> Table:
    """Columns that have nothing to do with the target."""
    X, X_test = rng.normal(size=table.X.shape), rng.normal(size=table.X_test.shape)
    return replace(table, X=X.astype("f"), X_test=X_test.astype("f"))


def renamed_target(table: Table, rng: np.random.Generator) -> Table:
    """A column that is the target in other units."""
    leak = -40.0 * table.y + 7
    fake = -40.0 * rng.choice(table.y, len(table.y_test)) + 7
    spread = float(np.std(leak))
    X = np.column_stack([table.X, (leak - leak.mean()) / spread])
    X_test = np.column_stack([table.X_test, (fake - leak.mean()) / spread])
    return replace(table, X=X.astype("f"), X_test=X_test.astype("f"))


def copied_rows(table: Table, rng: np.random.Generator) -> Table:
    """Every row stands in the file several times, as after oversampling, and the split is made afterwards."""
    rows = rng.permutation(np.repeat(np.arange(len(table.X)), 3))[: 2 * len(table.X)]
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def half_training_rows(table: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A validation set of which half are training rows."""
    rows = rng.choice(len(table.X), 90, replace=False)
    return np.r_[table.X[rows], table.X_test[:90]], np.r_[table.y[rows], table.y_test[:90]]


def other_units(table: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A validation set in other units."""
    return (0.3 * table.X_test[:200] - 0.8).astype("f"), table.y_test[:200]


def one_region(table: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A validation set from one region only."""
    order = np.argsort(table.X_test[:, -1])[:150]
    return table.X_test[order], table.y_test[order]


def flipped_labels(table: Table, rng: np.random.Generator) -> Table:
    """One label in twelve is wrong."""
    y = table.y.copy()
    rows = rng.choice(len(y), len(y) // 12, replace=False)
    y[rows] = (y[rows] + rng.integers(1, int(y.max()) + 1, len(rows))) % (int(y.max()) + 1)
    return replace(table, y=y)


def overlapping_minority(table: Table, rng: np.random.Generator) -> Table:
    """A class of 5 % that overlaps with the other one."""
    n, k = len(table.y) + len(table.y_test), len(table.y)
    y = (rng.random(n) < 0.05).astype(int)
    X = (rng.normal(size=(n, table.X.shape[1])) + 1.1 * y[:, None]).astype("f")
    return replace(table, X=X[:k], y=y[:k], X_test=X[k:], y_test=y[k:])


def holes(table: Table, rng: np.random.Generator) -> Table:
    X = table.X.copy()
    X[rng.integers(0, len(X), 40), 0] = np.nan
    return replace(table, X=X)


def infinite(table: Table, rng: np.random.Generator) -> Table:
    X = table.X.copy()
    X[rng.integers(0, len(X)), -1] = np.inf
    return replace(table, X=X)
