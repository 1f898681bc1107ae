"""Data sets of part e of the fifth half: tables of a lecture or a first project, and real tables no other half has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from broad_data import several_targets
from clinic_data import Table, split
from outside_c_data import natural_table, pack_table
from outside_data import FOLDER


def sine(seed: int) -> Table:
    """One input: three periods of a sine with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, 900)
    return split(x[:, None], np.sin(3 * x) + 0.15 * rng.normal(size=900), "regression", 450, seed)


def paraboloid(seed: int) -> Table:
    """Two inputs from -10 to 10 and the sum of their squares, rounded."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (1200, 2))
    return split(X, np.round((X**2).sum(axis=1)), "regression", 600, seed)


def fahrenheit(seed: int) -> Table:
    """A line: a net without hidden layers would do."""
    rng = np.random.default_rng(seed)
    celsius, error = rng.normal(15, 12, 1000), rng.normal(size=(1000, 2))
    return split(np.column_stack([celsius, error]), 1.8 * celsius + 32 + rng.normal(size=1000), "regression", 500, seed)


def cannon(seed: int) -> Table:
    """Where a ball lands: speed, angle in degrees, height and wind at their natural scale."""
    rng = np.random.default_rng(seed)
    v, a, h, w = rng.uniform(5, 60, 2000), rng.uniform(10, 80, 2000), rng.uniform(0, 30, 2000), rng.normal(size=2000)
    up = v * np.sin(np.radians(a))
    t = (up + np.sqrt(up**2 + 2 * 9.81 * h)) / 9.81
    X = np.column_stack([v, a, h, w])
    return split(X, t * (v * np.cos(np.radians(a)) + w) + rng.normal(size=2000), "regression", 1000, seed, scale=False)


def lags(seed: int) -> Table:
    """The next value of a series from the six before it."""
    rng = np.random.default_rng(seed)
    series = np.zeros(2400)
    for t in range(3, 2400):
        now = 1.2 * series[t - 1] - 0.7 * series[t - 2] + 1.5 * np.tanh(series[t - 3])
        series[t] = now + 0.5 * rng.normal()
    X = np.column_stack([series[k : k + 2300] for k in range(6)])
    return split(X, series[6:2306], "regression", 1200, seed)


def claims(seed: int) -> Table:
    """The logarithm of what a damage costs, by kind of car, region and age."""
    rng = np.random.default_rng(seed)
    car, region, age = rng.integers(0, 9, 2000), rng.integers(0, 5, 2000), rng.integers(18, 80, 2000)
    mean = 6 + 0.5 * rng.normal(size=9)[car] + 0.4 * (age < 25) * (car > 5) + 0.3 * rng.normal(size=5)[region]
    X = np.column_stack([np.eye(9)[car], np.eye(5)[region], (age - 49) / 18])
    return split(X, np.log(rng.gamma(3, np.exp(mean) / 3)), "regression", 1200, seed, scale=False)


def staircase(seed: int) -> Table:
    """A tariff in steps, with two columns that say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (1800, 4))
    y = np.floor(4 * X[:, 0]) + 2.0 * (X[:, 1] > 0.6) * (X[:, 0] < 0.5) + 0.1 * rng.normal(size=1800)
    return split(X, y, "regression", 1000, seed)


def dice(seed: int) -> Table:
    """Four fifths of the variance are chance."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 7, (2200, 5)).astype(float)
    y = 0.5 * X[:, 0] + 0.8 * np.maximum(X[:, 1] - X[:, 2], 0) + 2.6 * rng.normal(size=2200)
    return split(X, y, "regression", 1300, seed)


def drift(seed: int) -> Table:
    """Four sensors of a motor, of which two are almost the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1800, 7))
    a, b = np.sin(X[:, 0]) + X[:, 1] * X[:, 2], np.abs(X[:, 3]) - X[:, 4]
    Y = np.column_stack([a, a + 0.1 * b, b, a * b / 2]) + 0.1 * rng.normal(size=(1800, 4))
    return several_targets(X, Y, "regression", 1000)


def approval(seed: int) -> Table:
    """A loan: job and home as columns of 0 and 1, income and age."""
    rng = np.random.default_rng(seed)
    job, home, income, age = rng.integers(0, 7, 2000), rng.integers(0, 3, 2000), *rng.normal(size=(2, 2000))
    z = 1.8 * income * (home > 0) + 1.5 * rng.normal(size=7)[job] - 0.8 * age**2 + 0.7 + 0.5 * rng.logistic(size=2000)
    X = np.column_stack([np.eye(7)[job], np.eye(3)[home], income, age])
    return split(X, (z > 0).astype(int), "binary", 1100, seed, scale=False)


def sentiment(seed: int) -> Table:
    """Which of 160 words a short text has, and whether it is friendly."""
    rng = np.random.default_rng(seed)
    y = (rng.random(1900) < 0.45).astype(int)
    base = 0.25 / np.arange(1, 161) ** 0.5
    odds = np.exp(0.7 * rng.normal(size=160))
    p = np.clip(base * np.where(y[:, None] == 1, odds, 1 / odds), 0, 0.9)
    return split((rng.random((1900, 160)) < p).astype(float), y, "binary", 1000, seed, scale=False)


