"""Small data sets of the clinic: training and test rows, without scaling faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import datasets as toys


@dataclass(frozen=True)
class Table:
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    task: str
    n_out: int


def standard(X: np.ndarray, rows: slice) -> np.ndarray:
    std = X[rows].std(axis=0)
    return (X - X[rows].mean(axis=0)) / np.where(std > 0, std, 1.0)


def split(X: np.ndarray, y: np.ndarray, task: str, n: int, seed: int, *, scale: bool = True) -> Table:
    order = np.random.default_rng(seed + 99).permutation(len(X))
    X, y = X[order], y[order]
    X = standard(X, slice(0, n)) if scale else X
    X = X.astype(np.float32)
    if task == "regression":
        y = ((y - y[:n].mean()) / y[:n].std()).astype(np.float32)
    n_out = 1 if task != "classes" else int(y.max()) + 1
    return Table(X[:n], y[:n], X[n:], y[n:], task, n_out)


def waves(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1200, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=1200)
    return split(X, y, "regression", 500, seed)


def friedman(seed: int) -> Table:
    X, y = toys.make_friedman1(1200, 8, noise=1.0, random_state=seed)
    return split(X, y, "regression", 600, seed)


def noisy_line(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 6))
    y = X @ np.array([1.0, -1.0, 0.5, 0, 0, 0]) + np.abs(X[:, 3]) + 1.5 * rng.normal(size=1000)
    return split(X, y, "regression", 400, seed)


def diabetes(seed: int) -> Table:
    X, y = toys.load_diabetes(return_X_y=True)
    return split(X, y, "regression", 300, seed)


def moons(seed: int) -> Table:
    X, y = toys.make_moons(1000, noise=0.2, random_state=seed)
    return split(X, y, "binary", 400, seed)


def circles(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1200, 5))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * rng.normal(size=1200) > 1.5).astype(int)
    return split(X, y, "classes", 500, seed)


def blobs(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.normal(size=(8, 4))
    k = rng.integers(0, 8, 1200)
    X = centres[k] + rng.normal(size=(1200, 4))
    return split(X, k % 4, "classes", 500, seed)


def wine(seed: int) -> Table:
    X, y = toys.load_wine(return_X_y=True)
    return split(X, y, "classes", 120, seed)


def cancer(seed: int) -> Table:
    X, y = toys.load_breast_cancer(return_X_y=True)
    return split(X, y, "binary", 380, seed)


def digits(seed: int) -> Table:
    X, y = toys.load_digits(return_X_y=True)
    return split(X / 16.0, y, "classes", 700, seed, scale=False)


def sparse(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = (rng.random((1200, 30)) < 0.1).astype(float)
    z = X @ rng.normal(size=30) * 2 + 3 * X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1200)
    return split(X, (z > np.median(z)).astype(int), "binary", 500, seed, scale=False)


def rare(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    y = (rng.random(1600) < 0.08).astype(int)
    X = rng.normal(size=(1600, 5)) + 2.2 * y[:, None] * np.array([1, 1, 0, 0, 0])
    return split(X, y, "binary", 800, seed)


DATA: dict[str, Callable[[int], Table]] = {
    function.__name__: function
    for function in (waves, friedman, noisy_line, diabetes, moons, circles, blobs, wine, cancer, digits, sparse, rare)
}
