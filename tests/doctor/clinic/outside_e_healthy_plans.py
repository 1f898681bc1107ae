"""Healthy runs of part e of the fifth half: sound plans in styles that look unusual.

They were written before the rules of the doctor were read; their lengths were chosen by losses on test rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import outside_e_faults as bad
from broad_healthy_plans import longer, wider
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from outside_e_data import PART_E
from outside_e_lengths import ESTIMATORS_E, LENGTHS_E
from outside_faults import inputs
from outside_healthy_plans import Style

import madaline as md
from madaline.nn.initializers import Normal, Orthogonal
from madaline.optim import schedules

SIZES_E: dict[str, tuple[tuple[int, ...], int, float]] = {  # table: (widths, epochs, rate)
    "sine": ((32, 16), 150, 6e-3),
    "paraboloid": ((40,), 20, 6e-3),
    "fahrenheit": ((8,), 25, 1e-2),
    "cannon": ((32, 16), 30, 2e-3),
    "lags": ((20,), 25, 2e-3),
    "claims": ((10,), 18, 2e-3),
    "staircase": ((40, 24), 40, 5e-3),
    "dice": ((10,), 35, 2e-3),
    "drift": ((64, 48), 50, 4e-3),
    "approval": ((20,), 25, 4e-3),
    "sentiment": ((8,), 30, 1e-3),
    "bitmaps": ((30,), 25, 2e-3),
    "defects": ((32, 16), 15, 5e-3),
    "flags": ((32, 16), 20, 6e-3),
    "topics": ((48,), 30, 5e-3),
    "coins": ((8,), 45, 2e-3),
    "knobs": ((40, 24), 60, 4e-3),
    "rosettes": ((48, 32), 15, 4e-3),
    "boston_housing e": ((20,), 25, 4e-3),
    "naval_propulsion e": ((48, 24), 90, 1e-2),
    "penguins e": ((12,), 40, 6e-3),
    "wine_quality e": ((20,), 20, 3e-3),
    "servo e": ((24, 12), 50, 8e-3),
    "autos e": ((16,), 60, 5e-3),
    "concreteslump e": ((12,), 180, 1e-2),
    "balance-scale e": ((20, 12), 60, 8e-3),
    "breast-tissue e": ((16,), 55, 6e-3),
    "ecoli e": ((16,), 50, 4e-3),
    "glass e": ((12,), 35, 5e-3),
    "heart-hungarian e": ((8,), 55, 2e-3),
    "image-segmentation e": ((40,), 20, 4e-3),
    "low-res-spect e": ((16,), 45, 2e-3),
    "monks-1 e": ((32, 16), 100, 8e-3),
    "musk-1 e": ((16,), 45, 1.5e-3),
    "seeds e": ((10,), 90, 8e-3),
    "soybean e": ((40,), 22, 3e-3),
    "waveform-noise e": ((8,), 25, 1.5e-3),
    "zoo e": ((16,), 70, 8e-3),
    "vertebral-column-2clases e": ((12,), 32, 5e-3),
    "cylinder-bands e": ((6,), 16, 2e-3),
}
BASE_E = {
    name: Plan(name, widths=widths, epochs=epochs, rate=rate, standardize=name == "cannon")
    for name, (widths, epochs, rate) in SIZES_E.items()
}
"A sound plan for each data set."


def _steps(p: Plan) -> int:
    """Steps of the whole run."""
    rows = len(p.table().X) * (1 - (p.validation or 0.0))
    return -(-int(rows) // (p.batch or int(rows))) * p.epochs


def growing_cycles(p: Plan) -> Plan:
    """Cycles of the rate, each twice as long as the one before; the third ends with the run."""
    return replace(p, schedule=schedules.CosineRestarts(-(-_steps(p) // 7), longer=2), rate=1.5 * p.rate)


def drops(p: Plan) -> Plan:
    n = _steps(p)
    return replace(p, schedule=schedules.Multistep((int(0.6 * n), int(0.85 * n)), gamma=0.2), rate=1.3 * p.rate)


def warmed_up(p: Plan) -> Plan:
    optimizer = md.SGD(8 * p.rate, momentum=0.9, nesterov=True)
    return replace(p, optimizer=optimizer, schedule=schedules.CosineWarmup(_steps(p) // 15), epochs=p.epochs)


STYLES_E: dict[str, Style] = {
    "as it is": lambda p: p,
    "very slow": lambda p: replace(p, rate=p.rate / 8, epochs=longer(p, 7)),
    "plain gradient descent": lambda p: replace(p, optimizer="sgd", rate=25 * p.rate, epochs=longer(p, 2)),
    "nesterov, warm-up": warmed_up,
    "batches of two": lambda p: replace(p, batch=2, rate=p.rate / 12),
    "full batch": lambda p: replace(p, batch=None, rate=3 * p.rate, epochs=longer(p, 10)),
    "large batches": lambda p: replace(p, batch=200, rate=3 * p.rate, epochs=longer(p, 2.5)),
    "l-bfgs": lambda p: replace(p, optimizer=md.LBFGS(), batch=None, epochs=max(p.epochs, 40)),
    "rmsprop": lambda p: replace(p, optimizer="rmsprop", rate=p.rate / 2),
    "adagrad": lambda p: replace(p, optimizer=md.optim.Adagrad(8 * p.rate), epochs=longer(p, 2)),
    "lion": lambda p: replace(p, optimizer=md.optim.Lion(p.rate / 5)),
    "tanh, orthogonal": lambda p: replace(p, activation="tanh", init=Orthogonal(), epochs=longer(p, 1.5)),
    "sigmoid, one layer": lambda p: replace(
        p, activation="sigmoid", widths=p.widths[:1], rate=3 * p.rate, epochs=longer(p, 2)
    ),
    "normal weights of 0.1": lambda p: replace(p, init=Normal(std=0.1)),
    "deep residual": lambda p: replace(
        p, widths=(24,) * 9, residual=True, norm="layer", activation="gelu", rate=p.rate / 3
    ),
    "deep, batch norm": lambda p: replace(p, widths=(24,) * 6, norm="batch", rate=p.rate / 2, batch=48),
    "deep selu": lambda p: replace(p, widths=(24,) * 5, activation="selu", rate=p.rate / 4),
    "heavy dropout": lambda p: replace(p, widths=wider(p, 8), dropout=0.6, epochs=longer(p, 2)),
    "zero last layer, cosine": lambda p: replace(p, zero_output=True, schedule="cosine", rate=1.5 * p.rate),
    "growing cycles": growing_cycles,
    "drops": drops,
    "falling in a line": lambda p: replace(p, schedule=schedules.Polynomial(), rate=1.5 * p.rate),
    "on plateaus": lambda p: replace(
        p, schedule=schedules.ReduceOnPlateau(0.3, patience=6, metric="val_loss"), epochs=longer(p, 2)
    ),
    "early stopping": lambda p: replace(p, stopping=25, validation=0.2, epochs=longer(p, 6)),
    "random features": lambda p: replace(p, widths=(400,), freeze=("0",), epochs=longer(p, 2)),
    "natural scale, own scaling layer": lambda p: replace(p, prepare=(*p.prepare, inputs(bad.feet)), standardize=True),
    "amounts, own scaling layer": lambda p: replace(p, prepare=(inputs(bad.dollars_and_rates),), standardize=True),
    "leaky, decay": lambda p: replace(p, activation="leaky_relu", optimizer="adamw", decay=0.1),
    "softplus": lambda p: replace(p, activation="softplus", epochs=longer(p, 1.5)),
    "bottleneck": lambda p: replace(p, widths=(32, 6, 32), activation="swish"),
    "clipped": lambda p: replace(p, clip=0.5),
    "wide": lambda p: replace(p, widths=(320,), rate=p.rate / 2),
    "without a validation set": lambda p: replace(p, validation=None),
    "huber": lambda p: replace(p, loss="huber"),
    "double log softmax": lambda p: replace(p, last="log_softmax"),
    "no activation, as the truth is a line": lambda p: replace(p, activation="identity", widths=(8, 8)),
}
"What makes a run look different."


def healthy_plans_e(seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """Each data set in three or four styles, and estimators."""
    for seed in range(first, first + seeds):
        for place, (name, lengths) in enumerate(LENGTHS_E.items()):
            if name in PART_E:
                for number, (style, epochs) in enumerate(lengths.items()):
                    plan = STYLES_E[style](
                        replace(BASE_E[name], epochs=epochs).with_seed(7100 + 200 * seed + 4 * place)
                    )
                    yield replace(plan.with_seed(plan.seed + number), style=style)
        for k, (name, params) in enumerate(ESTIMATORS_E):
            if name in PART_E:
                yield EstimatorPlan(name, params).with_seed(7700 + 200 * seed + k)
