"""Data sets of part d of the fifth half: formulas that look like the tables people have (amounts of money, counts,
categories, words, repeated experiments, rows in the order of time), and real tables that no other half has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from broad_data import several_targets
from clinic_data import Table, split
from outside_c_data import natural_table, pack_table
from outside_data import FOLDER


def payroll(seed: int) -> Table:
    """Incomes, savings and donations without a logarithm, and a satisfaction that depends on their logarithms."""
    rng = np.random.default_rng(seed)
    income, savings = rng.lognormal(10, 0.8, 1900), rng.lognormal(8, 1.5, 1900)
    gifts = np.where(rng.random(1900) < 0.3, 20 * (1 + rng.pareto(2.2, 1900)), 0)
    age = rng.integers(18, 70, 1900)
    y = np.log(income) + 0.3 * np.log(savings) + 0.02 * age * (gifts > 0) + 0.4 * rng.normal(size=1900)
    return split(np.column_stack([income, savings, gifts, age, rng.normal(size=1900)]), y, "regression", 900, seed)


def ledger(seed: int) -> Table:
    """Balances and payments at their natural scale, some below 0, and who does not pay back."""
    rng = np.random.default_rng(seed)
    limit = 1000 * np.ceil(rng.lognormal(3, 0.8, 2200))
    use = rng.beta(1.5, 3, 2200)
    paid = limit * use * rng.beta(1, 6, 2200) - 50 * (rng.random(2200) < 0.1)
    late = rng.poisson(0.5, 2200)
    z = 3 * use + 0.9 * late - 4 * paid / (limit * use) - 1.5 + rng.logistic(size=2200) * 0.6
    X = np.column_stack([limit, limit * use, paid, late, rng.integers(21, 75, 2200)])
    return split(X, (z > 0).astype(int), "binary", 1200, seed, scale=False)


def visits(seed: int) -> Table:
    """Counts as inputs, and the logarithm of a count as target."""
    rng = np.random.default_rng(seed)
    heat = rng.gamma(1.2, 1.0, (1800, 5))
    X = rng.poisson(heat * np.array([1, 3, 8, 20, 60]))
    rate = np.exp(0.35 * np.sqrt(X[:, 1]) + 0.02 * X[:, 3] - 0.3 * (X[:, 0] == 0) + 0.5)
    return split(X.astype(float), np.log1p(rng.poisson(rate)), "regression", 900, seed)


def shops(seed: int) -> Table:
    """Three categories as columns of 0 and 1, and two numbers."""
    rng = np.random.default_rng(seed)
    town, kind, day = rng.integers(0, 12, 2000), rng.integers(0, 6, 2000), rng.integers(0, 7, 2000)
    number = rng.normal(size=(2000, 2))
    effect = rng.normal(size=(12, 6))
    y = effect[town, kind] + 0.6 * (day > 4) * number[:, 0] + 0.25 * rng.normal(size=2000)
    X = np.column_stack([np.eye(12)[town], np.eye(6)[kind], np.eye(7)[day], number])
    return split(X, y, "regression", 1100, seed, scale=False)


def words(seed: int) -> Table:
    """Counts of 150 words, most of them rare, in texts about four subjects."""
    rng = np.random.default_rng(seed)
    frequent = 0.9 / np.arange(1, 151) ** 0.8
    tilt = np.exp(0.9 * rng.normal(size=(4, 150)))
    k = rng.integers(0, 4, 1600)
    length = rng.gamma(3, 0.5, (1600, 1))
    return split(rng.poisson(length * frequent * tilt[k]).astype(float), k, "classes", 800, seed, scale=False)


def intruders(seed: int) -> Table:
    """A class of 5 % that can be told apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2600, 6))
    z = X[:, 0] * X[:, 1] + X[:, 2] + 0.15 * rng.normal(size=2600)
    return split(X, (z > np.quantile(z, 0.95)).astype(int), "binary", 1600, seed)


