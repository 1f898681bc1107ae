"""Sick runs of the half that is reported: other data, other values of the faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from clinic_data import Table
from clinic_runs import Plan
from more_healthy_plans import MORE_BASES
from real_pairs import real_pairs
from sick_plans import (
    Fault,
    Sick,
    copied_validation,
    leak,
    outliers,
    rarer,
    shifted_validation,
    shuffled_labels,
    sorted_rows,
    with_data,
)

from madaline.nn.initializers import Constant, Normal, Uniform

MORE_BASE = {plan.data: plan for plan in MORE_BASES}


def log_scales(table: Table, rng: np.random.Generator) -> Table:
    factor = 10.0 ** np.linspace(3, -3, table.X.shape[1])
    return replace(table, X=(table.X * factor).astype("f"), X_test=(table.X_test * factor).astype("f"))


def shifted(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, X=table.X + 60, X_test=table.X_test + 60)


def kilometres(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=table.y * 4000 - 9000, y_test=table.y_test * 4000 - 9000)


def holes(table: Table, rng: np.random.Generator) -> Table:
    X = table.X.copy()
    X[rng.integers(0, len(X), 5), rng.integers(0, X.shape[1], 5)] = np.nan
    return replace(table, X=X)


def infinite_target(table: Table, rng: np.random.Generator) -> Table:
    y = table.y.astype("f").copy()
    y[rng.integers(0, len(y))] = np.inf
    return replace(table, y=y)


MORE_FAULTS: dict[str, list[tuple[Fault, tuple[str, ...]]]] = {
    "nonfinite_data": [
        (with_data(holes), ("friedman2", "quantiles", "mixed")),
        (with_data(infinite_target), ("friedman3", "steps")),
    ],
    "unscaled_inputs": [
        (with_data(log_scales), ("friedman2", "quantiles", "hastie")),
        (with_data(shifted), ("steps", "spirals")),
    ],
    "heavy_tails": [(with_data(outliers), ("steps", "friedman3"))],
    "unscaled_target": [(with_data(kilometres), ("friedman2", "steps", "friedman3"))],
    "loss_output_mismatch": [
        (lambda p: replace(p, last="softmax"), ("quantiles", "trio")),
        (lambda p: replace(p, last="tanh"), ("spirals", "friedman3")),
        (lambda p: replace(p, last="relu"), ("hastie", "friedman2")),
    ],
    "missing_nonlinearity": [(lambda p: replace(p, activation="identity"), ("hastie", "quantiles", "friedman3"))],
    "no_signal": [(with_data(shuffled_labels), ("quantiles", "hastie", "steps"))],
    "target_leak": [(with_data(leak), ("quantiles", "friedman2", "faint"))],
    "split_duplicates": [(lambda p: replace(p, own_validation=copied_validation), ("friedman2", "hastie"))],
    "split_shift": [(lambda p: replace(p, own_validation=shifted_validation), ("steps", "hastie", "quantiles"))],
    "unshuffled_rows": [
        (lambda p: replace(with_data(sorted_rows)(p), shuffle=False, validation=None), ("quantiles", "trio", "spirals"))
    ],
    "too_few_steps": [(lambda p: replace(p, batch=None, epochs=25), ("friedman2", "spirals", "quantiles"))],
    "symmetric_weights": [
        (lambda p: replace(p, init="zeros"), ("spirals", "quantiles")),
        (lambda p: replace(p, init=Constant(0.3)), ("hastie", "steps")),
    ],
    "init_gain": [
        (lambda p: replace(p, init=Uniform(4.0)), ("friedman2", "quantiles")),
        (lambda p: replace(p, init=Normal(std=1e-3), widths=(32,) * 4, epochs=20), ("spirals", "hastie")),
    ],
    "rate_too_high": [
        (lambda p: replace(p, rate=0.5), ("friedman3", "quantiles", "hastie")),
        (lambda p: replace(p, optimizer="sgd", rate=3.0, momentum=0.9), ("steps", "trio")),
    ],
    "rate_too_low": [
        (lambda p: replace(p, rate=3e-5), ("friedman3", "spirals", "quantiles")),
        (lambda p: replace(p, optimizer="sgd", rate=3e-4), ("hastie", "steps")),
    ],
    "not_converged": [(lambda p: replace(p, epochs=4, rate=1e-3, batch=8), ("spirals", "quantiles", "friedman3"))],
    "stopped_too_early": [
        (lambda p: replace(p, stopping=1, epochs=120, rate=1e-3, validation=0.1), ("quantiles", "spirals", "hastie"))
    ],
    "dead_units": [(lambda p: replace(p, bias=-6.0), ("friedman2", "quantiles"))],
    "saturated_units": [
        (lambda p: replace(p, activation="tanh", init=Normal(std=5.0)), ("friedman3", "quantiles")),
        (lambda p: replace(p, activation="sigmoid", init=Normal(std=12.0)), ("steps",)),
    ],
    "vanishing_gradients": [
        (
            lambda p: replace(p, activation="sigmoid", widths=(24,) * 5, optimizer="sgd", rate=0.05),
            ("quantiles", "hastie", "friedman2"),
        )
    ],
    "overfitting": [(lambda p: replace(p, widths=(160, 80), epochs=250, rate=3e-3), ("faint", "trio", "mixed"))],
    "underfitting": [
        (lambda p: replace(p, widths=(1,)), ("steps", "spirals")),
        (lambda p: replace(p, dropout=0.92), ("quantiles", "friedman2")),
    ],
    "excessive_decay": [(lambda p: replace(p, optimizer="adamw", decay=30.0), ("friedman3", "spirals"))],
    "always_clipped": [
        (lambda p: replace(p, clip=3e-4, optimizer="sgd", rate=0.05), ("quantiles", "steps")),
    ],
    "adam_epsilon": [(lambda p: replace(p, eps=0.5), ("friedman3", "spirals"))],
    "frozen_parameters": [(lambda p: replace(p, freeze=("0", "2"), widths=(6, 6)), ("quantiles", "friedman2"))],
    "class_imbalance": [(with_data(rarer), ("hastie",))],
    "nonfinite_loss": [(lambda p: replace(p, optimizer="sgd", rate=300.0), ("friedman2", "steps"))],
    "exploding_gradients": [
        (
            lambda p: replace(p, widths=(32,) * 7, init=Normal(std=0.7), optimizer="sgd", rate=2e-3),
            ("friedman2", "quantiles"),
        )
    ],
    "constant_prediction": [(lambda p: replace(p, rate=8.0), ("friedman3", "quantiles"))],
    "cannot_overfit": [(lambda p: replace(p, activation="step", widths=(4, 4)), ("friedman2", "spirals"))],
    "input_ignored": [(lambda p: replace(p, divisor=1e6), ("quantiles", "friedman3"))],
    "initial_loss": [(lambda p: replace(p, output_std=30.0, epochs=20, rate=1e-3), ("friedman2", "quantiles"))],
    "batch_norm_mismatch": [(lambda p: replace(p, norm="batch", batch=2, epochs=6), ("steps", "quantiles"))],
    "norm_order": [(lambda p: replace(p, norm="batch", dropout=0.5, widths=(48, 48)), ("quantiles", "hastie"))],
    "small_validation": [(lambda p: replace(p, validation=0.03), ("friedman2", "hastie"))],
}


def more_sick_plans(seeds: int, first: int = 0) -> Iterator[Sick]:
    """Single faults on one or two tables, then those in the style of real programs; a third has several faults."""
    for seed in range(first, first + seeds):
        for name, ways in MORE_FAULTS.items():
            for plant, tables in ways:
                for number, data in enumerate(tables[:2] if len(ways) == 1 else tables[:1]):
                    twin = MORE_BASE[data].with_seed(500 + 10 * seed + number)
                    yield Sick((name,), plant(twin), twin)
        yield from real_pairs(MORE_BASE, 600 + 10 * seed, odd=True)


def base_plans() -> dict[str, Plan]:
    """A sound plan for each data set of this half."""
    return dict(MORE_BASE)
