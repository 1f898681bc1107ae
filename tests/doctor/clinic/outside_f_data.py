"""Data sets of part f of the fifth half: what people try first in scikit-learn, and real tables no other part has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from broad_data import several_targets
from clinic_data import Table, split
from outside_c_data import natural_table, pack_table
from outside_data import FOLDER
from sklearn import datasets as toys

# ---- scikit-learn's own data sets and generators


def _toy(seed: int, *, load: Callable[..., tuple[np.ndarray, np.ndarray]], task: str, n: int) -> Table:
    return split(*load(return_X_y=True), task, n, seed)


def digits16(seed: int) -> Table:
    """Digits as they come: counts from 0 to 16, not scaled."""
    X, y = toys.load_digits(return_X_y=True)
    return split(X, y, "classes", 900, seed, scale=False)


def four_classes(seed: int) -> Table:
    X, y = toys.make_classification(1800, 16, n_informative=8, n_classes=4, class_sep=1.2, random_state=seed)
    return split(X, y, "classes", 1000, seed)


def two_classes(seed: int) -> Table:
    X, y = toys.make_classification(1500, 20, n_informative=6, flip_y=0.03, random_state=seed)
    return split(X, y, "binary", 800, seed)


def one_in_ten(seed: int) -> Table:
    """A rare class that can be learned."""
    X, y = toys.make_classification(2400, 10, n_informative=5, weights=[0.9], class_sep=1.8, random_state=seed)
    return split(X, y, "binary", 1400, seed)


def plane(seed: int) -> Table:
    """``make_regression``: a line with noise."""
    X, y = toys.make_regression(1400, 10, n_informative=6, noise=30.0, random_state=seed)
    return split(X, y, "regression", 700, seed)


def three_targets(seed: int) -> Table:
    X, Y = toys.make_regression(1600, 8, n_informative=6, n_targets=3, noise=5.0, random_state=seed)
    return several_targets(X, np.column_stack([np.abs(Y[:, 0]), Y[:, 1], Y[:, 1] * Y[:, 2] / 100]), "regression", 900)


def half_moons(seed: int) -> Table:
    X, y = toys.make_moons(1200, noise=0.25, random_state=seed)
    return split(X, y, "binary", 600, seed)


def two_rings(seed: int) -> Table:
    X, y = toys.make_circles(1200, noise=0.12, factor=0.5, random_state=seed)
    return split(X, y, "classes", 600, seed)


def clouds(seed: int) -> Table:
    X, y = toys.make_blobs(1500, 6, centers=5, cluster_std=4.0, random_state=seed)
    return split(X, y, "classes", 800, seed)


def friedman2(seed: int) -> Table:
    X, y = toys.make_friedman2(1600, noise=40.0, random_state=seed)
    return split(X, y, "regression", 900, seed)


def friedman3(seed: int) -> Table:
    X, y = toys.make_friedman3(1600, noise=0.1, random_state=seed)
    return split(X, y, "regression", 900, seed)


def friedman1_noisy(seed: int) -> Table:
    X, y = toys.make_friedman1(1600, 10, noise=3.0, random_state=seed)
    return split(X, y, "regression", 900, seed)


def swiss_roll(seed: int) -> Table:
    X, t = toys.make_swiss_roll(1600, noise=0.4, random_state=seed)
    return split(X, t, "regression", 900, seed)


def quantile_rings(seed: int) -> Table:
    X, y = toys.make_gaussian_quantiles(n_samples=1600, n_features=4, n_classes=3, random_state=seed)
    return split(X, y, "classes", 900, seed)


def hastie(seed: int) -> Table:
    X, y = toys.make_hastie_10_2(3000, random_state=seed)
    return split(X, (y > 0).astype(int), "binary", 2000, seed)


def few_informative(seed: int) -> Table:
    X, y = toys.make_sparse_uncorrelated(1500, 12, random_state=seed)
    return split(X, y, "regression", 900, seed)


def several_labels(seed: int) -> Table:
    X, Y = toys.make_multilabel_classification(1600, 15, n_classes=4, n_labels=2, random_state=seed)
    return several_targets(X, Y, "labels", 900)


# ---- formulas


def parabola(seed: int) -> Table:
    """One input, a parabola with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, (800, 1))
    return split(x, x[:, 0] ** 2 + 0.5 * rng.normal(size=800), "regression", 400, seed)


def exclusive_or(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (1400, 4))
    return split(X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int), "classes", 800, seed)


def two_spirals(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    t, y = 1.2 + 7 * np.sqrt(rng.random(1600)), rng.integers(0, 2, 1600)
    X = (t * np.array([np.cos(t + np.pi * y), np.sin(t + np.pi * y)])).T + 0.25 * rng.normal(size=(1600, 2))
    return split(X, y, "binary", 1000, seed)


def counts(seed: int) -> Table:
    """The logarithm of one plus a count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1800, 5))
    return split(
        X, np.log1p(rng.poisson(np.exp(1.5 + 0.8 * X[:, 0] - 0.6 * np.abs(X[:, 1])))), "regression", 1000, seed
    )


def grades(seed: int) -> Table:
    """An ordinal target, 0 to 4, learned as a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1700, 6))
    z = X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=1700)
    return split(X, np.digitize(z, [-1.5, -0.4, 0.5, 1.6]).astype(float), "regression", 1000, seed)