def returns(seed: int) -> Table:
    """Very noisy: about a sixth of the variance can be predicted."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 5))
    y = 0.7 * X[:, 0] + 0.6 * np.abs(X[:, 1]) + 2.0 * rng.standard_t(5, 2400)
    return split(X, y, "regression", 1400, seed)


def opinions(seed: int) -> Table:
    """A weak relation with a yes or no."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, (2400, 6)).astype(float)
    z = 0.35 * (X[:, 0] - 3) + 0.25 * (X[:, 1] - 3) * (X[:, 2] > 3) + rng.logistic(size=2400)
    return split(X, (z > 0).astype(int), "binary", 1400, seed)


def grades(seed: int) -> Table:
    """Ordered answers as inputs, and a target that is rounded to whole grades."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(1900, 2))
    X = np.clip(np.round(2 + ability @ rng.normal(size=(2, 9)) + 0.6 * rng.normal(size=(1900, 9))), 0, 4)
    y = np.round(np.clip(3 + ability[:, 0] + 0.5 * np.maximum(ability[:, 1], 0) ** 2, 1, 6))
    return split(X, y, "regression", 900, seed)


def replicates(seed: int) -> Table:
    """Each of 90 settings of an experiment was measured 18 times."""
    rng = np.random.default_rng(seed)
    settings = rng.choice([10.0, 20, 30, 40, 50], size=(90, 4))
    X = np.repeat(settings, 18, axis=0)
    y = np.sin(X[:, 0] / 12) + X[:, 1] * X[:, 2] / 900 + 0.35 * rng.normal(size=len(X))
    return split(X, y, "regression", 900, seed)


def weather(seed: int) -> Table:
    """Rows in the order of time: each is near the one before; the test rows come last."""
    rng = np.random.default_rng(seed)
    X = np.zeros((2000, 5))
    for row in range(1, 2000):
        X[row] = 0.9 * X[row - 1] + np.sqrt(1 - 0.81) * rng.normal(size=5)
    y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=2000)
    mean, std = y[:1200].mean(), y[:1200].std()
    return Table(X[:1200].astype("f"), ((y[:1200] - mean) / std).astype("f"),
                 X[1200:].astype("f"), ((y[1200:] - mean) / std).astype("f"), "regression", 1)  # fmt: skip


def linkage(seed: int) -> Table:
    """Three coordinates of an arm with four joints."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1.2, 1.2, (2000, 4))
    reach = np.cos(a[:, 1]) + 0.7 * np.cos(a[:, 1] + a[:, 2])
    Y = np.column_stack([np.cos(a[:, 0]) * reach, np.sin(a[:, 0]) * reach,
                         np.sin(a[:, 1]) + 0.7 * np.sin(a[:, 1] + a[:, 2]) + 0.2 * a[:, 3]])  # fmt: skip
    return several_targets(a, Y + 0.03 * rng.normal(size=Y.shape), "regression", 1000)


def symptoms(seed: int) -> Table:
    """Four labels of a row, one of them rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 8))
    z = 2 * np.tanh(X @ rng.normal(size=(8, 4))) + 0.7 * X[:, :4] * X[:, 4:] - np.array([0, 0.5, 1, 2.5])
    return several_targets(X, (z + 0.4 * rng.logistic(size=z.shape) > 0).astype("f"), "labels", 1100)


def members(seed: int) -> Table:
    """A number of the row that says nothing, a constant column, and a few that matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 4))
    z = X[:, 0] - X[:, 1] ** 2 + 0.8 * X[:, 2] + 0.4 * rng.normal(size=2000)
    extra = np.column_stack([np.arange(2000), rng.permutation(90_000)[:2000], np.full(2000, 7.0)])
    return split(np.column_stack([extra, X]), (z > np.median(z)).astype(int), "binary", 1100, seed)


def bench(seed: int) -> Table:
    """Ninety measurements."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (1000, 4))
    y = 2 * X[:, 0] + np.maximum(X[:, 1], 0) + X[:, 2] ** 2 + 0.1 * rng.normal(size=1000)
    return split(X, y, "regression", 90, seed)


def herbarium(seed: int) -> Table:
    """A hundred plants of three kinds."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 3, 1000)
    X = rng.normal(size=(1000, 5)) + 1.6 * rng.normal(size=(3, 5))[k]
    return split(X, k, "classes", 100, seed)


