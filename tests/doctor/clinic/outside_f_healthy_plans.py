"""Healthy runs of part f of the fifth half: sound plans in styles that look unusual.

They were written before the rules of the doctor were read; their lengths were chosen by losses on test rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import outside_f_faults as bad
from broad_healthy_plans import longer, restarts, wider
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from outside_f_data import PART_F
from outside_f_lengths import ESTIMATORS_F, LENGTHS_F
from outside_faults import inputs
from outside_healthy_plans import Style

import madaline as md
from madaline.nn.initializers import Normal
from madaline.optim import schedules

SIZES_F: dict[str, tuple[tuple[int, ...], int, float]] = {  # table: (widths, epochs, rate)
    "iris": ((10,), 60, 6e-3),
    "wine": ((8,), 30, 4e-3),
    "cancer": ((12,), 15, 3e-3),
    "diabetes": ((8,), 40, 4e-3),
    "digits16": ((40,), 20, 1e-3),
    "four_classes": ((64, 32), 20, 3e-3),
    "two_classes": ((24,), 25, 5e-3),
    "one_in_ten": ((24,), 15, 3e-3),
    "plane": ((10,), 40, 5e-3),
    "three_targets": ((48, 32), 50, 4e-3),
    "half_moons": ((32, 16), 50, 5e-3),
    "two_rings": ((24,), 40, 5e-3),
    "clouds": ((16,), 15, 3e-3),
    "friedman2": ((32, 16), 40, 4e-3),
    "friedman3": ((32, 16), 40, 4e-3),
    "friedman1_noisy": ((16,), 40, 3e-3),
    "swiss_roll": ((48, 32), 60, 4e-3),
    "quantile_rings": ((32, 16), 30, 4e-3),
    "hastie": ((64,), 40, 4e-3),
    "few_informative": ((8,), 20, 3e-3),
    "several_labels": ((24,), 20, 3e-3),
    "parabola": ((24,), 80, 6e-3),
    "exclusive_or": ((24,), 40, 5e-3),
    "two_spirals": ((64, 48), 150, 4e-3),
    "counts": ((16,), 30, 3e-3),
    "grades": ((24,), 25, 4e-3),
    "prices": ((16,), 40, 4e-3),
    "basket_items": ((8,), 12, 3e-3),
    "weak_signal": ((8,), 30, 2e-3),
    "bikes": ((32, 16), 40, 4e-3),
    "students": ((6,), 25, 3e-3),
    "numerals": ((48,), 30, 3e-3),
    "clothes": ((48,), 30, 3e-3),
    "energy-y1": ((24,), 40, 5e-3),
    "wine-quality-red": ((16,), 15, 3e-3),
    "lymphography": ((10,), 40, 5e-3),
    "horse-colic": ((6,), 30, 4e-3),
}
BASE_F = {
    f"{name} f": Plan(f"{name} f", widths=widths, epochs=epochs, rate=rate, standardize=name == "digits16")
    for name, (widths, epochs, rate) in SIZES_F.items()
}
"A sound plan for each data set."


def _steps(p: Plan) -> int:
    rows = len(p.table().X) * (1 - (p.validation or 0.0))
    return -(-int(rows) // (p.batch or int(rows))) * p.epochs


def warmed_up(p: Plan) -> Plan:
    """A warm-up of a tenth of the steps, then a cosine."""
    return replace(p, schedule=schedules.CosineWarmup(max(_steps(p) // 10, 1)), rate=1.5 * p.rate)


def momentum(p: Plan) -> Plan:
    return replace(p, optimizer="sgd", rate=6 * p.rate, momentum=0.9, epochs=longer(p, 1.5))


STYLES_F: dict[str, Style] = {
    "as it is": lambda p: p,
    "slow but fine": lambda p: replace(p, rate=p.rate / 10, epochs=longer(p, 10)),
    "momentum": momentum,
    "gradient descent": lambda p: replace(p, optimizer="sgd", rate=30 * p.rate, epochs=longer(p, 2)),
    "one row at a time": lambda p: replace(p, batch=1, rate=p.rate / 12),
    "full batch": lambda p: replace(p, batch=None, rate=4 * p.rate, epochs=longer(p, 12)),
    "batches of 128": lambda p: replace(p, batch=128, rate=2 * p.rate, epochs=longer(p, 2.5)),
    "l-bfgs": lambda p: replace(p, optimizer=md.LBFGS(), batch=None, epochs=40),
    "tanh": lambda p: replace(p, activation="tanh", epochs=longer(p, 1.5)),
    "sigmoid": lambda p: replace(p, activation="sigmoid", rate=3 * p.rate, epochs=longer(p, 2)),
    "selu, deep": lambda p: replace(p, widths=(32,) * 4, activation="selu", rate=p.rate / 4),
    "deep residual": lambda p: replace(p, widths=(32,) * 8, residual=True, norm="layer", rate=p.rate / 4),
    "deep relu": lambda p: replace(p, widths=(32,) * 5, rate=p.rate / 3),
    "heavy dropout": lambda p: replace(p, widths=wider(p, 6), dropout=0.5, epochs=longer(p, 2)),
    "zero last layer": lambda p: replace(p, zero_output=True),
    "cosine": lambda p: replace(p, schedule="cosine", rate=1.5 * p.rate),
    "warm restarts": restarts,
    "warm-up": warmed_up,
    "one cycle": lambda p: replace(p, schedule=schedules.OneCycle(), rate=2 * p.rate),
    "on plateaus": lambda p: replace(
        p, schedule=schedules.ReduceOnPlateau(0.5, patience=8, metric="val_loss"), epochs=longer(p, 1.5)
    ),
    "early stopping": lambda p: replace(p, stopping=20, epochs=longer(p, 5)),
    "batch norm": lambda p: replace(p, norm="batch", batch=64, epochs=longer(p, 1.5)),
    "layer norm": lambda p: replace(p, norm="layer", rate=p.rate / 1.5),
    "frozen on purpose": lambda p: replace(p, widths=(300,), freeze=("0",), epochs=longer(p, 1.5)),
    "decay": lambda p: replace(p, optimizer="adamw", decay=0.05),
    "sample weights": lambda p: replace(p, weights=8.0),
    "class weights": lambda p: replace(p, class_weight="balanced"),
    "clipped": lambda p: replace(p, clip=1.0),
    "huber": lambda p: replace(p, loss="huber"),
    "gelu": lambda p: replace(p, activation="gelu"),
    "wide": lambda p: replace(p, widths=(256,), rate=p.rate / 2),
    "weights of 0.05": lambda p: replace(p, init=Normal(std=0.05)),
    "own scaling layer": lambda p: replace(p, prepare=(*p.prepare, inputs(bad.raw_areas)), standardize=True),
    "between 0 and 1": lambda p: replace(p, prepare=(*p.prepare, inputs(bad.positive)), epochs=longer(p, 1.5)),
    "without a validation set": lambda p: replace(p, validation=None),
    "rmsprop": lambda p: replace(p, optimizer="rmsprop", rate=p.rate / 2),
    "nadam": lambda p: replace(p, optimizer=md.optim.Nadam(p.rate)),
    "no activation, as the truth is a line": lambda p: replace(p, activation="identity"),
}
"What makes a run look different."


def healthy_plans_f(seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """Each data set in three or four styles, and estimators."""
    for seed in range(first, first + seeds):
        for place, (name, lengths) in enumerate(LENGTHS_F.items()):
            if f"{name} f" in PART_F:
                for number, (style, epochs) in enumerate(lengths.items()):
                    base = replace(BASE_F[f"{name} f"], epochs=epochs)
                    plan = STYLES_F[style](base.with_seed(8300 + 200 * seed + 4 * place))
                    yield replace(plan.with_seed(plan.seed + number), style=style)
        for k, (name, params) in enumerate(ESTIMATORS_F):
            if f"{name} f" in PART_F:
                yield EstimatorPlan(f"{name} f", params).with_seed(8900 + 200 * seed + k)
