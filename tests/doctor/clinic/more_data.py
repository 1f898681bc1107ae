"""Data sets of the half that is reported; no threshold was chosen on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from clinic_data import Table, split
from sklearn import datasets as toys


def friedman2(seed: int) -> Table:
    X, y = toys.make_friedman2(1100, noise=60.0, random_state=seed)
    return split(X, y, "regression", 500, seed)


def friedman3(seed: int) -> Table:
    X, y = toys.make_friedman3(1100, noise=0.1, random_state=seed)
    return split(X, y, "regression", 500, seed)


def steps(seed: int) -> Table:
    """A regression with jumps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1200, 3))
    y = 2.0 * np.sign(X[:, 0]) + (X[:, 1] > 0.5) + 0.3 * X[:, 2] + 0.3 * rng.normal(size=1200)
    return split(X, y, "regression", 500, seed)


def faint(seed: int) -> Table:
    """A regression of which four fifths of the variance are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1600, 5))
    y = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 2.2 * rng.normal(size=1600)
    return split(X, y, "regression", 800, seed)


def quantiles(seed: int) -> Table:
    X, y = toys.make_gaussian_quantiles(n_samples=1200, n_features=4, n_classes=3, random_state=seed)
    return split(X, y, "classes", 600, seed)


def hastie(seed: int) -> Table:
    X, y = toys.make_hastie_10_2(2000, random_state=seed)
    return split(X, (y > 0).astype(int), "binary", 1000, seed)


def iris(seed: int) -> Table:
    X, y = toys.load_iris(return_X_y=True)
    return split(X, y, "classes", 105, seed)


def spirals(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, 1200)
    r = rng.uniform(0.3, 1.0, 1200)
    angle = 5.0 * r + np.pi * k
    X = np.column_stack([r * np.cos(angle), r * np.sin(angle)]) + 0.11 * rng.normal(size=(1200, 2))
    return split(X, k, "binary", 600, seed)


def mixed(seed: int) -> Table:
    """Numbers and columns of 0 and 1."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(1400, 3))
    flags = (rng.random((1400, 6)) < np.array([0.5, 0.3, 0.2, 0.1, 0.05, 0.5])).astype(float)
    z = numbers[:, 0] * (2 * flags[:, 0] - 1) + flags[:, 1] - 1.5 * flags[:, 3] + 0.4 * rng.normal(size=1400)
    return split(np.column_stack([numbers, flags]), (z > 0).astype(int), "binary", 700, seed, scale=False)


def trio(seed: int) -> Table:
    """Three classes, one of which is rare and well apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, 1600, p=[0.56, 0.37, 0.07])
    centres = np.array([[0, 0, 0, 0], [1.8, 0, 0, 0], [0, 3.2, 0, 0]])
    return split(centres[y] + rng.normal(size=(1600, 4)), y, "classes", 800, seed)


MORE_DATA: dict[str, Callable[[int], Table]] = {
    function.__name__: function
    for function in (friedman2, friedman3, steps, faint, quantiles, hastie, iris, spirals, mixed, trio)
}
