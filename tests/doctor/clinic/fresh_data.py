"""Data sets of the third half."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from clinic_data import Table, split
from sklearn import datasets as toys


def pendulum(seed: int) -> Table:
    """A formula of physics with uniform inputs and little noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform([0.2, 1.0, -1.2, 0.0], [2.0, 20.0, 1.2, 0.5], size=(1500, 4))
    period = 2 * np.pi * np.sqrt(X[:, 0] / X[:, 1]) * (1 + X[:, 2] ** 2 / 16)
    return split(X, period * (1 + X[:, 3]) + 0.03 * rng.normal(size=1500), "regression", 700, seed)


def plane(seed: int) -> Table:
    """A linear regression of few rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(700, 5))
    return split(X, X @ [2.0, -1.0, 0.5, 0.0, 1.0] + 0.8 * rng.normal(size=700), "regression", 120, seed)


def seasons(seed: int) -> Table:
    """Hour, day and temperature: a curve over a day that depends on the day."""
    rng = np.random.default_rng(seed)
    hour, day, heat = rng.uniform(0, 24, 2400), rng.integers(0, 7, 2400), rng.normal(12, 8, 2400)
    y = 3 * np.sin(2 * np.pi * hour / 24) * (1 + (day > 4)) + 0.02 * (heat - 18) ** 2 + rng.normal(size=2400)
    return split(np.column_stack([hour, day, heat]), y, "regression", 1500, seed)


def counts(seed: int) -> Table:
    """Counts with the noise of a Poisson distribution."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1800, 6))
    y = rng.poisson(np.exp(0.6 + 0.5 * X[:, 0] - 0.4 * X[:, 1] * (X[:, 2] > 0)))
    return split(X, y.astype(float), "regression", 900, seed)


def products(seed: int) -> Table:
    """Ten columns of which pairs are multiplied."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2600, 10))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + np.tanh(2 * X[:, 4]) + 0.2 * rng.normal(size=2600)
    return split(X, y, "regression", 1800, seed)


def rings(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 3, 1500)
    r, angle = 1.0 + k + 0.3 * rng.normal(size=1500), rng.uniform(0, 2 * np.pi, 1500)
    return split(np.column_stack([r * np.cos(angle), r * np.sin(angle)]), k, "classes", 700, seed)


def checker(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, size=(1600, 3))
    y = (np.floor(X[:, 0]) + np.floor(X[:, 1])).astype(int) % 2
    flip = rng.random(1600) < 0.04
    return split(X, np.where(flip, 1 - y, y), "binary", 900, seed)


def letters(seed: int) -> Table:
    X, y = toys.make_classification(
        2800, 20, n_informative=8, n_redundant=6, n_classes=5, n_clusters_per_class=2, random_state=seed
    )
    return split(X, y, "classes", 1800, seed)


def votes(seed: int) -> Table:
    """Sparse columns of 0 and 1, three classes."""
    rng = np.random.default_rng(seed)
    X = (rng.random((1600, 40)) < 0.12).astype(float)
    z = X @ rng.normal(size=(40, 3)) * 1.6 + 2.5 * (X[:, :3] * X[:, 3:6]) + rng.gumbel(size=(1600, 3)) * 0.4
    return split(X, z.argmax(axis=1), "classes", 900, seed, scale=False)


def separable(seed: int) -> Table:
    """Easy: two classes far apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 700)
    return split(rng.normal(size=(700, 6)) + 2.2 * y[:, None] * np.array([1, 1, 0, 0, 0, 0]), y, "binary", 300, seed)


def screening(seed: int) -> Table:
    """A rare class that can be learned: a ball in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 3))
    y = (np.linalg.norm(X, axis=1) + 0.06 * rng.normal(size=2400) < 0.85).astype(int)
    return split(X, y, "binary", 1400, seed)


def pixels(seed: int) -> Table:
    """Digits, every second pixel, values of 0 to 1."""
    X, y = toys.load_digits(return_X_y=True)
    return split(X[:, ::2] / 16.0, y, "classes", 900, seed, scale=False)


FRESH_DATA: dict[str, Callable[[int], Table]] = {
    function.__name__: function
    for function in (
        pendulum, plane, seasons, counts, products, rings, checker, letters, votes, separable, screening, pixels,
    )
}  # fmt: skip
