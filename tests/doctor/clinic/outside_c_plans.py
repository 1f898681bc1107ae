"""Part c of the fifth half: healthy runs of many real tables, and sick runs of which a third have several faults.

They were written before the rules of the doctor were read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import broad_faults as old
import fresh_faults as older
import numpy as np
import outside_faults as bad
from broad_healthy_plans import longer, residual, wider
from broad_sick_plans import Faults, data
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from fresh_sick_plans import depth, params, plan, sgd, together
from outside_c_data import NUMBERS, PACKS, PART_C
from outside_healthy_plans import Style, halved
from outside_ways import few, inputs, not_shuffled, stop, target
from sick_plans import Sick

from madaline.nn.initializers import Constant, Normal, Uniform

EPOCHS = {  # length of a sound plan with 32 units, where 15 epochs are not
    "california_housing": 25, "diamonds": 25, "taxis": 25, "beijing_pm25": 20, "adult": 8, "credit_default": 6,
    "cardio": 8, "telco_churn": 6, "fico_heloc": 6, "nycflights": 10, "loans": 8, "communities_crime": 8,
    "titanic": 12, "contrac": 12, "ilpd-indian-liver": 8, "credit-approval": 6, "mammographic": 8,
    "wine-quality-white": 8, "statlog-landsat": 15, "statlog-vehicle": 40, "statlog-shuttle": 25, "ringnorm": 10,
    "led-display": 12, "annealing": 30, "house8L": 15, "fried": 30, "puma32H": 20, "solar": 8, "pendulum": 40,
    "machine": 30, "optical": 12,
}  # fmt: skip
BASE_C = {
    "chequers": Plan("chequers", widths=(48, 48), epochs=60, rate=5e-3),
    "pendulums": Plan("pendulums", widths=(48, 48), epochs=60, rate=4e-3),
    "shells": Plan("shells", widths=(48, 24), epochs=40, rate=3e-3),
    "till": Plan("till", widths=(24,), epochs=20, rate=3e-3),
    **{name: Plan(name, widths=(32,), epochs=EPOCHS.get(name, 15), rate=2e-3) for name in (*NUMBERS, *PACKS)},
}
"A sound plan for each data set."
STYLES_C: dict[str, Style] = {
    "as it is": lambda p: p,
    "natural scale, own scaling layer": lambda p: replace(
        p, data=f"{p.data} raw" if _plain(p.data) else p.data, standardize=True
    ),
    "early stopping": lambda p: replace(p, stopping=15, epochs=longer(p, 4)),
    "two layers, dropout": lambda p: replace(p, widths=(*wider(p, 2), 24), dropout=0.2, epochs=longer(p, 1.5)),
    "without a validation set": lambda p: replace(p, validation=None),
    "gelu, decay": lambda p: replace(p, activation="gelu", optimizer="adamw", decay=0.02),
    "batch norm": lambda p: replace(p, norm="batch", batch=64, epochs=longer(p, 1.5)),
    "layer norm": lambda p: replace(p, norm="layer", widths=(48, 24)),
    "residual": residual,
    "tanh, large batches": lambda p: replace(p, activation="tanh", batch=128, rate=3 * p.rate, epochs=longer(p, 2.5)),
    "momentum": lambda p: replace(p, optimizer="sgd", momentum=0.9, rate=4 * p.rate, epochs=longer(p, 2)),
    "halved": halved,
    "clipped, cosine": lambda p: replace(p, clip=1.0, schedule="cosine", rate=1.5 * p.rate, epochs=longer(p, 1.5)),
    "small validation set": lambda p: replace(p, validation=0.15, weights=3.0),
}


def _plain(name: str) -> bool:
    """Whether a table exists at its natural scale, with a target that needs no scaling."""
    return name in NUMBERS and NUMBERS[name][0] != "regression"


STOPS = {"early_stopping": True, "n_iter_no_change": 15, "max_iter": 150, "learning_rate_init": 2e-3}
ESTIMATORS_C = (
    *(EstimatorPlan(f"{name} raw", {"preset": "auto"}) for name in NUMBERS),
    *(EstimatorPlan(name, {"preset": "auto"}) for name in ("house8L", "statlog-shuttle", "solar", "machine", "till")),
    *(EstimatorPlan(name, {"hidden_layer_sizes": (48,), **STOPS}) for name in
      ("adult", "taxis", "mammographic", "statlog-landsat", "credit-approval", "annealing", "pendulums")),
)  # fmt: skip


def healthy_plans_c(seeds: int, first: int = 0) -> Iterator[Plan | EstimatorPlan]:
    """Two or three styles of each data set, and estimators at the natural scale."""
    styles, rng = list(STYLES_C.items()), np.random.default_rng(13 + first)
    for seed in range(first, first + seeds):
        for place, (name, base) in enumerate(BASE_C.items()):
            if name in PART_C:
                for number in rng.permutation(len(styles))[: 3 if place % 3 == 0 else 2]:
                    style, change = styles[number]
                    yield replace(change(base.with_seed(4100 + 70 * seed + place + int(number))), style=style)
        yield from (p.with_seed(4300 + 70 * seed + k) for k, p in enumerate(ESTIMATORS_C) if p.data in PART_C)


FAULTS_C: Faults = (
    (("nonfinite_data",), data(older.holes), ("house8L",)),
    (("unscaled_inputs",), inputs(bad.bytes_sent), ("fried", "statlog-vehicle")),
    (("unscaled_inputs",), inputs(old.pressure), ("shells", "pendulums")),
    (("unscaled_inputs",), data(older.grey_values), ("chequers",)),
    (("heavy_tails",), data(old.sentinels), ("fried",)),
    (("heavy_tails",), inputs(old.raw_money), ("pendulums", "shells")),
    (("unscaled_target",), target(1.2e4, 3e4), ("california_housing", "pendulums")),
    (("loss_output_mismatch",), plan(last="softmax"), ("statlog-landsat", "shells")),
    (("loss_output_mismatch",), plan(last="relu"), ("fried",)),
    (("missing_nonlinearity",), plan(activation="identity", widths=(64, 64)), ("pendulums", "shells", "ringnorm")),
    (("target_leak",), data(bad.closing_date), ("telco_churn",)),
    (("target_leak",), data(bad.measured_twice), ("california_housing",)),
    (("split_duplicates",), data(bad.jittered), ("shells",)),
    (("split_duplicates",), plan(own_validation=old.many_copies), ("adult",)),
    (("split_shift",), plan(own_validation=bad.next_year), ("fried",)),
    (("no_signal",), data(older.rolled_target), ("shells", "diamonds")),
    (("unshuffled_rows",), not_shuffled(), ("shells", "optical")),
    (("too_few_steps",), plan(batch=None, epochs=40), ("shells", "fried")),
    (("symmetric_weights",), plan(init=Constant(0.05)), ("pendulums",)),
    (("init_gain",), together(depth(5), plan(init=Uniform(-1.5, 1.5))), ("shells",)),
    (("exploding_gradients",), together(depth(8), plan(init=Normal(std=0.6), optimizer="sgd", rate=2e-3)),
     ("shells",)),
    (("vanishing_gradients",), together(depth(8), plan(activation="sigmoid", optimizer="sgd", rate=0.1)),
     ("shells", "statlog-landsat")),
    (("dead_units",), plan(bias=-8.0), ("pendulums", "shells")),
    (("saturated_units",), plan(activation="tanh", init=Normal(std=8.0)), ("pendulums",)),
    (("rate_too_high",), plan(rate=0.25), ("shells", "california_housing")),
    (("rate_too_high",), sgd(2.0, 0.9), ("statlog-landsat",)),
    (("rate_too_low",), plan(rate=1.5e-5), ("fried", "statlog-landsat")),
    (("not_converged",), plan(epochs=2, rate=1e-3), ("shells", "california_housing")),
    (("stopped_too_early",), plan(stopping=1, epochs=200, rate=8e-4, validation=0.06), ("chequers",)),
    (("stopped_too_early",), plan(stopping=stop(metric="val_loss", patience=2, min_delta=0.08), epochs=150),
     ("pendulums",)),
    (("overfitting",), few(256, epochs=100), ("contrac", "loans")),
    (("overfitting",), few(200, epochs=100), ("mammographic",)),
    (("underfitting",), plan(widths=(1,)), ("shells", "pendulums")),
    (("underfitting",), plan(dropout=0.93), ("fried",)),
    (("always_clipped",), plan(clip=1e-3, optimizer="sgd", rate=0.05), ("shells",)),
    (("frozen_parameters",), plan(freeze=("0", "2"), widths=(5, 5)), ("pendulums",)),
    (("excessive_decay",), plan(optimizer="adamw", decay=30.0), ("shells", "fried")),
    (("adam_epsilon",), plan(eps=0.8), ("shells",)),
    (("label_errors",), together(data(older.flipped_labels), plan(stopping=8)), ("optical",)),
    # two or more
    (("unscaled_inputs", "rate_too_high"), together(inputs(old.pressure), plan(rate=0.3)), ("fried",)),
    (("unscaled_inputs", "loss_output_mismatch"), together(inputs(bad.microns), plan(last="softmax")), ("shells",)),
    (("unscaled_inputs", "missing_nonlinearity"), together(inputs(bad.years), plan(activation="identity")),
     ("pendulums",)),
    (("unscaled_inputs", "unscaled_target"), together(inputs(bad.eight_bits), target(1.2e4, 3e4)),
     ("california_housing", "fried")),
    (("unscaled_target", "rate_too_low"), together(target(3e3, 4e4), plan(rate=2e-5)), ("pendulums",)),
    (("unscaled_target", "not_converged"), together(target(80.0, 500.0), plan(epochs=3)), ("fried",)),
    (("heavy_tails", "not_converged"), together(inputs(old.raw_money), plan(epochs=2, rate=1e-3)), ("pendulums",)),
    (("loss_output_mismatch", "not_converged"), plan(last="softmax", epochs=2, rate=1e-3), ("statlog-landsat",)),
    (("loss_output_mismatch", "dead_units"), plan(last="softmax", bias=-8.0), ("shells",)),
    (("missing_nonlinearity", "rate_too_low"), plan(activation="identity", rate=2e-5), ("shells", "ringnorm")),
    (("symmetric_weights", "not_converged"), plan(init=Constant(0.05), epochs=3, rate=1e-3), ("pendulums",)),
    (("underfitting", "rate_too_low"), plan(widths=(1,), rate=2e-5), ("shells",)),
    (("excessive_decay", "too_few_steps"), plan(optimizer="adamw", decay=20.0, batch=None, epochs=40), ("shells",)),
    (("saturated_units", "rate_too_low"), plan(activation="tanh", init=Normal(std=8.0), rate=2e-5), ("pendulums",)),
    (("target_leak", "unscaled_target"), together(data(bad.measured_twice), target(3e3, 4e4)), ("fried",)),
    (("split_duplicates", "missing_nonlinearity"), plan(own_validation=bad.mostly_training, activation="identity"),
     ("chequers",)),
    (("split_shift", "rate_too_high"), plan(own_validation=bad.unscaled_rows, rate=0.3), ("shells",)),
    (("unshuffled_rows", "unscaled_inputs"), together(not_shuffled(), inputs(bad.microns)), ("shells",)),
    (("unscaled_inputs", "missing_nonlinearity", "too_few_steps"), together(inputs(bad.years),
     plan(activation="identity", batch=None, epochs=30)), ("pendulums",)),
)  # fmt: skip
ESTIMATOR_FAULTS_C: Faults = (
    (("stopped_too_early",), params(early_stopping=True, n_iter_no_change=1, learning_rate_init=8e-4), ("shells",)),
    (("rate_too_low",), params(learning_rate_init=5e-6), ("california_housing",)),
    (("rate_too_low",), params(solver="sgd", learning_rate_init=3e-5), ("statlog-landsat",)),
    (("excessive_decay",), params(alpha=400.0), ("shells",)),
    (("unscaled_inputs",), inputs(bad.bytes_sent), ("fried",)),
    (("unscaled_inputs", "not_converged"), together(inputs(bad.years), params(max_iter=3)), ("shells",)),
    (("missing_nonlinearity", "rate_too_high"), params(activation="identity", learning_rate_init=1.0), ("pendulums",)),
)
OWN = {"hidden_layer_sizes": (48, 32), "learning_rate_init": 3e-3, "batch_size": 32, "max_iter": 50}


def sick_plans_c(seeds: int, first: int = 0) -> Iterator[Sick]:
    """The sick runs."""
    for seed in range(first, first + seeds):
        for number, (faults, plant, tables) in enumerate((*FAULTS_C, *ESTIMATOR_FAULTS_C)):
            for place, name in enumerate(tables):
                if name in PART_C:
                    own = number >= len(FAULTS_C)
                    twin = EstimatorPlan(name, OWN) if own else BASE_C[name]
                    twin = twin.with_seed(4500 + 70 * seed + (number + place) % 61)
                    yield Sick(faults, plant(twin), twin)
