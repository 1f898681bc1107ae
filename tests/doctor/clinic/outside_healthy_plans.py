"""Healthy runs of the fifth half: sound plans of real tables and formulas in many styles, and estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from broad_healthy_plans import longer, residual, wider
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from outside_data import PART_A, PART_B

import madaline as md
from madaline.optim import schedules

OUTSIDE_BASES = (
    # part a
    Plan("tide", widths=(40, 40), epochs=60, rate=4e-3),
    Plan("enzyme", widths=(32, 32), epochs=60, rate=3e-3),
    Plan("teacher", widths=(48,), epochs=80, rate=6e-3),
    Plan("sectors", widths=(48, 32), epochs=40, rate=3e-3),
    Plan("ribbon", widths=(40, 40), epochs=60, rate=4e-3),
    Plan("questionnaire", widths=(24,), epochs=20, rate=4e-3),
    Plan("outage", widths=(32, 16), epochs=40, batch=64, rate=4e-3),
    Plan("car", widths=(48, 24), epochs=60, rate=4e-3),
    Plan("chess", widths=(48,), epochs=30, rate=3e-3),
    Plan("heartbeats", widths=(40,), epochs=20, rate=2e-3),
    Plan("pima", widths=(16,), epochs=20, rate=2e-3),
    Plan("skin", widths=(24,), epochs=20, rate=3e-3, batch=16),
    Plan("airfoil", widths=(64, 64), epochs=100, rate=4e-3),
    Plan("delta", widths=(24,), epochs=20, rate=3e-3),
    Plan("processor", widths=(48, 24), epochs=60, rate=6e-3),
    # part b
    Plan("crater", widths=(48, 48), epochs=100, rate=5e-3),
    Plan("regimes", widths=(48, 48), epochs=50, rate=3e-3),
    Plan("waiting", widths=(24,), epochs=30, rate=3e-3),
    Plan("petals", widths=(40, 24), epochs=50, rate=3e-3),
    Plan("interval", widths=(32, 16), epochs=30, rate=3e-3),
    Plan("alarms", widths=(32, 16), epochs=40, batch=64, rate=3e-3),
    Plan("waveform", widths=(24,), epochs=12, rate=2e-3),
    Plan("spam", widths=(32,), epochs=20, rate=2e-3),
    Plan("textures", widths=(48, 32), epochs=50, rate=3e-3),
    Plan("german", widths=(16,), epochs=12, rate=4e-3),
    Plan("charts", widths=(32,), epochs=30, rate=3e-3, batch=16),
    Plan("yeast", widths=(32,), epochs=30, rate=2e-3),
    Plan("gas", widths=(48, 24), epochs=40, rate=2e-3),
    Plan("ailerons", widths=(32,), epochs=40, rate=1e-2),
    Plan("queues", widths=(16,), epochs=20, rate=3e-3),
)
"A sound plan for each data set."
OUTSIDE_BASE = {plan.data: plan for plan in OUTSIDE_BASES}
Style = Callable[[Plan], Plan]


def cycles(p: Plan) -> Plan:
    """Three cycles of the rate; the last one ends with the run."""
    steps = -(-int(len(p.table().X) * (0.75 if p.validation else 1.0)) // (p.batch or 1))
    epochs = max(longer(p, 1.5) // 3 * 3, 3)
    return replace(p, schedule=schedules.CosineRestarts(steps * epochs // 3), epochs=epochs, rate=1.5 * p.rate)


def halved(p: Plan) -> Plan:
    """A rate that is halved a few times."""
    steps = -(-len(p.table().X) // (p.batch or 1)) * p.epochs
    return replace(p, schedule=schedules.Step(max(steps // 4, 1), gamma=0.5), rate=1.5 * p.rate)


def random_features(p: Plan) -> Plan:
    return replace(p, widths=(256, 24), freeze=("0",), epochs=longer(p, 1.5))


STYLES: dict[str, Style] = {
    "as it is": lambda p: p,
    "without a validation set": lambda p: replace(p, validation=None),
    "slow, but long": lambda p: replace(p, rate=p.rate / 5, epochs=longer(p, 5)),
    "momentum": lambda p: replace(p, optimizer="sgd", rate=5 * p.rate, momentum=0.9, epochs=longer(p, 2)),
    "large batches": lambda p: replace(p, batch=4 * (p.batch or 32), rate=2.5 * p.rate, epochs=longer(p, 2)),
    "small batches": lambda p: replace(p, batch=8, rate=p.rate / 4),
    "tanh": lambda p: replace(p, activation="tanh", epochs=longer(p, 1.5)),
    "sigmoid": lambda p: replace(p, activation="sigmoid", widths=p.widths[:1], rate=3 * p.rate, epochs=longer(p, 2)),
    "swish": lambda p: replace(p, activation="swish"),
    "softplus": lambda p: replace(p, activation="softplus", epochs=longer(p, 1.5)),
    "selu": lambda p: replace(p, activation="selu", rate=p.rate / 2, epochs=longer(p, 1.5)),
    "heavy dropout": lambda p: replace(p, widths=wider(p, 5), dropout=0.5, epochs=longer(p, 2)),
    "light dropout": lambda p: replace(p, widths=wider(p, 2), dropout=0.1),
    "deep residual": residual,
    "deep and narrow": lambda p: replace(p, widths=(20,) * 4, rate=p.rate / 2, epochs=longer(p, 1.5)),
    "zero last layer": lambda p: replace(p, zero_output=True),
    "cosine": lambda p: replace(p, schedule="cosine", rate=1.5 * p.rate),
    "cycles": cycles,
    "halved": halved,
    "early stopping": lambda p: replace(p, stopping=12, epochs=longer(p, 5)),
    "early stopping on a metric": lambda p: replace(
        p, stopping=md.EarlyStopping("val_loss", patience=20, min_delta=1e-4), epochs=longer(p, 4)
    ),
    "batch norm": lambda p: replace(p, norm="batch"),
    "layer norm": lambda p: replace(p, norm="layer"),
    "frozen on purpose": random_features,
    "decay": lambda p: replace(p, optimizer="adamw", decay=0.05),
    "clipped": lambda p: replace(p, clip=1.0),
    "weighted rows": lambda p: replace(p, weights=6.0),
    "adagrad": lambda p: replace(p, optimizer=md.optim.Adagrad(10 * p.rate), epochs=longer(p, 2)),
    "own scaling layer": lambda p: replace(p, standardize=True),
    "rmsprop": lambda p: replace(p, optimizer="rmsprop", rate=p.rate / 2),
    "large validation set": lambda p: replace(p, validation=0.4),
}
"What makes a run look different."

AUTO, SKLEARN = {"preset": "auto"}, {"learning_rate_init": 3e-3}
OUTSIDE_ESTIMATORS_A = (
    *(EstimatorPlan(name, AUTO) for name in ("tide", "car", "outage", "pima", "airfoil", "questionnaire")),
    EstimatorPlan("sectors", {"hidden_layer_sizes": (64,), "max_iter": 150, **SKLEARN}),
    EstimatorPlan("teacher", {"hidden_layer_sizes": (48,), "max_iter": 100, **SKLEARN}),
    EstimatorPlan("chess", {"hidden_layer_sizes": (48,), "early_stopping": True, "max_iter": 100, **SKLEARN}),
    EstimatorPlan("ribbon", {"hidden_layer_sizes": (40, 40), "activation": "tanh", "max_iter": 150, **SKLEARN}),
    EstimatorPlan("enzyme", {"hidden_layer_sizes": (32, 32), "early_stopping": True, "n_iter_no_change": 25,
                             "max_iter": 200, **SKLEARN}),
    EstimatorPlan("car", {"hidden_layer_sizes": (32, 32), "solver": "sgd", "learning_rate_init": 0.05,
                          "max_iter": 150}),
    EstimatorPlan("heartbeats", {"hidden_layer_sizes": (40,), "alpha": 0.01, "max_iter": 60, **SKLEARN}),
)  # fmt: skip
OUTSIDE_ESTIMATORS_B = (
    *(EstimatorPlan(name, AUTO) for name in ("crater", "petals", "alarms", "german", "spam", "waiting")),
    EstimatorPlan("petals", {"hidden_layer_sizes": (64,), "max_iter": 150, **SKLEARN}),
    EstimatorPlan("regimes", {"hidden_layer_sizes": (48, 48), "max_iter": 100, **SKLEARN}),
    EstimatorPlan("textures", {"hidden_layer_sizes": (48,), "early_stopping": True, "max_iter": 150, **SKLEARN}),
    EstimatorPlan("interval", {"hidden_layer_sizes": (40, 40), "activation": "tanh", "max_iter": 60, **SKLEARN}),
    EstimatorPlan("gas", {"hidden_layer_sizes": (48,), "early_stopping": True, "n_iter_no_change": 25,
                          "max_iter": 200}),
    EstimatorPlan("charts", {"hidden_layer_sizes": (32, 32), "solver": "sgd", "learning_rate_init": 0.03,
                             "max_iter": 80}),
    EstimatorPlan("waveform", {"hidden_layer_sizes": (24,), "alpha": 0.01, "max_iter": 40, **SKLEARN}),
)  # fmt: skip
"Sound estimators."


def outside_healthy_plans(part: str, seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """Six styles of each data set of a part, and its estimators, each with other random seeds."""
    names, styles = (PART_A if part == "a" else PART_B), list(STYLES.items())
    rng = np.random.default_rng(11 if part == "a" else 12)
    for seed in range(first, first + seeds):
        for place, name in enumerate(names):
            for number in rng.permutation(len(styles))[:7]:
                style, change = styles[number]
                own = change(OUTSIDE_BASE[name].with_seed(3100 + 50 * seed + 3 * place + int(number)))
                yield replace(own, style=style)
        for number, plan in enumerate(OUTSIDE_ESTIMATORS_A if part == "a" else OUTSIDE_ESTIMATORS_B):
            if plan.data in names:
                yield plan.with_seed(3300 + 50 * seed + number)
