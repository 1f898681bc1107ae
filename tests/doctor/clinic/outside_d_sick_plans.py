"""Sick runs of part d of the fifth half: every fault of the catalogue that can be built; some runs have several.

They were written before the rules of the doctor were read.
"""

from __future__ import annotations

from collections.abc import Iterator

import outside_d_faults as bad
from broad_sick_plans import Faults, data
from estimator_runs import EstimatorPlan
from fresh_sick_plans import depth, params, plan, sgd, together
from outside_d_data import PART_D
from outside_d_healthy_plans import BASE_D
from outside_ways import few, inputs, stop, target
from sick_plans import Fault, Sick

import madaline as md
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.optim import schedules


def appended(**changes: object) -> Fault:
    """Rows in the order of appended files, which are not shuffled."""
    return together(data(bad.one_file_per_class), plan(shuffle=False, validation=None, **changes))


FAULTS_D: Faults = (
    (("nonfinite_data",), data(bad.empty_price), ("kin8nm d",)),
    (("unscaled_inputs",), inputs(bad.milliseconds), ("saddle",)),
    (("unscaled_inputs",), inputs(bad.inhabitants), ("cardiotocography-10clases d",)),
    (("unscaled_inputs",), inputs(bad.scaled_twice), ("gate",)),
    (("unscaled_inputs",), together(inputs(bad.millimetres), plan(activation="tanh")), ("kin8nm d",)),
    (("heavy_tails",), data(bad.minus_999), ("zones",)),
    (("heavy_tails",), data(bad.stuck_sensor), ("concrete d",)),
    (("heavy_tails",), inputs(bad.squared_exponentials), ("saddle",)),
    (("unscaled_target",), target(3e4, 2.5e5), ("bicycles",)),
    (("unscaled_target",), target(1.0, 900.0), ("power_plant d",)),
    (("loss_output_mismatch",), plan(last="softmax"), ("letter d",)),
    (("loss_output_mismatch",), plan(last="sigmoid"), ("saddle",)),
    (("loss_output_mismatch",), plan(last="relu"), ("linkage",)),
    (("missing_nonlinearity",), plan(activation="identity", widths=(64, 32)), ("bicycles",)),
    (("norm_order",), plan(norm="batch", dropout=0.5, widths=(64, 64)), ("zones",)),
    (("class_imbalance",), data(bad.rare_churn), ("intruders",)),
    (("target_leak",), data(bad.net_amount), ("kin8nm d",)),
    (("target_leak",), data(bad.ward), ("cardiotocography-10clases d",)),
    (("target_leak",), data(bad.refund), ("higgs_11k d",)),
    (("split_duplicates",), data(bad.four_visits), ("protein_structure d",)),
    (("split_duplicates",), data(bad.concatenated_twice), ("higgs_11k d",)),
    (("split_duplicates",), plan(own_validation=bad.read_again), ("zones",)),
    (("split_shift",), plan(own_validation=bad.other_hospital), ("twonorm d",)),
    (("split_shift",), plan(own_validation=bad.not_recorded), ("saddle",)),
    (("small_validation",), plan(validation=0.02), ("wine_quality_red d",)),
    (("no_signal",), data(bad.index_reset), ("kin8nm d",)),
    (("no_signal",), data(bad.permuted), ("zones",)),
    (("unshuffled_rows",), appended(), ("bicycles",)),
    (("too_few_steps",), plan(batch=None, epochs=30), ("concrete d",)),
    (("initial_loss",), plan(output_std=30.0, epochs=6), ("cardiotocography-10clases d",)),
    (("symmetric_weights",), plan(init=Constant(0.5)), ("saddle",)),
    (("init_gain",), together(depth(5), plan(init=Normal(std=0.8))), ("zones",)),
    (("cannot_overfit",), plan(activation="step", widths=(4,)), ("gate",)),
    (("input_ignored",), plan(divisor=1e5), ("zones",)),
    (("nonfinite_loss",), together(depth(4), plan(activation=bad.exponential)), ("saddle",)),
    (("exploding_gradients",), together(depth(9), plan(init=Normal(std=0.5), optimizer="sgd", rate=1e-3)), ("zones",)),
    (("vanishing_gradients",), together(depth(7), plan(activation="sigmoid", optimizer="sgd", rate=0.1)),
     ("letter d",)),
    (("dead_units",), plan(bias=-7.0), ("gate",)),
    (("linear_regime",), plan(bias=13.0, epochs=15, rate=1e-3), ("saddle",)),
    (("saturated_units",), plan(activation="tanh", init=Normal(std=6.0)), ("gate",)),
    (("rate_too_high",), plan(optimizer="adamw", rate=0.3), ("concrete d",)),
    (("rate_too_high",), sgd(1.5, 0.9), ("letter d",)),
    (("rate_too_low",), plan(rate=1e-5), ("concrete d",)),
    (("rate_too_low",), plan(schedule=schedules.Exponential(0.96)), ("zones",)),
    (("not_converged",), plan(epochs=3, rate=1e-3), ("saddle",)),
    (("stopped_too_early",), plan(stopping=1, epochs=200, rate=1e-3, validation=0.05), ("gate",)),
    (("stopped_too_early",), plan(stopping=stop(metric="val_loss", patience=2, min_delta=0.1), epochs=150),
     ("bicycles",)),
    (("overfitting",), few(256, epochs=100), ("higgs_11k d", "wine_quality_red d")),
    (("overconfident",), few(128, epochs=80), ("statlog-heart d",)),
    (("underfitting",), plan(widths=(1,)), ("zones",)),
    (("underfitting",), plan(dropout=0.93), ("saddle",)),
    (("batch_norm_mismatch",), plan(norm=md.BatchNorm(momentum=0.0004), epochs=15), ("letter d",)),
    (("always_clipped",), plan(clip=5e-4, optimizer="sgd", rate=0.1), ("zones",)),
    (("frozen_parameters",), plan(freeze=("0", "2"), widths=(4, 4)), ("gate",)),
    (("excessive_decay",), plan(optimizer="adamw", decay=25.0), ("kin8nm d",)),
    (("adam_epsilon",), plan(eps=2.0), ("letter d",)),
    (("label_errors",), together(data(bad.confused_pairs), plan(stopping=8)), ("semeion d",)),
    # two or more
    (("unscaled_inputs", "unscaled_target"), together(inputs(bad.inhabitants), target(3e4, 2.5e5)), ("concrete d",)),
    (("unscaled_inputs", "loss_output_mismatch"), together(inputs(bad.millimetres), plan(last="softmax")),
     ("letter d",)),
    (("unscaled_inputs", "rate_too_high"), together(inputs(bad.inhabitants), plan(rate=0.3)), ("gate",)),
    (("unscaled_inputs", "rate_too_low"), together(inputs(bad.millimetres), plan(rate=2e-5)), ("zones",)),
    (("heavy_tails", "missing_nonlinearity"), together(inputs(bad.squared_exponentials), plan(activation="identity")),
     ("saddle",)),
    (("heavy_tails", "rate_too_low"), together(data(bad.minus_999), plan(rate=2e-5)), ("bicycles",)),
    (("unscaled_target", "not_converged"), together(target(80.0, 300.0), plan(epochs=3)), ("kin8nm d",)),
    (("unscaled_target", "rate_too_high"), together(target(40.0, 500.0), plan(rate=3.0)), ("power_plant d",)),
    (("loss_output_mismatch", "too_few_steps"), plan(last="softmax", batch=None, epochs=30), ("zones",)),
    (("loss_output_mismatch", "missing_nonlinearity"), plan(last="sigmoid", activation="identity"), ("gate",)),
    (("missing_nonlinearity", "not_converged"), plan(activation="identity", epochs=2, rate=1e-3), ("bicycles",)),
    (("symmetric_weights", "rate_too_low"), plan(init=Constant(0.1), rate=2e-5), ("saddle",)),
    (("dead_units", "loss_output_mismatch"), plan(bias=-9.0, last="softmax"), ("letter d",)),
    (("saturated_units", "not_converged"), plan(activation="tanh", init=Normal(std=7.0), epochs=3), ("zones",)),
    (("init_gain", "rate_too_high"), together(depth(4), plan(init=Uniform(-1.5, 1.5), rate=0.2)), ("zones",)),
    (("underfitting", "too_few_steps"), plan(widths=(1,), batch=None, epochs=30), ("gate",)),
    (("excessive_decay", "missing_nonlinearity"), plan(optimizer="adamw", decay=20.0, activation="identity"),
     ("bicycles",)),
    (("target_leak", "unscaled_inputs"), together(inputs(bad.millimetres), data(bad.net_amount)), ("kin8nm d",)),
    (("no_signal", "rate_too_high"), together(data(bad.permuted), plan(rate=0.3)), ("gate",)),
    (("split_duplicates", "rate_too_low"), plan(own_validation=bad.read_again, rate=2e-5), ("letter d",)),
    (("split_shift", "missing_nonlinearity"), plan(own_validation=bad.forgotten_scaler, activation="identity"),
     ("gate",)),
    (("unshuffled_rows", "rate_too_high"), appended(rate=0.2), ("zones",)),
    (("unscaled_inputs", "missing_nonlinearity", "not_converged"), together(inputs(bad.millimetres),
     plan(activation="identity", epochs=4)), ("bicycles",)),
    (("unscaled_target", "loss_output_mismatch", "rate_too_low"), together(target(3e4, 2.5e5),
     plan(last="sigmoid", rate=2e-5)), ("concrete d",)),
)  # fmt: skip
ESTIMATOR_FAULTS_D: Faults = (
    (("stopped_too_early",), params(early_stopping=True, n_iter_no_change=1, learning_rate_init=8e-4), ("zones",)),
    (("rate_too_low",), params(solver="sgd", learning_rate_init=3e-5), ("letter d",)),
    (("excessive_decay",), params(alpha=300.0), ("gate",)),
    (("unscaled_inputs",), inputs(bad.milliseconds), ("concrete d",)),
    (("no_signal",), together(data(bad.index_reset), params(preset="auto")), ("saddle",)),
    (("unscaled_inputs", "not_converged"), together(inputs(bad.inhabitants), params(max_iter=3)), ("zones",)),
    (("missing_nonlinearity", "rate_too_high"), params(activation="identity", learning_rate_init=1.0), ("gate",)),
)  # fmt: skip
OWN = {"hidden_layer_sizes": (48, 32), "learning_rate_init": 3e-3, "batch_size": 32, "max_iter": 50}


def sick_plans_d(seeds: int, first: int = 0) -> Iterator[Sick]:
    """The sick runs."""
    for seed in range(first, first + seeds):
        for number, (faults, plant, tables) in enumerate((*FAULTS_D, *ESTIMATOR_FAULTS_D)):
            for place, name in enumerate(tables):
                if name in PART_D:
                    own = number >= len(FAULTS_D)
                    twin = EstimatorPlan(name, OWN) if own else BASE_D[name]
                    twin = twin.with_seed(5600 + 90 * seed + (number + place) % 71)
                    yield Sick(faults, plant(twin), twin)
