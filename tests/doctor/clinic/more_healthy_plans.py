"""Healthy runs of the half that is reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clinic_runs import Plan

import madaline as md

MORE_BASES = (
    Plan("friedman2", widths=(32, 32), epochs=60),
    Plan("friedman3", widths=(32, 32), epochs=80),
    Plan("steps", widths=(48, 24), epochs=60),
    Plan("faint", widths=(16,), epochs=60),
    Plan("quantiles", widths=(32, 32), epochs=60),
    Plan("hastie", widths=(48,), epochs=60, rate=6e-3),
    Plan("iris", widths=(16,), epochs=100),
    Plan("spirals", widths=(32, 32), epochs=120, rate=5e-3),
    Plan("mixed", widths=(32,), epochs=40),
    Plan("trio", widths=(16,), epochs=50),
)
"A sound plan for each data set."

MORE_HARD = (
    # slow, but fine
    Plan("friedman2", optimizer="sgd", rate=0.02, momentum=0.9, epochs=150),
    Plan("quantiles", optimizer="sgd", rate=0.1, epochs=200),
    Plan("spirals", rate=1e-3, epochs=400),
    # noisy, but fine
    Plan("faint", widths=(32,), epochs=30, rate=2e-3, batch=16),
    Plan("faint", widths=(16,), stopping=10, epochs=80),
    Plan("steps", widths=(32, 32), epochs=60, batch=8, rate=1e-3),
    # small data
    Plan("iris", widths=(16, 16), stopping=25, epochs=200),
    Plan("iris", activation="tanh", widths=(8,), epochs=150),
    # deep residual nets
    Plan("friedman3", widths=(32,) * 8, residual=True, norm="layer", epochs=80, rate=1e-3),
    Plan("quantiles", widths=(32,) * 6, residual=True, norm="layer", epochs=60, rate=1e-3),
    # other activations
    Plan("friedman2", activation="tanh", epochs=120),
    Plan("steps", activation="swish", epochs=80),
    Plan("quantiles", activation="selu", epochs=80),
    Plan("hastie", activation="sigmoid", widths=(48,), epochs=100, rate=0.01),
    Plan("spirals", activation="tanh", epochs=150, rate=0.01),
    # heavy dropout
    Plan("hastie", widths=(128, 64), dropout=0.4, epochs=80),
    Plan("quantiles", widths=(128,), dropout=0.5, epochs=100),
    # columns of 0 and 1
    Plan("mixed", widths=(64, 32), dropout=0.2, epochs=50),
    Plan("mixed", stopping=10, widths=(32,), epochs=80),
    # a rare class that is learned
    Plan("trio", stopping=12, widths=(32,), epochs=80),
    Plan("trio", widths=(16, 16), epochs=40, norm="batch"),
    # schedules that swing
    Plan("friedman3", schedule=md.optim.schedules.CosineRestarts(240), epochs=100, rate=5e-3),
    Plan("quantiles", schedule=md.optim.schedules.CosineRestarts(285), epochs=60, rate=5e-3),
    Plan("steps", schedule="cosine", epochs=80, rate=5e-3),
    # a last layer that starts at 0
    Plan("friedman2", zero_output=True, epochs=60),
    Plan("quantiles", zero_output=True, epochs=60),
    # frozen on purpose: wide random features
    Plan("quantiles", freeze=("0",), widths=(300, 32), epochs=80),
    Plan("friedman2", freeze=("0",), widths=(200, 32), epochs=80),
    # others
    Plan("hastie", optimizer="adamw", decay=0.01, schedule="cosine", widths=(64,), epochs=60),
    Plan("spirals", standardize=True, epochs=120, rate=5e-3),
    Plan("friedman3", clip=1.0, epochs=80),
    Plan("steps", norm="batch", epochs=60),
    Plan("mixed", optimizer="rmsprop", rate=1e-3, epochs=50),
)
"Runs that look strange and are sound."


def more_healthy_plans(seeds: int, first: int = 0) -> Iterator[Plan]:
    """Each plan with several random seeds, every third without a validation set."""
    for seed in range(first, first + seeds):
        for number, plan in enumerate((*MORE_BASES, *MORE_HARD)):
            own = plan.with_seed(700 + 10 * seed + number % 7)
            yield own if (number + seed) % 3 or plan.stopping is not None else replace(own, validation=None)
