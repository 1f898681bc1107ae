"""Sick runs: a fault planted in a healthy plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from clinic_data import Table
from clinic_runs import Plan
from healthy_plans import BASES

from madaline.nn.initializers import Constant, Normal

BASE = {plan.data: plan for plan in BASES}
Fault = Callable[[Plan], Plan]


@dataclass(frozen=True)
class Sick:
    """A run with planted faults, and the plan without them."""

    faults: tuple[str, ...]
    plan: Plan
    twin: Plan
    alone: tuple[Plan, ...] = ()
    "For several faults: a run with each of them alone, if that can be made."


def columns_scaled(table: Table, rng: np.random.Generator) -> Table:
    factor = 10.0 ** rng.uniform(-3, 4, table.X.shape[1])
    factor[0], factor[-1] = 1e4, 1e-3
    return replace(table, X=(table.X * factor).astype("f"), X_test=(table.X_test * factor).astype("f"))


def columns_offset(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, X=table.X * 30 + 300, X_test=table.X_test * 30 + 300)


def outliers(table: Table, rng: np.random.Generator) -> Table:
    X = table.X.copy()
    for column in range(X.shape[1]):
        X[rng.integers(0, len(X), 3), column] = 10.0 ** rng.uniform(3, 4, 3)
    return replace(table, X=X)


def target_scaled(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=table.y * 50 + 1000, y_test=table.y_test * 50 + 1000)


def target_tiny(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=table.y * 300 + 100, y_test=table.y_test * 300 + 100)


def sorted_rows(table: Table, rng: np.random.Generator) -> Table:
    order = np.argsort(table.y, kind="stable")
    return replace(table, X=table.X[order], y=table.y[order])


def shuffled_labels(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=rng.permutation(table.y))


def leak(table: Table, rng: np.random.Generator) -> Table:
    X = np.column_stack([table.X, table.y + 0.01 * rng.normal(size=len(table.y))]).astype("f")
    X_test = np.column_stack([table.X_test, rng.choice(table.y_test, len(table.y_test))]).astype("f")
    return replace(table, X=X, X_test=X_test)


def copied_validation(table: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rows = rng.choice(len(table.X), 80, replace=False)
    return np.r_[table.X[rows], table.X_test[:40]], np.r_[table.y[rows], table.y_test[:40]]


def shifted_validation(table: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(table.X_test[:, 0])[-120:]
    return table.X_test[order], table.y_test[order]


def rarer(table: Table, rng: np.random.Generator) -> Table:
    """Two classes of which one is rare and overlaps with the other."""
    n = len(table.y) + len(table.y_test)
    y = (rng.random(n) < 0.06).astype(int)
    X = (rng.normal(size=(n, 5)) + 1.3 * y[:, None] * np.array([1, 1, 0, 0, 0])).astype("f")
    k = len(table.y)
    return replace(table, X=X[:k], y=y[:k], X_test=X[k:], y_test=y[k:])


def with_data(change: Callable[[Table, np.random.Generator], Table]) -> Fault:
    return lambda plan: replace(plan, prepare=(*plan.prepare, change))


FAULTS: dict[str, list[tuple[Fault, tuple[str, ...]]]] = {
    "unscaled_inputs": [
        (with_data(columns_scaled), ("waves", "friedman", "circles", "blobs", "moons", "wine")),
        (with_data(columns_offset), ("waves", "blobs", "circles")),
    ],
    "heavy_tails": [(with_data(outliers), ("waves", "friedman", "blobs"))],
    "unscaled_target": [
        (with_data(target_scaled), ("waves", "friedman", "noisy_line", "diabetes")),
        (with_data(target_tiny), ("waves", "friedman")),
    ],
    "loss_output_mismatch": [
        (lambda p: replace(p, last="softmax"), ("blobs", "digits", "circles", "wine")),
        (lambda p: replace(p, last="sigmoid"), ("moons", "waves", "cancer", "friedman")),
        (lambda p: replace(p, last="relu"), ("waves", "friedman", "moons", "blobs")),
        (lambda p: replace(p, last="tanh"), ("waves", "digits")),
    ],
    "missing_nonlinearity": [
        (lambda p: replace(p, activation="identity"), ("waves", "friedman", "moons", "circles", "blobs"))
    ],
    "no_signal": [(with_data(shuffled_labels), ("waves", "friedman", "moons", "circles"))],
    "target_leak": [(with_data(leak), ("waves", "circles", "noisy_line", "diabetes"))],
    "split_duplicates": [
        (lambda p: replace(p, own_validation=copied_validation), ("waves", "friedman", "circles", "diabetes"))
    ],
    "split_shift": [
        (lambda p: replace(p, own_validation=shifted_validation), ("waves", "friedman", "circles", "blobs"))
    ],
    "unshuffled_rows": [
        (
            lambda p: replace(with_data(sorted_rows)(p), shuffle=False, validation=None),
            ("blobs", "circles", "waves", "digits"),
        )
    ],
    "too_few_steps": [
        (lambda p: replace(p, batch=None, epochs=20), ("waves", "friedman", "circles", "blobs", "digits"))
    ],
    "symmetric_weights": [
        (lambda p: replace(p, init=Constant(0.1)), ("waves", "friedman", "moons", "blobs", "circles"))
    ],
    "init_gain": [
        (lambda p: replace(p, init=Normal(std=3.0)), ("waves", "friedman", "circles", "blobs", "digits")),
        (lambda p: replace(p, init=Normal(std=1e-4), widths=(32,) * 4, epochs=30), ("waves", "circles", "blobs")),
    ],
    "rate_too_high": [
        (lambda p: replace(p, rate=0.3), ("waves", "friedman", "circles", "blobs", "digits", "moons")),
        (lambda p: replace(p, rate=3.0), ("waves", "digits", "cancer")),
        (lambda p: replace(p, optimizer="sgd", rate=5.0), ("waves", "circles", "blobs")),
    ],
    "rate_too_low": [
        (lambda p: replace(p, rate=1e-5), ("waves", "friedman", "circles", "blobs", "digits", "wine")),
        (lambda p: replace(p, optimizer="sgd", rate=1e-4), ("waves", "circles", "digits")),
    ],
    "not_converged": [(lambda p: replace(p, epochs=3, rate=1e-3, batch=8), ("waves", "friedman", "circles", "blobs"))],
    "stopped_too_early": [
        (
            lambda p: replace(p, stopping=1, epochs=100, rate=1e-3, validation=0.1),
            ("waves", "circles", "friedman", "blobs"),
        )
    ],
    "dead_units": [(lambda p: replace(p, bias=-8.0), ("waves", "friedman", "circles"))],
    "saturated_units": [
        (lambda p: replace(p, activation="tanh", init=Normal(std=4.0)), ("waves", "friedman", "circles", "blobs"))
    ],
    "vanishing_gradients": [
        (
            lambda p: replace(p, activation="sigmoid", widths=(32,) * 6, optimizer="sgd", rate=0.05),
            ("waves", "circles", "blobs", "digits"),
        )
    ],
    "overfitting": [
        (
            lambda p: replace(p, widths=(128, 128), epochs=300, rate=3e-3),
            ("diabetes", "noisy_line", "circles", "blobs", "sparse"),
        )
    ],
    "underfitting": [
        (lambda p: replace(p, widths=(1,)), ("waves", "friedman", "circles", "blobs", "digits")),
        (lambda p: replace(p, dropout=0.9), ("waves", "friedman", "circles", "digits")),
    ],
    "excessive_decay": [
        (lambda p: replace(p, optimizer="adamw", decay=50.0), ("waves", "friedman", "circles", "digits"))
    ],
    "always_clipped": [(lambda p: replace(p, clip=1e-4, optimizer="sgd", rate=0.05), ("waves", "circles", "digits"))],
    "adam_epsilon": [(lambda p: replace(p, eps=1.0), ("waves", "circles", "digits"))],
    "frozen_parameters": [
        (lambda p: replace(p, freeze=("0", "2"), widths=(8, 8)), ("waves", "friedman", "circles", "digits"))
    ],
    "class_imbalance": [(with_data(rarer), ("rare",))],
    "nonfinite_loss": [(lambda p: replace(p, optimizer="sgd", rate=1e3), ("waves", "friedman", "noisy_line"))],
    "exploding_gradients": [
        (
            lambda p: replace(p, widths=(32,) * 8, init=Normal(std=0.8), optimizer="sgd", rate=1e-3),
            ("waves", "circles", "blobs"),
        )
    ],
    "constant_prediction": [(lambda p: replace(p, rate=10.0), ("waves", "friedman", "circles"))],
    "initial_loss": [(lambda p: replace(p, output_std=20.0, epochs=30, rate=1e-3), ("waves", "circles", "digits"))],
    "batch_norm_mismatch": [(lambda p: replace(p, norm="batch", batch=2, epochs=10), ("waves", "friedman", "circles"))],
}
"Faults by the name of the finding: how each is planted, and in which data sets."

PAIRS = (
    ("unscaled_inputs", "rate_too_low"),
    ("unscaled_inputs", "rate_too_high"),
    ("loss_output_mismatch", "rate_too_low"),
    ("missing_nonlinearity", "too_few_steps"),
    ("unscaled_target", "missing_nonlinearity"),
    ("init_gain", "rate_too_high"),
    ("loss_output_mismatch", "unscaled_inputs"),
    ("symmetric_weights", "rate_too_low"),
    ("missing_nonlinearity", "rate_too_low"),
    ("unscaled_inputs", "missing_nonlinearity"),
    ("loss_output_mismatch", "missing_nonlinearity"),
    ("unscaled_target", "unscaled_inputs"),
    ("underfitting", "rate_too_high"),
    ("symmetric_weights", "loss_output_mismatch"),
    ("too_few_steps", "unscaled_inputs"),
)


def sick_plans(seeds: int = 1) -> Iterator[Sick]:
    """Single faults and pairs of faults."""
    for seed in range(seeds):
        for name, ways in FAULTS.items():
            for plant, tables in ways:
                for number, data in enumerate(tables):
                    twin = BASE[data].with_seed(10 * seed + number)
                    yield Sick((name,), plant(twin), twin)
        for number, pair in enumerate(PAIRS):
            plants = [FAULTS[name][(number + seed) % len(FAULTS[name])] for name in pair]
            shared = [data for data in plants[0][1] if data in plants[1][1]] or list(plants[0][1])
            for data in dict.fromkeys(
                (shared[(number + seed) % len(shared)], shared[(number + seed + 1) % len(shared)])
            ):
                if "unscaled_target" in pair and data not in ("waves", "friedman", "noisy_line", "diabetes"):
                    continue
                twin = BASE[data].with_seed(10 * seed + number % 5)
                plan = twin
                for plant, _ in plants:
                    plan = plant(plan)
                yield Sick(pair, plan, twin)
