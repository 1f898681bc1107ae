"""Changes of data and validation sets that the sick runs of part e of the fifth half use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from clinic_data import Table
from outside_faults import with_column

Rng = np.random.Generator

# ---- activations and inputs


def cube(x: np.ndarray) -> np.ndarray:
    """Grows with every layer."""
    return x * x * x


def sign(x: np.ndarray) -> np.ndarray:
    """Has no derivative that could be followed."""
    return np.sign(x)


def dollars_and_rates(X: np.ndarray) -> np.ndarray:
    """A sum of money, a rate of interest, and columns that are standardised."""
    X = X.astype(float)
    X[:, 0], X[:, -1] = 60_000 + 25_000 * X[:, 0], 0.03 + 0.002 * X[:, -1]
    return X


def coordinates(X: np.ndarray) -> np.ndarray:
    """Two columns are metres in a national grid."""
    X = X.astype(float)
    X[:, 0], X[:, 1] = 450_000 + 9_000 * X[:, 0], 5_400_000 + 12_000 * X[:, 1]
    return X


def parts_per_million(X: np.ndarray) -> np.ndarray:
    return 3e-6 * X


def feet(X: np.ndarray) -> np.ndarray:
    """Heights in feet."""
    return 12_000 + 3_500 * X


def hundredths(X: np.ndarray) -> np.ndarray:
    """From 0 to 100, all columns, as percentages or marks are."""
    return np.clip(50 + 17 * X, 0, 100)


def astronomical(X: np.ndarray) -> np.ndarray:
    """A third of the columns cover ten powers of ten."""
    return np.where(np.arange(X.shape[1]) % 3 == 0, np.exp(4.5 * X), X)


def unit_interval(X: np.ndarray) -> np.ndarray:
    """Between 0 and 1: not a fault, but it is what negative weights switch off."""
    return np.clip(0.5 + X / 6, 0, 1)


def nearly_nothing(X: np.ndarray) -> np.ndarray:
    """Below the smallest normal number of 32 bits."""
    return 1e-40 * X.astype(float)


def divided_by_nothing(table: Table, rng: Rng) -> Table:
    """Two columns that are nearly constant were divided by a spread of 1e-6."""
    extra, fake = np.zeros((len(table.X), 2)), np.zeros((len(table.X_test), 2))
    for part in (extra, fake):
        part[rng.random(part.shape) < 0.02] = 1.0
    X = np.column_stack([table.X, extra / 1e-6]).astype("f")
    return replace(table, X=X, X_test=np.column_stack([table.X_test, fake / 1e-6]).astype("f"))


def thousands_separator(table: Table, rng: Rng) -> Table:
    """A comma was read as nothing: one training value in 60 is a thousand times too large."""
    X = table.X.copy()
    X[rng.random(X.shape) < 1 / 60] *= 1000.0
    return replace(table, X=X)


def filled_with_a_million(table: Table, rng: Rng) -> Table:
    """Gaps of two columns were filled with 1e6, in training and test rows."""
    X, X_test = table.X.copy(), table.X_test.copy()
    for part in (X, X_test):
        part[:, :2][rng.random((len(part), 2)) < 0.04] = 1e6
    return replace(table, X=X, X_test=X_test)


def gap_in_a_row(table: Table, rng: Rng) -> Table:
    """One row has no values."""
    X = table.X.copy()
    X[rng.integers(0, len(X))] = np.nan
    return replace(table, X=X)


def ratio_by_zero(table: Table, rng: Rng) -> Table:
    """A new column is a ratio whose divisor is sometimes 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, fake = 1 / np.round(table.X[:, 0], 1), 1 / np.round(table.X_test[:, 0], 1)
    return replace(table, X=np.column_stack([table.X, ratio]).astype("f"),
                   X_test=np.column_stack([table.X_test, fake]).astype("f"))  # fmt: skip


def empty_target(table: Table, rng: Rng) -> Table:
    y = table.y.astype("f").copy()
    y[-1] = np.nan
    return replace(table, y=y)


# ---- rows and targets


def as_it_is(table: Table, rng: Rng) -> Table:
    """A real table whose target cannot be told from its columns."""
    return table


def each_column_sorted(table: Table, rng: Rng) -> Table:
    """``np.sort(X, axis=0)`` sorts every column on its own."""
    return replace(table, X=np.sort(table.X, axis=0))


def shuffled_inputs(table: Table, rng: Rng) -> Table:
    """``np.random.shuffle(X)`` without the target."""
    return replace(table, X=rng.permutation(table.X))


def by_class(table: Table, rng: Rng) -> Table:
    """Rows in the order of the target, from the largest to the smallest."""
    order = np.lexsort((rng.random(len(table.y)), -table.y))
    return replace(table, X=table.X[order].copy(), y=table.y[order].copy())


