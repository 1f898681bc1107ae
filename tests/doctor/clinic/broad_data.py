"""Data sets of the fourth half: of its two parts, each has its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from clinic_data import Table, split, standard
from sklearn import datasets as toys


def several_targets(X: np.ndarray, Y: np.ndarray, task: str, n: int) -> Table:
    """A table whose target has several columns."""
    X = standard(X, slice(0, n)).astype("f")
    Y = standard(Y, slice(0, n)).astype("f") if task == "regression" else Y.astype("f")
    return Table(X[:n], Y[:n], X[n:], Y[n:], task, Y.shape[1])


# ---- part a


def houses(seed: int) -> Table:
    """Prices that multiply, after a logarithm."""
    rng = np.random.default_rng(seed)
    area, rooms, age = rng.lognormal(4.6, 0.4, 2000), rng.integers(1, 7, 2000), rng.uniform(0, 80, 2000)
    place = rng.normal(size=(2000, 3))
    price = 0.8 * np.log(area) + 0.07 * rooms - 0.006 * age * (area < 90) + np.tanh(place[:, 0] * place[:, 1])
    X = np.column_stack([np.log(area), rooms, age, place])
    return split(X, price + 0.15 * rng.normal(size=2000), "regression", 900, seed)


def one_wave(seed: int) -> Table:
    """A single input column."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, size=(1400, 1))
    return split(x, np.sin(2 * x[:, 0]) + 0.3 * x[:, 0] + 0.25 * rng.normal(size=1400), "regression", 400, seed)


def genes(seed: int) -> Table:
    """Few rows, many columns."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(1100, 10))
    X = np.repeat(hidden, 15, axis=1) + rng.normal(size=(1100, 150))
    z = hidden[:, :4] @ np.array([2.0, -2.0, 1.5, 1.0]) + 0.5 * rng.normal(size=1100)
    return split(X, (z > 0).astype(int), "binary", 140, seed)


def tags(seed: int) -> Table:
    """Six labels of a row, of which any number may be on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1900, 12))
    hidden = np.tanh(X @ rng.normal(size=(12, 10)) / 1.5)
    z = 2.2 * hidden @ rng.normal(size=(10, 6)) / 1.6 - rng.uniform(-0.5, 1.5, 6)
    return several_targets(X, (z + rng.logistic(size=z.shape) * 0.4 > 0).astype("f"), "labels", 900)


def switches(seed: int) -> Table:
    """Sparse columns of 0 and 1, a number to predict."""
    rng = np.random.default_rng(seed)
    X = (rng.random((2000, 35)) < rng.uniform(0.03, 0.25, 35)).astype(float)
    y = X @ rng.normal(size=35) + 1.5 * X[:, 30] * X[:, 31] + 0.4 * rng.normal(size=2000)
    return split(X, y, "regression", 900, seed, scale=False)


def clicks(seed: int) -> Table:
    """A class of 4 % that stands apart."""
    rng = np.random.default_rng(seed)
    y = (rng.random(3200) < 0.04).astype(int)
    X = rng.normal(size=(3200, 6)) + y[:, None] * np.array([2.6, -2.2, 1.5, 0, 0, 0])
    return split(X, y, "binary", 1800, seed)


def mixture(seed: int) -> Table:
    """Six classes of two clusters each."""
    rng = np.random.default_rng(seed)
    centres = 2.4 * rng.normal(size=(12, 5))
    k = rng.integers(0, 12, 2200)
    return split(centres[k] + rng.normal(size=(2200, 5)), k % 6, "classes", 1100, seed)


def rough(seed: int) -> Table:
    """Noise with heavy tails in the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2200, 5))
    y = 2 * np.tanh(X[:, 0] * X[:, 1]) + X[:, 2] + 0.35 * rng.standard_t(3, size=2200)
    return split(X, y, "regression", 1000, seed)


def parity(seed: int) -> Table:
    """The sign of a product of three columns, and other columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 5))
    X[:, :3] += 0.6 * np.sign(X[:, :3])
    return split(X, (np.prod(X[:, :3], axis=1) > 0).astype(int), "classes", 1300, seed)


def faces(seed: int) -> Table:
    """Digits with added noise."""
    X, y = toys.load_digits(return_X_y=True)
    X = X / 16.0 + 0.15 * np.random.default_rng(seed).normal(size=X.shape)
    return split(X, y, "classes", 1000, seed, scale=False)