def bitmaps(seed: int) -> Table:
    """Ten signs of 6 by 6 black and white points, one point in nine flipped."""
    rng = np.random.default_rng(seed)
    signs = np.random.default_rng(4).random((10, 36)) < 0.4
    k = rng.integers(0, 10, 1800)
    return split((signs[k] ^ (rng.random((1800, 36)) < 0.16)).astype(float), k, "classes", 900, seed, scale=False)


def defects(seed: int) -> Table:
    """One part in 25 is broken, and it can be seen."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 5))
    z = np.abs(X[:, 0]) + 0.7 * X[:, 1] * X[:, 2] + 0.15 * rng.normal(size=3000)
    return split(X, (z > np.quantile(z, 0.96)).astype(int), "binary", 1900, seed)


def flags(seed: int) -> Table:
    """Three classes in stripes of a plane that is turned."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1900, 4))
    u = X[:, 0] + 0.8 * np.sin(2 * X[:, 1])
    return split(X, np.digitize(u + 0.1 * rng.normal(size=1900), [-0.5, 0.5]), "classes", 1000, seed)


def topics(seed: int) -> Table:
    """Five labels of a film, which depend on each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1900, 10))
    h = np.maximum(X @ rng.normal(size=(10, 6)) / 2, 0)
    z = 2 * h @ rng.normal(size=(6, 5)) + 0.4 * rng.logistic(size=(1900, 5))
    return several_targets(X, (z > np.quantile(z, 0.65, axis=0)).astype("f"), "labels", 1000)


def coins(seed: int) -> Table:
    """A yes or no that is mostly chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 5))
    return split(X, (0.6 * X[:, 0] + 0.5 * np.abs(X[:, 1]) - 0.4 + rng.logistic(size=2400) > 0).astype(int),
                 "binary", 1400, seed)  # fmt: skip


def knobs(seed: int) -> Table:
    """Smooth, five inputs, almost no noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (2000, 5))
    y = np.cos(2.5 * X[:, 0] * X[:, 1]) + np.exp(X[:, 2]) * X[:, 3] + 0.05 * rng.normal(size=2000)
    return split(X, y, "regression", 1200, seed)


def rosettes(seed: int) -> Table:
    """Four classes by the angle in a plane, each in two petals."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 5))
    turn = np.arctan2(X[:, 0], X[:, 1]) + 0.08 * rng.normal(size=2000)
    return split(X, (np.floor(turn / (np.pi / 4)) % 4).astype(int), "classes", 1200, seed)


FORMULAS_E = (sine, paraboloid, fahrenheit, cannon, lags, claims, staircase, dice, drift, approval, sentiment, bitmaps,
              defects, flags, topics, coins, knobs, rosettes)  # fmt: skip
TABLES_E = {  # table: (task, training rows)
    "boston_housing": ("regression", 330), "naval_propulsion": ("regression", 1200), "penguins": ("classes", 200),
    "wine_quality": ("regression", 1300),
}  # fmt: skip
PACKS_E = {
    "servo": ("uci_regression", "regression", 110),
    "autos": ("uci_regression", "regression", 105), "concreteslump": ("uci_regression", "regression", 70),
    "tamielectric": ("uci_regression", "regression", 1200), "balance-scale": ("uci121", "classes", 400),
    "breast-tissue": ("uci121", "classes", 70),
    "congressional-voting": ("uci121", "binary", 290), "cylinder-bands": ("uci121", "binary", 340),
    "ecoli": ("uci121", "classes", 220), "glass": ("uci121", "classes", 140),
    "heart-hungarian": ("uci121", "binary", 190),
    "image-segmentation": ("uci121", "classes", 1300), "low-res-spect": ("uci121", "classes", 350),
    "monks-1": ("uci121", "binary", 370), "musk-1": ("uci121", "binary", 310),
    "seeds": ("uci121", "classes", 130), "soybean": ("uci121", "classes", 450),
    "statlog-australian-credit": ("uci121", "binary", 450), "waveform-noise": ("uci121", "classes", 1300),
    "zoo": ("uci121", "classes", 65), "vertebral-column-2clases": ("uci121", "binary", 200),
}  # fmt: skip


def naval(seed: int) -> Table:
    """The state of two machines; the card has two targets, of which the first is taken."""
    import polars as pl

    frame = pl.read_parquet(FOLDER / "tabular" / "naval_propulsion.parquet").sample(2200, seed=seed)
    y = frame["compressor_decay"].to_numpy().astype(float)
    return split(frame.drop("compressor_decay", "turbine_decay").to_numpy().astype(float), y, "regression", 1200, seed)


OUTSIDE_E_DATA: dict[str, Callable[[int], Table]] = {
    **{function.__name__: function for function in FORMULAS_E},
    **{f"{name} e": partial(natural_table, name=name, task=task, n=n, scale=True)
       for name, (task, n) in TABLES_E.items()},
    **{f"{name} e": partial(pack_table, pack=pack, name=name, task=task, n=n)
       for name, (pack, task, n) in PACKS_E.items()},
    "naval_propulsion e": naval,
}  # fmt: skip
PART_E = (
    *(function.__name__ for function in FORMULAS_E),
    *((f"{name} e" for name in (*TABLES_E, *PACKS_E)) if FOLDER.is_dir() else ()),
)
