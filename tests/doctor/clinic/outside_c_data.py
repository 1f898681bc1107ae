"""Data sets of part c of the fifth half: tables of ``MADALINE_DATA`` that no other half has, mostly with the columns of
real records (money, counts, extremes, codes for what is missing), and a few formulas.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from clinic_data import Table, split
from outside_data import FOLDER, _real


@cache
def _frame(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns of numbers with the median for gaps, frequent categories as columns of 0 and 1, and the target."""
    card = json.loads((FOLDER / "tabular" / f"{name}.json").read_text(encoding="utf-8"))
    frame = pl.read_parquet(FOLDER / "tabular" / f"{name}.parquet")
    frame = frame.sample(min(6000, len(frame)), seed=1, shuffle=True).drop_nulls(card["target"])
    columns = []
    for column in frame.drop(card["target"], *card.get("not_features", ()), strict=False):
        if column.dtype.is_numeric():
            values = column.cast(pl.Float64).fill_nan(None)
            columns.append(values.fill_null(values.median()).to_numpy())
        elif column.dtype in (pl.String, pl.Categorical):
            frequent = column.value_counts(sort=True)[column.name].drop_nulls()[:8]
            columns += [(column == value).fill_null(value=False).cast(pl.Float64).to_numpy() for value in frequent]
    return np.column_stack(columns), frame[card["target"]].to_numpy()


def natural_table(seed: int, *, name: str, task: str, n: int, scale: bool = True, most: int = 2200) -> Table:
    """Rows of a table; with ``scale=False`` at its natural scale, targets too."""
    X, y = _frame(name)
    keep = np.random.default_rng(seed).permutation(len(X))[:most]
    X, y = X[keep], y[keep]
    if task != "regression":
        y = np.unique(y, return_inverse=True)[1]
    if scale or task != "regression":
        return _known(split(X, y, task, n, seed, scale=scale))
    X = X.astype("f")
    return Table(X[:n], y[:n].astype("f"), X[n:], y[n:].astype("f"), task, 1)


def pack_table(seed: int, **arguments: Any) -> Table:
    return _known(_real(seed, **arguments))


def _known(table: Table) -> Table:
    """The table without test rows of classes that no training row has."""
    keep = np.isin(table.y_test, table.y) | (table.task == "regression")
    return replace(table, X_test=table.X_test[keep], y_test=table.y_test[keep])


def chequers(seed: int) -> Table:
    """Fields of a board, with two columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, size=(2000, 4))
    y = (np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2
    return split(X, np.where(rng.random(2000) < 0.02, 1 - y, y).astype(int), "binary", 1100, seed)


def pendulums(seed: int) -> Table:
    """The angle of a damped pendulum after some time."""
    rng = np.random.default_rng(seed)
    t, a, f, d = rng.uniform(0, 3, 2000), rng.normal(size=2000), rng.uniform(1, 3, 2000), rng.uniform(0, 1, 2000)
    y = a * np.exp(-d * t) * np.cos(f * t) + 0.03 * rng.normal(size=2000)
    return split(np.column_stack([t, a, f, d]), y, "regression", 1000, seed)


def shells(seed: int) -> Table:
    """Four classes by the distance from the centre, in six columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2200, 6))
    r = np.linalg.norm(X[:, :3], axis=1) + 0.06 * rng.normal(size=2200)
    return split(X, np.digitize(r, [1.05, 1.5, 2.0]), "classes", 1200, seed)


def till(seed: int) -> Table:
    """Counts and skewed amounts of money at their natural scale, and a target that depends on logarithms."""
    rng = np.random.default_rng(seed)
    n, price, age = rng.poisson(3, 2000), rng.lognormal(3, 0.7, 2000), rng.integers(18, 80, 2000)
    X = np.column_stack([n, price, n * price, age, rng.random((2000, 4)) < 0.1])
    y = 0.5 * np.log(price) * (age > 40) + 0.3 * n + X[:, 4] + 0.4 * rng.normal(size=2000)
    return split(X, y, "regression", 1000, seed)


FORMULAS_C = (chequers, pendulums, shells, till)
NUMBERS = {  # table: (task, training rows)
    "california_housing": ("regression", 1200), "diamonds": ("regression", 1200), "taxis": ("regression", 1200),
    "loans": ("regression", 1200), "communities_crime": ("regression", 1100), "beijing_pm25": ("regression", 1200),
    "nycflights": ("regression", 1200), "adult": ("binary", 1200), "credit_default": ("binary", 1200),
    "cardio": ("binary", 1200), "telco_churn": ("binary", 1200), "fico_heloc": ("binary", 1200),
    "electricity": ("binary", 1200), "magic_telescope": ("binary", 1200), "covertype": ("classes", 1200),
    "titanic": ("binary", 600),
}  # fmt: skip
PACKS = {
    "contrac": ("uci121", "classes", 900), "ilpd-indian-liver": ("uci121", "binary", 380),
    "credit-approval": ("uci121", "binary", 420), "mammographic": ("uci121", "binary", 600),
    "statlog-landsat": ("uci121", "classes", 1300), "statlog-vehicle": ("uci121", "classes", 560),
    "statlog-shuttle": ("uci121", "classes", 1300), "ringnorm": ("uci121", "binary", 1000),
    "led-display": ("uci121", "classes", 650), "wine-quality-white": ("uci121", "classes", 1300),
    "optical": ("uci121", "classes", 1200), "annealing": ("uci121", "classes", 600),
    "house8L": ("torgo_regression", "regression", 1200), "fried": ("torgo_regression", "regression", 1200),
    "puma32H": ("torgo_regression", "regression", 1200), "solar": ("uci_regression", "regression", 700),
    "pendulum": ("uci_regression", "regression", 400), "machine": ("uci_regression", "regression", 140),
}  # fmt: skip
OUTSIDE_C_DATA: dict[str, Callable[[int], Table]] = {
    **{function.__name__: function for function in FORMULAS_C},
    **{name: partial(natural_table, name=name, task=task, n=n) for name, (task, n) in NUMBERS.items()},
    **{
        f"{name} raw": partial(natural_table, name=name, task=task, n=n, scale=False)
        for name, (task, n) in NUMBERS.items()
    },
    **{name: partial(pack_table, pack=pack, name=name, task=task, n=n) for name, (pack, task, n) in PACKS.items()},
}
PART_C = (
    *(function.__name__ for function in FORMULAS_C),
    *((*NUMBERS, *(f"{name} raw" for name in NUMBERS), *PACKS) if FOLDER.is_dir() else ()),
)
