"""Sick runs of the fifth half, in two parts with other tables and other ways to go wrong.

They are written from the catalogue of sicknesses and from questions that people ask about their programs, before the
rules of the doctor were read.
"""

from __future__ import annotations

from collections.abc import Iterator

from estimator_runs import EstimatorPlan
from outside_data import PART_A, PART_B
from outside_healthy_plans import OUTSIDE_BASE
from outside_sick_a import ESTIMATOR_FAULTS_A, FAULTS_A
from outside_sick_b import ESTIMATOR_FAULTS_B, FAULTS_B
from sick_plans import Sick

ESTIMATOR_SIZES = {"hidden_layer_sizes": (48, 32), "learning_rate_init": 3e-3, "batch_size": 32, "max_iter": 60}
ESTIMATORS = {name: EstimatorPlan(name, ESTIMATOR_SIZES) for name in OUTSIDE_BASE} | {
    name: EstimatorPlan(name, {**ESTIMATOR_SIZES, "max_iter": 12}) for name in ("interval", "queues")
}


def outside_sick_plans(part: str, seeds: int, first: int = 0) -> Iterator[Sick]:
    """The sick runs of a part."""
    trainers, estimators = (FAULTS_A, ESTIMATOR_FAULTS_A) if part == "a" else (FAULTS_B, ESTIMATOR_FAULTS_B)
    names = PART_A if part == "a" else PART_B
    for seed in range(first, first + seeds):
        for number, (faults, plant, tables) in enumerate(trainers):
            for place, name in enumerate(tables):
                if name in names:
                    twin = OUTSIDE_BASE[name].with_seed(3500 + 60 * seed + (number + place) % 53)
                    yield Sick(faults, plant(twin), twin)
        for number, (faults, plant, tables) in enumerate(estimators):
            for name in tables:
                if name in names:
                    own = ESTIMATORS[name].with_seed(3700 + 60 * seed + number)
                    yield Sick(faults, plant(own), own)
