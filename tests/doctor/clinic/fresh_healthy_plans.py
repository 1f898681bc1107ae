"""Healthy runs of the third half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clinic_runs import Plan
from estimator_runs import EstimatorPlan

import madaline as md

FRESH_BASES = (
    Plan("pendulum", widths=(40, 40), epochs=60),
    Plan("plane", widths=(8,), epochs=80, rate=0.01, batch=16),
    Plan("seasons", widths=(48, 48), epochs=60, batch=64, rate=4e-3),
    Plan("counts", widths=(16,), epochs=30, rate=2e-3),
    Plan("products", widths=(64, 64), epochs=40, batch=64),
    Plan("rings", widths=(24, 24), epochs=60),
    Plan("checker", widths=(48, 48), epochs=100, rate=4e-3),
    Plan("letters", widths=(64,), epochs=40, batch=64),
    Plan("votes", widths=(24,), epochs=20, rate=3e-3),
    Plan("separable", widths=(16,), epochs=25),
    Plan("screening", widths=(32, 32), epochs=50),
    Plan("pixels", widths=(64,), epochs=30, rate=2e-3),
)
"A sound plan for each data set."
FRESH_BASE = {plan.data: plan for plan in FRESH_BASES}

FRESH_HARD = (
    # slow, but fine
    Plan("pendulum", optimizer="sgd", rate=0.05, momentum=0.9, epochs=200),
    Plan("rings", optimizer="sgd", rate=0.2, epochs=300, widths=(24, 24)),
    Plan("letters", optimizer="sgd", rate=0.05, momentum=0.9, widths=(64,), epochs=80, batch=64),
    Plan("products", rate=5e-4, widths=(64, 64), epochs=150, batch=64),
    # noisy, but fine
    Plan("counts", widths=(16,), rate=1e-3, epochs=60, batch=16),
    Plan("counts", widths=(32, 32), stopping=8, epochs=80, rate=2e-3),
    Plan("seasons", widths=(48, 48), epochs=40, batch=16, rate=1e-3),
    # small data
    Plan("plane", widths=(8,), stopping=20, epochs=200, batch=16, rate=0.01),
    Plan("plane", activation="tanh", widths=(6,), epochs=100, batch=16, rate=0.01),
    Plan("separable", activation="tanh", widths=(8,), epochs=30),
    # deep residual nets
    Plan("products", widths=(48,) * 7, residual=True, norm="layer", epochs=50, rate=1e-3, batch=64),
    Plan("rings", widths=(24,) * 10, residual=True, norm="layer", epochs=50, rate=1e-3),
    Plan("pendulum", widths=(32,) * 6, residual=True, norm="batch", epochs=60, rate=1e-3),
    # other activations
    Plan("pendulum", activation="tanh", widths=(40, 40), epochs=100),
    Plan("rings", activation="tanh", widths=(24, 24), epochs=80),
    Plan("checker", activation="gelu", widths=(48, 48), epochs=120, rate=4e-3),
    Plan("products", activation="selu", widths=(64, 64), epochs=60, batch=64, rate=2e-3),
    Plan("letters", activation="elu", widths=(64, 32), epochs=40, batch=64, rate=2e-3),
    Plan("rings", activation="sigmoid", widths=(32,), epochs=150, rate=0.02),
    Plan("pendulum", activation="softplus", widths=(40, 40), epochs=100),
    # heavy dropout
    Plan("pixels", widths=(256,), dropout=0.5, epochs=60, rate=1e-3),
    Plan("letters", widths=(256, 128), dropout=0.5, epochs=60, batch=64, rate=2e-3),
    Plan("votes", widths=(64,), dropout=0.5, epochs=40, rate=2e-3),
    Plan("rings", widths=(128, 128), dropout=0.4, epochs=60),
    # columns of 0 and 1
    Plan("votes", widths=(32,), stopping=10, epochs=60, rate=2e-3),
    Plan("votes", widths=(16, 16), dropout=0.3, optimizer="adamw", decay=0.02, epochs=40),
    # a rare class that is learned
    Plan("screening", widths=(32, 32), stopping=15, epochs=120),
    Plan("screening", widths=(48, 24), activation="tanh", epochs=70),
    # schedules that swing, warm up or fall
    Plan("products", widths=(64, 64), schedule=md.optim.schedules.CosineRestarts(220), epochs=50, batch=64, rate=5e-3),
    Plan("checker", widths=(48, 48), schedule=md.optim.schedules.CosineRestarts(440), epochs=120, rate=6e-3),
    Plan("letters", widths=(64,), schedule="cosine", epochs=40, batch=64, rate=5e-3),
    Plan("seasons", widths=(48, 48), schedule="cosine", epochs=60, batch=64, rate=8e-3),
    # a last layer that starts at 0
    Plan("products", widths=(64, 64), zero_output=True, epochs=40, batch=64),
    Plan("letters", widths=(64,), zero_output=True, epochs=40, batch=64),
    # frozen on purpose: wide random features
    Plan("rings", widths=(200, 32), freeze=("0",), epochs=60),
    Plan("pixels", widths=(400, 32), freeze=("0",), epochs=40),
    # early stopping that ends a long budget
    Plan("letters", widths=(64, 64), stopping=10, epochs=200, batch=64),
    Plan("pendulum", widths=(40, 40), stopping=25, epochs=400),
    Plan("separable", widths=(16,), stopping=10, epochs=100),
    # others
    Plan("pixels", widths=(64, 64), norm="batch", epochs=25, rate=2e-3),
    Plan("letters", widths=(64,), norm="layer", epochs=30, batch=64),
    Plan("rings", optimizer="rmsprop", rate=2e-3, widths=(24, 24), epochs=60),
    Plan("counts", widths=(16,), loss="huber", epochs=40, rate=2e-3),
    Plan("products", widths=(64, 64), clip=1.0, epochs=40, batch=64),
    Plan("seasons", widths=(48, 48), standardize=True, epochs=60, batch=64, rate=4e-3),
    Plan("products", widths=(64, 64), optimizer="adamw", decay=0.05, epochs=50, batch=64),
    Plan("screening", widths=(32, 32), class_weight="balanced", epochs=60),
)
"Runs that look strange and are sound."

FRESH_ESTIMATORS = (
    EstimatorPlan("letters", {"hidden_layer_sizes": (64,), "learning_rate_init": 3e-3, "max_iter": 60}),
    EstimatorPlan("products", {"hidden_layer_sizes": (64, 64), "max_iter": 150}),
    EstimatorPlan("rings", {"hidden_layer_sizes": (32, 32), "activation": "tanh", "max_iter": 300}),
    EstimatorPlan("counts", {"hidden_layer_sizes": (16,), "max_iter": 60}),
    EstimatorPlan("screening", {"hidden_layer_sizes": (32, 32), "early_stopping": True, "max_iter": 300,
                                "learning_rate_init": 3e-3}),
    EstimatorPlan("seasons", {"preset": "auto"}),
    EstimatorPlan("pixels", {"preset": "auto"}),
    EstimatorPlan("separable", {"preset": "auto"}),
    EstimatorPlan("votes", {"preset": "auto"}),
    EstimatorPlan("plane", {"preset": "auto"}),
    EstimatorPlan("pendulum", {"hidden_layer_sizes": (40, 40), "solver": "sgd", "learning_rate_init": 0.05,
                               "max_iter": 300}),
)  # fmt: skip
"Sound estimators."


def fresh_healthy_plans(seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """Each plan with several random seeds, every third without a validation set."""
    for seed in range(first, first + seeds):
        for number, plan in enumerate((*FRESH_BASES, *FRESH_HARD)):
            own = plan.with_seed(1700 + 10 * seed + number % 9)
            yield own if (number + seed) % 3 or plan.stopping is not None else replace(own, validation=None)
        for number, estimator in enumerate(FRESH_ESTIMATORS):
            yield estimator.with_seed(1800 + 10 * seed + number)