# ---- part b


def robot(seed: int) -> Table:
    """The place of an arm with three joints: two numbers to predict."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.6, 1.6, size=(2200, 4))
    angles = np.cumsum(X[:, :3], axis=1)
    Y = np.column_stack([np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)])
    return several_targets(X, Y + 0.08 * rng.normal(size=Y.shape), "regression", 1200)


def dial(seed: int) -> Table:
    """A single input column, three classes in five intervals."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, size=(1600, 1))
    y = np.array([0, 1, 2, 1, 0])[np.minimum(x[:, 0] // 2, 4).astype(int)]
    flip = rng.random(1600) < 0.02
    return split(x, np.where(flip, rng.integers(0, 3, 1600), y), "classes", 600, seed)


def spectra(seed: int) -> Table:
    """Few rows, many columns that are smooth curves."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, 120)
    amounts = rng.normal(size=(1000, 4))
    shapes = np.stack([np.exp(-((t - c) ** 2) / 0.01) for c in (0.2, 0.4, 0.6, 0.85)])
    X = amounts @ shapes + 0.1 * rng.normal(size=(1000, 120))
    return split(X, amounts[:, 0] - amounts[:, 1] + 0.4 * rng.normal(size=1000), "regression", 130, seed)


def genres(seed: int) -> Table:
    """Four labels of a row, two of them rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 8))
    z = np.column_stack([X[:, 0] * X[:, 1], X[:, 2] + X[:, 3], np.abs(X[:, 4]) - 1.7, X[:, 5] - X[:, 0] ** 2 - 0.3])
    return several_targets(X, (z + 0.25 * rng.normal(size=z.shape) > 0).astype("f"), "labels", 1100)


def basket(seed: int) -> Table:
    """What was bought: columns of 0 and 1 with very different shares, four classes."""
    rng = np.random.default_rng(seed)
    X = (rng.random((2400, 50)) < rng.beta(0.7, 5, 50)).astype(float)
    z = X @ rng.normal(size=(50, 4)) * 1.8 + rng.gumbel(size=(2400, 4)) * 0.4
    return split(X, z.argmax(axis=1), "classes", 1200, seed, scale=False)


def fraud(seed: int) -> Table:
    """A class of 5 % in two corners."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3600, 4))
    score = np.maximum(X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]) + 0.08 * rng.normal(size=3600)
    return split(X, (score > np.quantile(score, 0.95)).astype(int), "binary", 2000, seed)


def swirl(seed: int) -> Table:
    """Three arms of a spiral."""
    rng = np.random.default_rng(seed)
    k, r = rng.integers(0, 3, 1800), rng.uniform(0.2, 1.0, 1800)
    angle = 4.0 * r + 2 * np.pi * k / 3
    X = np.column_stack([r * np.cos(angle), r * np.sin(angle)]) + 0.06 * rng.normal(size=(1800, 2))
    return split(X, k, "classes", 900, seed)


def storms(seed: int) -> Table:
    """Noise that depends on a column, and is large for some rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 6))
    y = X[:, 0] * np.abs(X[:, 1]) + np.cos(2 * X[:, 2]) + np.exp(0.6 * X[:, 3] - 0.8) * rng.normal(size=2400)
    return split(X, y, "regression", 1200, seed)


def scale_of_noise(seed: int) -> Table:
    """Hardly any signal: the best net explains an eighth of the variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4200, 6))
    return split(X, 0.5 * X[:, 0] + 0.4 * np.abs(X[:, 1]) + 1.4 * rng.normal(size=4200), "regression", 2200, seed)


def tumours(seed: int) -> Table:
    """Breast cancer, every third column, with a few rows."""
    X, y = toys.load_breast_cancer(return_X_y=True)
    return split(X[:, ::3], y, "binary", 250, seed)


PART_A = (houses, one_wave, genes, tags, switches, clicks, mixture, rough, parity, faces)
PART_B = (robot, dial, spectra, genres, basket, fraud, swirl, storms, scale_of_noise, tumours)
BROAD_DATA: dict[str, Callable[[int], Table]] = {function.__name__: function for function in (*PART_A, *PART_B)}
