"""Data sets of the fifth half: real tables that are read from ``MADALINE_DATA``, and formulas; each part has its
own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
from clinic_data import Table, split

FOLDER = Path(os.environ.get("MADALINE_DATA", "no such folder"))
"Where the real tables are; without it the plans of these tables are left out."


@cache
def _rows(pack: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(FOLDER / "packs" / f"{pack}.npz") as arrays:
        return arrays[f"{name}/X"].astype(float), arrays[f"{name}/y"]


def _real(seed: int, *, pack: str, name: str, task: str, n: int, most: int = 2200) -> Table:
    """At most ``most`` rows of a real table, of which ``n`` are training rows."""
    X, y = _rows(pack, name)
    keep = np.random.default_rng(seed).permutation(len(X))[:most]
    X, y = X[keep], y[keep]
    if task != "regression":
        _, y = np.unique(y, return_inverse=True)
    return split(X, y.astype(float) if task == "regression" else y, task, n, seed)


def _class(name: str, task: str, n: int) -> Callable[[int], Table]:
    return partial(_real, pack="uci121", name=name, task=task, n=n)


# ---- part a


def tide(seed: int) -> Table:
    """The height of water by moon, sun and wind."""
    rng = np.random.default_rng(seed)
    moon, sun, wind = rng.uniform(0, 12.4, 1800), rng.uniform(0, 12, 1800), rng.normal(size=1800)
    y = 1.5 * np.cos(2 * np.pi * moon / 12.4) + 0.6 * np.cos(2 * np.pi * sun / 12) + 0.4 * np.maximum(wind, 0) ** 2
    return split(np.column_stack([moon, sun, wind]), y + 0.2 * rng.normal(size=1800), "regression", 900, seed)


def enzyme(seed: int) -> Table:
    """The rate of a reaction with an inhibitor."""
    rng = np.random.default_rng(seed)
    s, i, heat = rng.lognormal(0, 1, 1600), rng.lognormal(0, 1, 1600), rng.normal(30, 6, 1600)
    y = np.exp(-(((heat - 34) / 7) ** 2)) * s / (0.8 * (1 + i) + s)
    X = np.column_stack([np.log(s), np.log(i), heat])
    return split(X, y + 0.02 * rng.normal(size=1600), "regression", 700, seed)


def teacher(seed: int) -> Table:
    """What another net answers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2200, 9))
    y = np.tanh(X @ rng.normal(size=(9, 6)) / 1.5) @ rng.normal(size=6)
    return split(X, y + 0.15 * rng.normal(size=2200), "regression", 1100, seed)


def sectors(seed: int) -> Table:
    """Four classes in eight sectors of a plane, with two columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 4))
    k = np.floor((np.arctan2(X[:, 0], X[:, 1]) + np.pi) / (np.pi / 4)).astype(int)
    wrong = rng.random(2000) < 0.02
    return split(X, np.where(wrong, rng.integers(0, 4, 2000), k % 4), "classes", 1000, seed)


def ribbon(seed: int) -> Table:
    """Two classes on both sides of a wave."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(1700, 3))
    return split(X, (X[:, 1] > np.sin(3 * X[:, 0]) + 0.25 * rng.normal(size=1700)).astype(int), "binary", 800, seed)


def questionnaire(seed: int) -> Table:
    """Answers from 1 to 5 and a weak opinion."""
    rng = np.random.default_rng(seed)
    opinion = rng.normal(size=(1500, 3))
    X = np.clip(np.round(3 + opinion @ rng.normal(size=(3, 12)) * 0.8 + 0.7 * rng.normal(size=(1500, 12))), 1, 5)
    y = np.digitize(opinion[:, 0] + 0.8 * opinion[:, 1] * opinion[:, 2] + 0.5 * rng.normal(size=1500), [-0.5, 0.8])
    return split(X, y, "classes", 700, seed)


def outage(seed: int) -> Table:
    """A class of 6 % with a sharp border."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2600, 5))
    load = X[:, 0] ** 2 + X[:, 1] + 0.6 * X[:, 2] + 0.1 * rng.normal(size=2600)
    return split(X, (load > np.quantile(load, 0.94)).astype(int), "binary", 1500, seed)


# ---- part b


def crater(seed: int) -> Table:
    """A height that depends on a distance."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.5, 2.5, size=(1900, 2))
    r = np.linalg.norm(X, axis=1)
    return split(X, np.sin(3 * r) / (0.5 + r) + 0.05 * rng.normal(size=1900), "regression", 900, seed)


