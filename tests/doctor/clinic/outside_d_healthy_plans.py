"""Healthy runs of part d of the fifth half: sound plans of many kinds of tables in styles that look unusual.

They were written before the rules of the doctor were read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from broad_healthy_plans import longer, residual, wider
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from outside_d_data import PART_D
from outside_healthy_plans import Style, cycles, halved, random_features

import madaline as md
from madaline.optim import schedules

SIZES_D: dict[str, tuple[tuple[int, ...], int, float]] = {  # table: (widths, epochs, rate)
    "payroll": ((24,), 45, 3e-3),
    "ledger": ((24,), 25, 3e-3),
    "visits": ((16,), 20, 3e-3),
    "shops": ((48, 24), 40, 3e-3),
    "words": ((32,), 12, 2e-3),
    "intruders": ((32, 16), 15, 4e-3),
    "returns": ((16,), 30, 2e-3),
    "opinions": ((16,), 30, 2e-3),
    "grades": ((24,), 20, 3e-3),
    "replicates": ((32, 16), 40, 3e-3),
    "weather": ((40, 24), 40, 3e-3),
    "linkage": ((48, 32), 60, 4e-3),
    "symptoms": ((32,), 25, 3e-3),
    "members": ((24,), 25, 3e-3),
    "bench": ((16,), 120, 4e-3),
    "herbarium": ((16,), 60, 3e-3),
    "saddle": ((48, 32), 60, 4e-3),
    "zones": ((48, 32), 50, 3e-3),
    "gate": ((40, 24), 22, 4e-3),
    "bicycles": ((48, 32), 70, 4e-3),
    "abalone d": ((24,), 30, 3e-3),
    "concrete d": ((48, 24), 100, 3e-3),
    "kin8nm d": ((48, 24), 60, 3e-3),
    "power_plant d": ((32,), 40, 3e-3),
    "protein_structure d": ((32,), 15, 3e-3),
    "yacht d": ((24, 16), 150, 5e-3),
    "wine_quality_red d": ((24,), 15, 2e-3),
    "auto_mpg d": ((24,), 50, 3e-3),
    "higgs_11k d": ((8,), 12, 2e-3),
    "energy_efficiency d": ((32, 24), 100, 4e-3),
    "mushroom d": ((24,), 40, 3e-3),
    "twonorm d": ((16,), 12, 2e-3),
    "monks-3 d": ((24,), 60, 4e-3),
    "ionosphere d": ((16,), 70, 3e-3),
    "breast-cancer-wisc d": ((16,), 40, 2e-3),
    "semeion d": ((48,), 15, 2e-3),
    "cardiotocography-10clases d": ((48,), 35, 3e-3),
    "statlog-heart d": ((12,), 45, 2e-3),
    "vertebral-column-3clases d": ((16,), 60, 4e-3),
    "molec-biol-splice d": ((32,), 12, 2e-3),
    "energy-y2 d": ((24,), 60, 3e-3),
    "letter d": ((64,), 35, 4e-3),
}
SCALED = {"ledger"}
"Tables at their natural scale, which need a net with a scaling layer."
BASE_D = {
    name: Plan(name, widths=widths, epochs=epochs, rate=rate, standardize=name in SCALED)
    for name, (widths, epochs, rate) in SIZES_D.items()
}
"A sound plan for each data set."
STYLES_D: dict[str, Style] = {
    "as it is": lambda p: p,
    "slow, but long": lambda p: replace(p, rate=p.rate / 4, epochs=longer(p, 4)),
    "tiny batches": lambda p: replace(p, batch=6, rate=p.rate / 5),
    "momentum": lambda p: replace(p, optimizer="sgd", rate=5 * p.rate, momentum=0.9, epochs=longer(p, 2)),
    "tanh": lambda p: replace(p, activation="tanh", epochs=longer(p, 1.5)),
    "selu": lambda p: replace(p, activation="selu", rate=p.rate / 2, epochs=longer(p, 1.5)),
    "elu, decay": lambda p: replace(p, activation="elu", optimizer="adamw", decay=0.05),
    "mish": lambda p: replace(p, activation="mish"),
    "heavy dropout": lambda p: replace(p, widths=wider(p, 5), dropout=0.5, epochs=longer(p, 2)),
    "deep residual": residual,
    "zero last layer": lambda p: replace(p, zero_output=True),
    "cosine": lambda p: replace(p, schedule="cosine", rate=1.5 * p.rate, epochs=longer(p, 1.3)),
    "warm restarts": cycles,
    "halved": halved,
    "one cycle": lambda p: replace(p, schedule=schedules.OneCycle(), rate=2 * p.rate, epochs=longer(p, 1.3)),
    "early stopping": lambda p: replace(p, stopping=15, epochs=longer(p, 4)),
    "early stopping, patient": lambda p: replace(
        p, stopping=md.EarlyStopping("val_loss", patience=30), epochs=longer(p, 4), validation=0.2
    ),
    "batch norm": lambda p: replace(p, norm="batch", epochs=longer(p, 1.3)),
    "layer norm": lambda p: replace(p, norm="layer"),
    "frozen on purpose": random_features,
    "clipped": lambda p: replace(p, clip=1.0),
    "weighted rows": lambda p: replace(p, weights=5.0),
    "without a validation set": lambda p: replace(p, validation=None),
    "nadam": lambda p: replace(p, optimizer=md.optim.Nadam(p.rate)),
    "large batches": lambda p: replace(p, batch=128, rate=2.5 * p.rate, epochs=longer(p, 2)),
}
"What makes a run look different."
AUTO, OWN = {"preset": "auto"}, {"learning_rate_init": 3e-3}
ESTIMATORS_D = (
    *(EstimatorPlan(name, AUTO) for name in
      ("payroll", "ledger", "visits", "members", "words", "linkage", "intruders", "concrete d", "abalone d")),
    EstimatorPlan("zones", {"hidden_layer_sizes": (48, 32), "max_iter": 60, **OWN}),
    EstimatorPlan("bicycles", {"hidden_layer_sizes": (64, 32), "early_stopping": True, "n_iter_no_change": 25,
                               "max_iter": 300, **OWN}),
    EstimatorPlan("letter d", {"hidden_layer_sizes": (64,), "max_iter": 80, **OWN}),
    EstimatorPlan("gate", {"hidden_layer_sizes": (40, 24), "activation": "tanh", "max_iter": 80, **OWN}),
    EstimatorPlan("power_plant d", {"hidden_layer_sizes": (32,), "alpha": 0.01, "max_iter": 80, **OWN}),
)  # fmt: skip


def healthy_plans_d(seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """Two styles of each data set and estimators."""
    styles, rng = list(STYLES_D.items()), np.random.default_rng(17 + first)
    for seed in range(first, first + seeds):
        for place, (name, base) in enumerate(BASE_D.items()):
            if name in PART_D:
                for number in rng.permutation(len(styles))[:2]:
                    style, change = styles[number]
                    yield replace(change(base.with_seed(5100 + 90 * seed + place + int(number))), style=style)
        yield from (p.with_seed(5400 + 90 * seed + k) for k, p in enumerate(ESTIMATORS_D) if p.data in PART_D)