def with_replacement(table: Table, rng: Rng) -> Table:
    """``rng.choice(n, 2 * n)`` draws rows with replacement."""
    rows = rng.choice(len(table.y), 2 * len(table.y))
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def joined_on_a_key(table: Table, rng: Rng) -> Table:
    """A join on a key that was not unique: a third of the rows come five times."""
    often = rng.choice(len(table.y), len(table.y) // 3, replace=False)
    rows = rng.permutation(np.r_[np.arange(len(table.y)), np.repeat(often, 4)])
    return replace(table, X=table.X[rows].copy(), y=table.y[rows].copy())


def random_class(table: Table, rng: Rng) -> Table:
    """One label in seven is any class."""
    y = table.y.copy()
    rows = rng.choice(len(y), len(y) // 7, replace=False)
    y[rows] = rng.integers(0, int(y.max()) + 1, len(rows))
    return replace(table, y=y)


def turned_round(table: Table, rng: Rng) -> Table:
    """One yes or no in nine is the contrary."""
    y = table.y.copy()
    rows = rng.choice(len(y), len(y) // 9, replace=False)
    y[rows] = 1 - y[rows]
    return replace(table, y=y)


def one_in_twelve(table: Table, rng: Rng) -> Table:
    """Of the rows of class 1, one in twelve was kept, in training and test rows."""
    keep, keep_test = (np.flatnonzero((y == 0) | (rng.random(len(y)) < 1 / 12)) for y in (table.y, table.y_test))
    return replace(
        table, X=table.X[keep], y=table.y[keep], X_test=table.X_test[keep_test], y_test=table.y_test[keep_test]
    )


# ---- leaks


def rank(table: Table, rng: Rng) -> Table:
    """The rank of the target among all rows."""
    place = np.argsort(np.argsort(table.y)).astype(float)
    return with_column(table, place, rng.choice(place, len(table.y_test)))


def group_mean(table: Table, rng: Rng) -> Table:
    """The mean target of a small group that has the row itself in it, nearly always alone."""
    group = rng.integers(0, 40 * len(table.y), len(table.y))
    sums = {g: table.y[group == g].mean() for g in set(group)}
    mean = np.array([sums[g] for g in group])
    return with_column(table, mean, np.full(len(table.y_test), table.y.mean()))


def status_code(table: Table, rng: Rng) -> Table:
    """A code that is set after the class is known."""
    code = 3.0 * ((table.y * 7 + 2) % 5) + table.y + 0.2 * rng.normal(size=len(table.y))
    return with_column(table, code, rng.choice(code, len(table.y_test)))


def paid_back(table: Table, rng: Rng) -> Table:
    """A share that is 1 for one class and below for the other."""
    share = np.where(table.y == 1, 1.0, rng.uniform(0, 0.95, len(table.y)))
    return with_column(table, share, rng.choice(share, len(table.y_test)))


# ---- validation sets


def tail_of_training(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The last 200 rows, which were not cut off from the training rows."""
    return table.X[-200:].copy(), table.y[-200:].copy()


def half_precision(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Two thirds are training rows that were stored in half precision."""
    rows = rng.choice(len(table.X), 160, replace=False)
    X = np.r_[table.X[rows].astype(np.float16).astype("f"), table.X_test[:80]]
    return X, np.r_[table.y[rows], table.y_test[:80]]


def shared_patients(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A third are training rows."""
    rows = rng.choice(len(table.X), 90, replace=False)
    return np.r_[table.X_test[:180], table.X[rows]], np.r_[table.y_test[:180], table.y[rows]]


def another_unit(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """One column is in another unit."""
    X = table.X_test[:260].copy()
    X[:, 0] = 1.8 * X[:, 0] + 3.2
    return X, table.y_test[:260]


def end_of_sorted(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The rows with the largest targets."""
    rows = np.argsort(table.y_test, kind="stable")[-220:]
    return table.X_test[rows], table.y_test[rows]


def augmented(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The noise for training rows was added to the validation rows, too much of it."""
    X = table.X_test[:260]
    return (X + 2.5 * rng.normal(size=X.shape)).astype("f"), table.y_test[:260]


def divided_again(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The validation rows were scaled twice."""
    return (table.X_test[:260] / 9 - 0.6).astype("f"), table.y_test[:260]


def leaky_other_unit(table: Table, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """One column is in another unit, and the column that knows the target knows it here, too."""
    X = table.X_test[:260].copy()
    X[:, 0], X[:, -1] = 1.8 * X[:, 0] + 3.2, np.argsort(np.argsort(table.y_test[:260])) / 75.0 - 1.73
    return X, table.y_test[:260]