def saddle(seed: int) -> Table:
    """Smooth and almost without noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1900, 5))
    y = X[:, 0] * X[:, 1] - 0.5 * X[:, 2] ** 2 + np.sin(2 * X[:, 3]) + 0.08 * rng.normal(size=1900)
    return split(X, y, "regression", 1100, seed)


def zones(seed: int) -> Table:
    """Five classes by sums of columns and their signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2200, 7))
    u = X[:, 0] + X[:, 1] * np.sign(X[:, 2]) + 0.1 * rng.normal(size=2200)
    return split(X, np.digitize(u, [-1.3, -0.4, 0.4, 1.3]), "classes", 1300, seed)


def gate(seed: int) -> Table:
    """A door that opens if exactly one of two sums is positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 6))
    opens = (X[:, 0] + X[:, 1] > 0) ^ (X[:, 2] - X[:, 3] > 0)
    return split(X, np.where(rng.random(2000) < 0.03, ~opens, opens).astype(int), "binary", 1200, seed)


def bicycles(seed: int) -> Table:
    """Rentals by hour, weekday and weather, with the hour as sine and cosine."""
    rng = np.random.default_rng(seed)
    hour, day, rain = rng.integers(0, 24, 2000), rng.integers(0, 7, 2000), rng.random(2000) < 0.15
    heat = 12 + 8 * rng.normal(size=2000)
    y = 3 + np.where(day < 5, np.exp(-((hour - 8) ** 2) / 3) + np.exp(-((hour - 17) ** 2) / 4), 0.0) * 2
    y = y + np.where(day >= 5, np.exp(-((hour - 14) ** 2) / 20), 0) + 0.03 * heat - 0.8 * rain
    X = np.column_stack([np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), day, heat, rain])
    return split(X, y + 0.2 * rng.normal(size=2000), "regression", 1100, seed)


FORMULAS_D = (payroll, ledger, visits, shops, words, intruders, returns, opinions, grades, replicates, weather, linkage,
              symptoms, members, bench, herbarium, saddle, zones, gate, bicycles)  # fmt: skip
TABLES_D = {  # table: (task, training rows)
    "abalone": ("regression", 1200), "concrete": ("regression", 650), "kin8nm": ("regression", 1300),
    "power_plant": ("regression", 1200), "protein_structure": ("regression", 1300), "yacht": ("regression", 200),
    "wine_quality_red": ("regression", 1000), "auto_mpg": ("regression", 250), "higgs_11k": ("binary", 1300),
    "energy_efficiency": ("regression", 480),
}  # fmt: skip
PACKS_D = {
    "mushroom": ("uci121", "binary", 900), "twonorm": ("uci121", "binary", 900),
    "monks-3": ("uci121", "binary", 330), "ionosphere": ("uci121", "binary", 230),
    "breast-cancer-wisc": ("uci121", "binary", 420), "semeion": ("uci121", "classes", 950),
    "cardiotocography-10clases": ("uci121", "classes", 1300), "statlog-heart": ("uci121", "binary", 170),
    "vertebral-column-3clases": ("uci121", "classes", 190), "molec-biol-splice": ("uci121", "classes", 1300),
    "energy-y2": ("uci121", "classes", 480), "letter": ("uci121", "classes", 1500),
}  # fmt: skip
OUTSIDE_D_DATA: dict[str, Callable[[int], Table]] = {
    **{function.__name__: function for function in FORMULAS_D},
    **{f"{name} d": partial(natural_table, name=name, task=task, n=n, scale=True)
       for name, (task, n) in TABLES_D.items()},
    **{f"{name} d": partial(pack_table, pack=pack, name=name, task=task, n=n)
       for name, (pack, task, n) in PACKS_D.items()},
}  # fmt: skip
REAL_D = tuple(f"{name} d" for name in (*TABLES_D, *PACKS_D))
PART_D = (*(function.__name__ for function in FORMULAS_D), *(REAL_D if FOLDER.is_dir() else ()))
