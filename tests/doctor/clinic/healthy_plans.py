"""Healthy runs, hard ones included."""

from __future__ import annotations

from collections.abc import Iterator

from clinic_runs import Plan

import madaline as md

BASES = (
    Plan("waves", epochs=80),
    Plan("friedman", widths=(64,), epochs=60),
    Plan("noisy_line", widths=(16,), epochs=80, rate=1e-3),
    Plan("diabetes", widths=(16,), epochs=30, rate=1e-3),
    Plan("moons", widths=(32, 32), epochs=60),
    Plan("circles", widths=(32, 32), epochs=25),
    Plan("blobs", widths=(32, 32), epochs=25),
    Plan("wine", widths=(32,), epochs=40),
    Plan("cancer", widths=(32,), epochs=40, rate=1e-3),
    Plan("digits", widths=(64,), epochs=20, rate=2e-3),
    Plan("sparse", widths=(16,), epochs=50, rate=2e-3),
    Plan("rare", widths=(16,), epochs=60, rate=2e-3),
)
"A sound plan for each data set."

HARD = (
    Plan("waves", activation="tanh", epochs=120),
    Plan("waves", optimizer="sgd", rate=0.05, momentum=0.9, epochs=100),
    Plan("waves", schedule=md.optim.schedules.CosineRestarts(300), epochs=100, rate=5e-3),
    Plan("waves", zero_output=True, epochs=80),
    Plan("waves", schedule="cosine", epochs=80, rate=5e-3),
    Plan("waves", widths=(64, 64), dropout=0.1, epochs=150),
    Plan("waves", activation="selu", epochs=100),
    Plan("waves", standardize=True, epochs=80),
    Plan("waves", widths=(64, 32), activation="gelu", epochs=80),
    Plan("friedman", widths=(32,) * 6, residual=True, norm="layer", epochs=60, rate=1e-3),
    Plan("friedman", norm="batch", epochs=60),
    Plan("friedman", stopping=15, epochs=200, batch=32),
    Plan("friedman", optimizer="adamw", decay=0.01, schedule="cosine", epochs=60),
    Plan("noisy_line", widths=(16,), stopping=10, epochs=100),
    Plan("noisy_line", widths=(16, 16), dropout=0.3, epochs=150, rate=2e-3),
    Plan("diabetes", widths=(16,), stopping=10, epochs=100),
    Plan("moons", activation="tanh", epochs=80),
    Plan("moons", activation="sigmoid", widths=(32,), epochs=150, rate=0.02),
    Plan("circles", dropout=0.4, widths=(64, 64), epochs=60),
    Plan("circles", stopping=10, epochs=100),
    Plan("blobs", optimizer="sgd", rate=0.1, epochs=40),
    Plan("blobs", norm="batch", epochs=30),
    Plan("wine", stopping=15, epochs=100),
    Plan("cancer", stopping=10, epochs=60),
    Plan("digits", dropout=0.5, widths=(128,), epochs=40, rate=2e-3),
    Plan("digits", optimizer="sgd", rate=0.1, momentum=0.9, widths=(64,), epochs=25),
    Plan("digits", freeze=("0",), widths=(200, 32), epochs=30),
    Plan("sparse", stopping=8, widths=(16,), epochs=60, rate=2e-3),
    Plan("rare", stopping=10, widths=(16,), epochs=60, rate=2e-3),
    Plan("moons", clip=1.0, epochs=60),
)
"Runs that look strange and are sound."


def healthy_plans(seeds: int) -> Iterator[Plan]:
    """Each plan with several random seeds, with and without a validation set."""
    for seed in range(seeds):
        for number, plan in enumerate((*BASES, *HARD)):
            own = plan.with_seed(10 * seed + number % 7)
            if (number + seed) % 3 == 0 and plan.stopping is None:
                from dataclasses import replace

                own = replace(own, validation=None)
            yield own