def regimes(seed: int) -> Table:
    """A line that depends on which of three groups a row belongs to."""
    rng = np.random.default_rng(seed)
    X, group = rng.normal(size=(2000, 5)), rng.integers(0, 3, 2000)
    y = (X * rng.normal(size=(3, 5))[group]).sum(axis=1) + group
    return split(np.column_stack([X, np.eye(3)[group]]), y + 0.25 * rng.normal(size=2000), "regression", 900, seed)


def waiting(seed: int) -> Table:
    """Waiting times with the skewed noise of a gamma distribution, after a root."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 6))
    mean = np.exp(0.5 * X[:, 0] + 0.4 * np.abs(X[:, 1]) - 0.3 * X[:, 2] * X[:, 3])
    return split(X, np.sqrt(rng.gamma(6, mean / 6)), "regression", 1000, seed)


def petals(seed: int) -> Table:
    """Five petals, each a class, with a centre that belongs to the first."""
    rng = np.random.default_rng(seed)
    k, r = rng.integers(0, 5, 1900), rng.gamma(4, 0.4, 1900)
    angle = 2 * np.pi * k / 5 + 0.35 * rng.normal(size=1900) + 0.6 * r
    X = np.column_stack([r * np.cos(angle), r * np.sin(angle)])
    return split(X, np.where(r < 0.6, 0, k), "classes", 900, seed)


def interval(seed: int) -> Table:
    """Whether a sum of columns lies in a band."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 8))
    z = X[:, :4].sum(axis=1) / 2 + 0.15 * rng.normal(size=2000)
    return split(X, ((z > -0.7) & (z < 0.7)).astype(int), "binary", 900, seed)


def alarms(seed: int) -> Table:
    """A class of 7 %, counts and switches."""
    rng = np.random.default_rng(seed)
    n = rng.poisson([2.0, 5.0, 1.0], size=(2600, 3)).astype(float)
    flags = (rng.random((2600, 3)) < 0.3).astype(float)
    z = n[:, 0] * flags[:, 0] + 0.5 * n[:, 1] * flags[:, 1] + 0.25 * rng.normal(size=2600)
    return split(np.column_stack([n, flags]), (z > np.quantile(z, 0.93)).astype(int), "binary", 1500, seed)


FORMULAS_A = (tide, enzyme, teacher, sectors, ribbon, questionnaire, outage)
FORMULAS_B = (crater, regimes, waiting, petals, interval, alarms)
REAL_A: dict[str, Callable[[int], Table]] = {
    "car": _class("car", "classes", 900),
    "chess": _class("chess-krvkp", "binary", 900),
    "heartbeats": _class("cardiotocography-3clases", "classes", 1000),
    "pima": _class("pima", "binary", 450),
    "skin": _class("dermatology", "classes", 220),
    "airfoil": partial(_real, pack="uci_regression", name="airfoil", task="regression", n=900),
    "delta": partial(_real, pack="torgo_regression", name="delta_ailerons", task="regression", n=1200),
    "processor": partial(_real, pack="torgo_regression", name="cpu_act", task="regression", n=1000),
}
REAL_B: dict[str, Callable[[int], Table]] = {
    "waveform": _class("waveform", "classes", 900),
    "spam": _class("spambase", "binary", 1000),
    "textures": _class("statlog-image", "classes", 1000),
    "german": _class("statlog-german-credit", "binary", 600),
    "charts": _class("synthetic-control", "classes", 320),
    "yeast": _class("yeast", "classes", 900),
    "gas": partial(_real, pack="uci_regression", name="gas", task="regression", n=900),
    "ailerons": partial(_real, pack="torgo_regression", name="ailerons", task="regression", n=1200),
    "queues": partial(_real, pack="torgo_regression", name="bank32nh", task="regression", n=1200),
}
PART_A = (*(function.__name__ for function in FORMULAS_A), *(REAL_A if FOLDER.is_dir() else {}))
PART_B = (*(function.__name__ for function in FORMULAS_B), *(REAL_B if FOLDER.is_dir() else {}))
OUTSIDE_DATA: dict[str, Callable[[int], Table]] = {
    **{function.__name__: function for function in (*FORMULAS_A, *FORMULAS_B)},
    **REAL_A,
    **REAL_B,
}