def prices(seed: int) -> Table:
    """The logarithm of a price: area, rooms, age and three districts as 0 and 1."""
    rng = np.random.default_rng(seed)
    area, rooms, age = rng.gamma(6, 15, 1800), rng.integers(1, 7, 1800), rng.uniform(0, 90, 1800)
    district = np.eye(3)[rng.integers(0, 3, 1800)]
    y = np.log(area) + 0.05 * rooms - 0.008 * age * district[:, 0] + 0.5 * district[:, 1] + 0.15 * rng.normal(size=1800)
    return split(np.column_stack([area, rooms, age, district]), y, "regression", 1000, seed)


def basket_items(seed: int) -> Table:
    """Columns of 0 and 1, a tenth of them 1."""
    rng = np.random.default_rng(seed)
    X = (rng.random((1800, 40)) < 0.1).astype(float)
    z = 1.5 * X @ rng.normal(size=40) + 0.4 * rng.logistic(size=1800)
    return split(X, (z > np.median(z)).astype(int), "binary", 1100, seed, scale=False)


def weak_signal(seed: int) -> Table:
    """A tenth of the variance can be explained."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2600, 4))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 2.4 * rng.normal(size=2600)
    return split(X, y, "regression", 1600, seed)


def pure_noise(seed: int) -> Table:
    """Twenty random columns and a random yes or no."""
    rng = np.random.default_rng(seed)
    return split(rng.normal(size=(1400, 20)), rng.integers(0, 2, 1400), "binary", 800, seed)


# ---- real tables


@cache
def _lines(name: str, encoding: str, delimiter: str) -> tuple[list[str], list[list[str]]]:
    text = (FOLDER / "messy" / name).read_text(encoding=encoding)
    head, *rows = [line.split(delimiter) for line in text.replace('"', "").splitlines() if line]
    return head, rows


def _encoded(head: list[str], rows: list[list[str]], target: str, without: tuple[str, ...]) -> tuple[np.ndarray, ...]:
    """Numbers as they are, words as columns of 0 and 1."""
    columns = []
    for place, name in enumerate(head):
        values = np.array([row[place] for row in rows])
        if name == target or name in without:
            continue
        try:
            columns.append(values.astype(float)[:, None])
        except ValueError:
            columns.append((values[:, None] == np.unique(values)[1:]).astype(float))
    return np.column_stack(columns), np.array([float(row[head.index(target)]) for row in rows])


def bikes(seed: int) -> Table:
    """Bikes lent in an hour, by weather and season."""
    head, rows = _lines("seoul_bike_latin1.csv", "latin1", ",")
    X, y = _encoded(head, rows, "Rented Bike Count", ("Row", "Date"))
    keep = np.random.default_rng(seed).permutation(len(y))[:2200]
    return split(X[keep], y[keep], "regression", 1300, seed)


def students(seed: int) -> Table:
    """The last grade by habits and the grade before."""
    head, rows = _lines("student_por_semicolon.csv", "utf-8", ";")
    return split(*_encoded(head, rows, "G3", ("G1",)), "regression", 420, seed)


@cache
def _images(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(FOLDER / "image" / f"{name}.npz") as arrays:
        X, y = arrays["x_test"].astype(float), arrays["y_test"].astype(int)
    return X.reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49) / 255.0, y


def images(seed: int, *, name: str) -> Table:
    """Pictures of 7 by 7 grey values between 0 and 1."""
    X, y = _images(name)
    keep = np.random.default_rng(seed).permutation(len(y))[:2000]
    return split(X[keep], y[keep], "classes", 1200, seed, scale=False)


TOYS: dict[str, Callable[[int], Table]] = {
    "iris": partial(_toy, load=toys.load_iris, task="classes", n=105),
    "wine": partial(_toy, load=toys.load_wine, task="classes", n=120),
    "cancer": partial(_toy, load=toys.load_breast_cancer, task="binary", n=400),
    "diabetes": partial(_toy, load=toys.load_diabetes, task="regression", n=310),
}
FORMULAS = (digits16, four_classes, two_classes, one_in_ten, plane, three_targets, half_moons, two_rings, clouds,
            friedman2, friedman3, friedman1_noisy, swiss_roll, quantile_rings, hastie, few_informative,
            several_labels, parabola, exclusive_or, two_spirals, counts, grades, prices, basket_items, weak_signal,
            pure_noise)  # fmt: skip
PACKS = {
    "energy-y1": ("uci121", "classes", 500),
    "wine-quality-red": ("uci121", "classes", 1000), "lymphography": ("uci121", "classes", 100),
    "horse-colic": ("uci121", "binary", 240), "planning": ("uci121", "binary", 120),
}  # fmt: skip
REAL: dict[str, Callable[[int], Table]] = {
    "bikes": bikes,
    "students": students,
    "numerals": partial(images, name="mnist"),
    "clothes": partial(images, name="fashion_mnist"),
    "motorcycle_claims": partial(natural_table, name="motorcycle_claims", task="regression", n=1300, scale=True),
    **{name: partial(pack_table, pack=pack, name=name, task=task, n=n) for name, (pack, task, n) in PACKS.items()},
}
ALWAYS = TOYS | {function.__name__: function for function in FORMULAS}
OUTSIDE_F_DATA = {f"{name} f": table for name, table in (ALWAYS | REAL).items()}
PART_F = tuple(f"{name} f" for name in (ALWAYS | REAL if FOLDER.is_dir() else ALWAYS))
