"""Healthy runs of the fourth half: sound plans of 20 data sets in many styles, and estimators.

The data sets of part ``a`` are those that alarms were looked into on; those of part ``b`` are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from broad_data import PART_A, PART_B
from clinic_runs import Plan
from estimator_runs import EstimatorPlan

import madaline as md
from madaline.optim import schedules

BROAD_BASES = (
    # part a
    Plan("houses", widths=(32, 32), epochs=60),
    Plan("one_wave", widths=(32, 32), epochs=80, rate=5e-3),
    Plan("genes", widths=(16,), epochs=12, rate=2e-3, batch=16),
    Plan("tags", widths=(48,), epochs=30),
    Plan("switches", widths=(24,), epochs=25, rate=2e-3),
    Plan("clicks", widths=(16,), epochs=60, batch=64),
    Plan("mixture", widths=(48, 32), epochs=20),
    Plan("rough", widths=(32, 16), epochs=25),
    Plan("parity", widths=(48, 48), epochs=60, rate=4e-3),
    Plan("faces", widths=(64,), epochs=25, rate=2e-3),
    # part b
    Plan("robot", widths=(48, 48), epochs=70),
    Plan("dial", widths=(32, 32), epochs=80, rate=4e-3),
    Plan("spectra", widths=(16,), epochs=40, rate=2e-3, batch=16),
    Plan("genres", widths=(48, 24), epochs=20),
    Plan("basket", widths=(32,), epochs=15, rate=3e-3),
    Plan("fraud", widths=(32, 16), epochs=50, batch=64),
    Plan("swirl", widths=(40, 40), epochs=100, rate=4e-3),
    Plan("storms", widths=(32, 16), epochs=40),
    Plan("scale_of_noise", widths=(16,), epochs=20, rate=2e-3),
    Plan("tumours", widths=(16,), epochs=40, rate=2e-3),
)
"A sound plan for each data set."
BROAD_BASE = {plan.data: plan for plan in BROAD_BASES}
Style = Callable[[Plan], Plan]


def wider(plan: Plan, factor: float) -> tuple[int, ...]:
    return tuple(int(factor * width) for width in plan.widths)


def longer(plan: Plan, factor: float) -> int:
    return max(int(factor * plan.epochs), 3)


def restarts(p: Plan) -> Plan:
    """A rate that falls and jumps up again; the last cycle ends with the run."""
    steps = -(-int(len(p.table().X) * (0.75 if p.validation else 1.0)) // (p.batch or 1))
    epochs = longer(p, 1.5) // 5 * 5
    return replace(p, schedule=schedules.CosineRestarts(max(steps * epochs // 5, 1)), epochs=epochs, rate=1.5 * p.rate)


def residual(p: Plan) -> Plan:
    return replace(p, widths=(p.widths[0],) * 6, residual=True, norm="layer", rate=1e-3)


def frozen_features(p: Plan) -> Plan:
    return replace(p, widths=(300, 32), freeze=("0",))


def robust(p: Plan) -> Plan:
    """Another loss that fits the task."""
    return replace(p, loss="huber") if _is_regression(p) else replace(p, optimizer="adamw", decay=0.1)


def _is_regression(p: Plan) -> bool:
    return p.table().task == "regression"


def weighted(p: Plan) -> Plan:
    """Rows with weights between 0.3 and 3."""
    return replace(p, weights=10.0)


STYLES: dict[str, Style] = {
    "as it is": lambda p: p,
    "without a validation set": lambda p: replace(p, validation=None),
    "slow, but long": lambda p: replace(p, rate=p.rate / 4, epochs=longer(p, 4)),
    "momentum": lambda p: replace(p, optimizer="sgd", rate=5 * p.rate, momentum=0.9, epochs=longer(p, 2)),
    "plain gradient descent": lambda p: replace(p, optimizer="sgd", rate=20 * p.rate, epochs=longer(p, 4)),
    "small batches": lambda p: replace(p, batch=8, rate=p.rate / 3),
    "large batches": lambda p: replace(p, batch=128, rate=3 * p.rate, epochs=longer(p, 2)),
    "tanh": lambda p: replace(p, activation="tanh", epochs=longer(p, 1.5)),
    "gelu": lambda p: replace(p, activation="gelu"),
    "selu": lambda p: replace(p, activation="selu", rate=p.rate / 2, epochs=longer(p, 1.5)),
    "elu": lambda p: replace(p, activation="elu"),
    "mish": lambda p: replace(p, activation="mish"),
    "leaky": lambda p: replace(p, activation="leaky_relu"),
    "heavy dropout": lambda p: replace(p, widths=wider(p, 4), dropout=0.5, epochs=longer(p, 2)),
    "light dropout": lambda p: replace(p, widths=wider(p, 2), dropout=0.15),
    "deep residual": residual,
    "zero last layer": lambda p: replace(p, zero_output=True),
    "cosine": lambda p: replace(p, schedule="cosine", rate=1.5 * p.rate),
    "restarts": restarts,
    "one cycle": lambda p: replace(p, schedule=schedules.OneCycle(), rate=2 * p.rate),
    "early stopping": lambda p: replace(p, stopping=15, epochs=longer(p, 5)),
    "early stopping, cosine": lambda p: replace(p, stopping=20, epochs=longer(p, 2), schedule="cosine"),
    "batch norm": lambda p: replace(p, norm="batch"),
    "layer norm": lambda p: replace(p, norm="layer"),
    "frozen on purpose": frozen_features,
    "decay": lambda p: replace(p, optimizer="adamw", decay=0.03),
    "clipped": lambda p: replace(p, clip=2.0),
    "another loss": robust,
    "weighted rows": weighted,
    "rmsprop": lambda p: replace(p, optimizer="rmsprop", rate=p.rate / 2),
    "nadam": lambda p: replace(p, optimizer=md.optim.Nadam(p.rate)),
    "own scaling layer": lambda p: replace(p, standardize=True),
}
"What makes a run look different."
UNFIT = {
    ("genes", "heavy dropout"), ("genes", "slow, but long"), ("genes", "early stopping, cosine"),
    ("switches", "own scaling layer"), ("basket", "own scaling layer"),
}  # fmt: skip
"Styles that make no sense for a data set."

BROAD_ESTIMATORS_A = (
    EstimatorPlan("houses", {"preset": "auto"}),
    EstimatorPlan("mixture", {"preset": "auto"}),
    EstimatorPlan("clicks", {"preset": "auto"}),
    EstimatorPlan("genes", {"preset": "auto"}),
    EstimatorPlan("switches", {"preset": "auto"}),
    EstimatorPlan("one_wave", {"preset": "auto"}),
    EstimatorPlan("tags", {"preset": "auto"}),
    EstimatorPlan("reviews", {"preset": "auto"}),
    EstimatorPlan("shop", {"preset": "auto"}),
    EstimatorPlan("mixture", {"hidden_layer_sizes": (64,), "learning_rate_init": 3e-3, "max_iter": 60}),
    EstimatorPlan("houses", {"hidden_layer_sizes": (32, 32), "learning_rate_init": 3e-3, "max_iter": 150}),
    EstimatorPlan("faces", {"hidden_layer_sizes": (64,), "early_stopping": True, "learning_rate_init": 2e-3,
                            "max_iter": 200}),
    EstimatorPlan("rough", {"hidden_layer_sizes": (32,), "loss": "huber", "learning_rate_init": 2e-3, "max_iter": 60}),
    EstimatorPlan("shop", {"data": "auto", "hidden_layer_sizes": (32,), "learning_rate_init": 2e-3, "max_iter": 60}),
    EstimatorPlan("parity", {"hidden_layer_sizes": (64, 64), "activation": "tanh", "learning_rate_init": 3e-3,
                             "max_iter": 150}),
    EstimatorPlan("clicks", {"hidden_layer_sizes": (16,), "learning_rate_init": 2e-3, "max_iter": 100}),
)  # fmt: skip
BROAD_ESTIMATORS_B = (
    EstimatorPlan("robot", {"preset": "auto"}),
    EstimatorPlan("swirl", {"preset": "auto"}),
    EstimatorPlan("fraud", {"preset": "auto"}),
    EstimatorPlan("spectra", {"preset": "auto"}),
    EstimatorPlan("basket", {"preset": "auto"}),
    EstimatorPlan("dial", {"preset": "auto"}),
    EstimatorPlan("genres", {"preset": "auto"}),
    EstimatorPlan("tickets", {"preset": "auto"}),
    EstimatorPlan("rentals", {"preset": "auto"}),
    EstimatorPlan("scale_of_noise", {"preset": "auto"}),
    EstimatorPlan("tumours", {"preset": "auto"}),
    EstimatorPlan("swirl", {"hidden_layer_sizes": (64, 64), "learning_rate_init": 3e-3, "max_iter": 200}),
    EstimatorPlan("storms", {"hidden_layer_sizes": (32, 16), "learning_rate_init": 3e-3, "max_iter": 80}),
    EstimatorPlan("tumours", {"hidden_layer_sizes": (16,), "early_stopping": True, "learning_rate_init": 3e-3,
                              "max_iter": 200, "n_iter_no_change": 25}),
    EstimatorPlan("rentals", {"data": "auto", "hidden_layer_sizes": (32,), "learning_rate_init": 3e-3,
                              "max_iter": 100}),
    EstimatorPlan("robot", {"hidden_layer_sizes": (48, 48), "solver": "sgd", "learning_rate_init": 0.03,
                            "max_iter": 250}),
)  # fmt: skip
"Sound estimators."


def broad_healthy_plans(part: str, seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """About 17 styles of each data set of a part, and its estimators, each with other random seeds."""
    names = [function.__name__ for function in (PART_A if part == "a" else PART_B)]
    styles = list(STYLES.items())
    for seed in range(first, first + seeds):
        for place, name in enumerate(names):
            for number, (style, change) in enumerate(styles):
                if ((number + place + seed) % 2 and number) or (name, style) in UNFIT:
                    continue
                own = change(BROAD_BASE[name].with_seed(2600 + 40 * seed + number))
                own = replace(own, style=style)
                yield own if (number + place) % 5 or own.stopping is not None else replace(own, validation=None)
        for number, plan in enumerate(BROAD_ESTIMATORS_A if part == "a" else BROAD_ESTIMATORS_B):
            yield plan.with_seed(2700 + 40 * seed + number)
