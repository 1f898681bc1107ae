"""Sick runs of the fourth half, in two parts with other data and other ways to go wrong.

They are written from the catalogue of sicknesses and from what goes wrong in programs of users of PyTorch and
scikit-learn, before the rules of the doctor were read.
"""

from __future__ import annotations

from collections.abc import Iterator

import broad_faults as bad
from broad_healthy_plans import BROAD_BASE
from estimator_runs import EstimatorPlan
from fresh_sick_plans import depth, params, plan, sgd, together
from sick_plans import Fault, Sick, with_data

import madaline as md
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.optim import schedules

Faults = tuple[tuple[tuple[str, ...], Fault, tuple[str, ...]], ...]


def data(change: bad.Change) -> Fault:
    return with_data(change)


def not_shuffled(**changes: object) -> Fault:
    return together(data(bad.sorted_rows), plan(shuffle=False, validation=None, **changes))


FAULTS_A: Faults = (
    (("nonfinite_data",), data(bad.holes_in_target), ("houses",)),
    (("unscaled_inputs",), data(bad.inputs(bad.timestamps)), ("houses", "mixture")),
    (("unscaled_inputs",), data(bad.inputs(bad.metres)), ("mixture", "rough")),
    (("unscaled_inputs",), data(bad.inputs(bad.pressure)), ("parity",)),
    (("unscaled_inputs",), together(data(bad.inputs(bad.percent)), plan(activation="tanh")), ("mixture",)),
    (("heavy_tails",), data(bad.sentinels), ("houses", "mixture")),
    (("unscaled_target",), data(bad.target(2e4, 9e4)), ("houses",)),
    (("unscaled_target",), data(bad.target(1.0, 400.0)), ("one_wave",)),
    (("loss_output_mismatch",), plan(last="softmax"), ("mixture", "faces")),
    (("loss_output_mismatch",), plan(last="sigmoid"), ("clicks", "tags")),
    (("loss_output_mismatch",), plan(last="softplus"), ("houses",)),
    (("missing_nonlinearity",), plan(activation="identity", widths=(64, 32, 16)), ("parity", "one_wave")),
    (("norm_order",), plan(norm="batch", dropout=0.5, widths=(64, 64)), ("mixture",)),
    (("class_imbalance",), data(bad.rare_overlap), ("clicks",)),
    (("target_leak",), data(bad.row_number), ("houses", "genes")),
    (("target_leak",), data(bad.outcome_column), ("clicks",)),
    (("split_duplicates",), plan(own_validation=bad.training_set), ("mixture", "rough")),
    (("split_shift",), plan(own_validation=bad.end_of_sorted_file), ("houses",)),
    (("split_shift",), plan(own_validation=bad.scaled_by_itself), ("mixture",)),
    (("small_validation",), plan(validation=0.03), ("rough",)),
    (("no_signal",), data(bad.shifted_join), ("mixture", "houses")),
    (("unshuffled_rows",), not_shuffled(), ("mixture", "rough")),
    (("too_few_steps",), plan(batch=None, epochs=25), ("mixture", "houses")),
    (("initial_loss",), plan(output_std=20.0, epochs=8), ("faces",)),
    (("symmetric_weights",), plan(init=Constant(0.02)), ("mixture", "parity")),
    (("init_gain",), together(depth(5), plan(init=Normal(std=1.0))), ("mixture", "houses")),
    (("cannot_overfit",), plan(activation="step", widths=(4, 4)), ("parity",)),
    (("input_ignored",), plan(divisor=65025.0), ("faces",)),
    (("nonfinite_loss",), sgd(30.0), ("houses",)),
    (("exploding_gradients",), together(depth(10), plan(init=Normal(std=0.45), optimizer="sgd", rate=1e-3)),
     ("mixture",)),
    (("vanishing_gradients",), together(depth(6), plan(activation="sigmoid", optimizer="sgd", rate=0.05)),
     ("mixture", "parity")),
    (("dead_units",), plan(bias=-6.0, epochs=20), ("mixture",)),
    (("linear_regime",), plan(bias=15.0, epochs=15, rate=1e-3), ("parity",)),
    (("saturated_units",), plan(activation="tanh", init=Normal(std=5.0)), ("parity", "rough")),
    (("rate_too_high",), plan(rate=0.15), ("houses", "parity")),
    (("rate_too_high",), sgd(0.8, 0.95), ("mixture",)),
    (("rate_too_high",), plan(optimizer="adamw", rate=1.0), ("tags",)),
    (("rate_too_low",), plan(rate=1e-5), ("mixture", "one_wave")),
    (("rate_too_low",), sgd(5e-4), ("parity",)),
    (("rate_too_low",), plan(schedule=schedules.ExponentialSteps(0.9)), ("houses",)),
    (("not_converged",), plan(epochs=3, rate=1e-3), ("parity", "one_wave")),
    (("stopped_too_early",), plan(stopping=md.EarlyStopping("val_loss", patience=3, min_delta=0.2), epochs=150),
     ("houses", "mixture")),
    (("constant_prediction",), plan(rate=8.0), ("mixture",)),
    (("overfitting",), plan(widths=(200, 200), epochs=150), ("genes", "rough")),
    (("overconfident",), plan(widths=(200, 100), epochs=60), ("tags",)),
    (("underfitting",), plan(widths=(1,)), ("mixture", "parity")),
    (("underfitting",), plan(dropout=0.9), ("houses",)),
    (("batch_norm_mismatch",), plan(norm="batch", batch=3, epochs=5), ("mixture",)),
    (("always_clipped",), plan(clip=1e-3, optimizer="sgd", rate=0.1), ("mixture",)),
    (("frozen_parameters",), plan(freeze=("0", "2"), widths=(6, 6)), ("mixture",)),
    (("excessive_decay",), plan(optimizer="adamw", decay=30.0), ("houses", "mixture")),
    (("adam_epsilon",), plan(eps=1.0), ("mixture",)),
    (("label_errors",), together(data(bad.swapped_labels), plan(stopping=6)), ("faces",)),
    # two or more
    (("unscaled_inputs", "rate_too_low"), together(data(bad.inputs(bad.percent)), plan(rate=1e-5)), ("mixture",)),
    (("unscaled_inputs", "missing_nonlinearity"), together(data(bad.inputs(bad.metres)), plan(activation="identity")),
     ("rough", "parity")),
    (("unscaled_inputs", "not_converged"), together(data(bad.inputs(bad.pressure)), plan(epochs=4)), ("mixture",)),
    (("unscaled_target", "too_few_steps"), together(data(bad.target(300.0, 1500.0)), plan(batch=None, epochs=30)),
     ("houses",)),
    (("unscaled_target", "rate_too_high"), together(data(bad.target(50.0, 700.0)), sgd(0.3)), ("one_wave",)),
    (("loss_output_mismatch", "missing_nonlinearity"), plan(last="softmax", activation="identity"), ("mixture",)),
    (("loss_output_mismatch", "rate_too_low"), plan(last="sigmoid", optimizer="sgd", rate=1e-3), ("mixture",)),
    (("loss_output_mismatch", "symmetric_weights"), plan(last="softmax", init="zeros"), ("faces",)),
    (("heavy_tails", "rate_too_high"), together(data(bad.sentinels), plan(rate=0.3)), ("houses",)),
    (("target_leak", "rate_too_low"), together(data(bad.row_number), plan(rate=1e-5)), ("houses",)),
    (("no_signal", "loss_output_mismatch"), together(data(bad.shuffled_target), plan(last="softmax")), ("mixture",)),
    (("split_duplicates", "missing_nonlinearity"), plan(own_validation=bad.many_copies, activation="identity"),
     ("rough",)),
    (("split_shift", "rate_too_low"), plan(own_validation=bad.later, rate=1e-5), ("mixture",)),
    (("underfitting", "not_converged"), plan(widths=(1,), epochs=3), ("mixture",)),
    (("excessive_decay", "missing_nonlinearity"), plan(optimizer="adamw", decay=20.0, activation="identity"),
     ("parity",)),
    (("init_gain", "rate_too_low"), together(depth(4), plan(init=Normal(std=1.5), rate=1e-5)), ("mixture",)),
    (("saturated_units", "unscaled_inputs"), together(data(bad.inputs(bad.metres)),
     plan(activation="sigmoid", init=Normal(std=4.0))), ("rough",)),
    (("vanishing_gradients", "too_few_steps"), together(depth(5), plan(activation="sigmoid", optimizer="sgd",
     rate=0.1, batch=None, epochs=40)), ("mixture",)),
    (("unscaled_inputs", "unscaled_target", "rate_too_high"), together(data(bad.inputs(bad.metres)),
     data(bad.target(2e4, 9e4)), plan(rate=1.0)), ("houses",)),
    (("loss_output_mismatch", "missing_nonlinearity", "not_converged"),
     plan(last="softmax", activation="identity", epochs=3, rate=1e-3), ("mixture",)),
)  # fmt: skip

FAULTS_B: Faults = (
    (("nonfinite_data",), data(bad.log_of_zero), ("storms",)),
    (("unscaled_inputs",), data(bad.inputs(bad.timestamps)), ("swirl", "storms")),
    (("unscaled_inputs",), data(bad.inputs(bad.percent)), ("swirl",)),
    (("unscaled_inputs",), data(bad.inputs(bad.tiny)), ("robot", "fraud")),
    (("unscaled_inputs",), together(data(bad.inputs(bad.pressure)), plan(activation="sigmoid")), ("robot",)),
    (("heavy_tails",), data(bad.inputs(bad.raw_money)), ("storms", "fraud")),
    (("heavy_tails",), data(bad.cauchy), ("swirl",)),
    (("unscaled_target",), data(bad.target(5e3, 2e4)), ("storms", "robot")),
    (("unscaled_target",), data(bad.target(1.0, -250.0)), ("spectra",)),
    (("loss_output_mismatch",), plan(last="softmax"), ("basket", "swirl")),
    (("loss_output_mismatch",), plan(last="relu"), ("robot", "dial")),
    (("loss_output_mismatch",), plan(last="tanh"), ("storms", "swirl")),
    (("missing_nonlinearity",), plan(activation="identity"), ("swirl", "fraud", "robot")),
    (("norm_order",), plan(norm="batch", dropout=0.4, widths=(48, 48)), ("fraud",)),
    (("class_imbalance",), data(bad.rare_overlap), ("fraud",)),
    (("target_leak",), data(bad.outcome_column), ("swirl", "storms")),
    (("target_leak",), data(bad.row_number), ("tumours",)),
    (("split_duplicates",), data(bad.repeated_rows), ("swirl", "storms")),
    (("split_duplicates",), plan(own_validation=bad.many_copies), ("fraud",)),
    (("split_shift",), plan(own_validation=bad.later), ("storms", "swirl")),
    (("split_shift",), plan(own_validation=bad.end_of_sorted_file), ("scale_of_noise",)),
    (("small_validation",), plan(validation=0.04), ("tumours",)),
    (("no_signal",), data(bad.shuffled_target), ("swirl", "robot")),
    (("no_signal",), data(bad.other_inputs), ("fraud",)),
    (("unshuffled_rows",), not_shuffled(), ("swirl", "basket")),
    (("too_few_steps",), plan(batch=1024, epochs=12), ("robot", "swirl")),
    (("initial_loss",), plan(output_std=15.0, epochs=6), ("basket",)),
    (("symmetric_weights",), plan(init=Constant(0.3)), ("swirl", "robot")),
    (("init_gain",), together(depth(5), plan(init=Uniform(2.0), epochs=30)), ("storms",)),
    (("init_gain",), together(depth(6), plan(init=Normal(std=0.02), epochs=25)), ("swirl",)),
    (("cannot_overfit",), plan(activation="step", widths=(4,)), ("robot",)),
    (("input_ignored",), plan(divisor=3e4), ("swirl",)),
    (("nonfinite_loss",), sgd(80.0), ("robot",)),
    (("exploding_gradients",), together(depth(9), plan(init=Normal(std=0.5), optimizer="sgd", rate=2e-3)), ("robot",)),
    (("vanishing_gradients",), together(depth(7), plan(activation="sigmoid", optimizer="sgd", rate=0.2)),
     ("swirl", "robot")),
    (("dead_units",), plan(bias=-8.0), ("robot", "swirl")),
    (("linear_regime",), plan(bias=10.0, epochs=15, rate=1e-3), ("fraud",)),
    (("saturated_units",), plan(activation="sigmoid", init=Normal(std=10.0)), ("swirl",)),
    (("saturated_units",), plan(activation="tanh", init=Uniform(6.0)), ("storms",)),
    (("rate_too_high",), plan(rate=0.3), ("swirl", "robot", "basket")),
    (("rate_too_high",), plan(optimizer="rmsprop", rate=0.2), ("fraud",)),
    (("rate_too_high",), sgd(2.0, 0.9), ("storms",)),
    (("rate_too_low",), plan(rate=3e-5), ("robot", "swirl")),
    (("rate_too_low",), sgd(1e-3), ("fraud", "genres")),
    (("not_converged",), plan(epochs=5, rate=1e-3), ("swirl", "robot")),
    (("stopped_too_early",), plan(stopping=1, validation=0.05, epochs=200, rate=5e-4), ("robot", "dial")),
    (("stopped_too_early",), plan(stopping=md.EarlyStopping("val_loss", patience=2, min_delta=0.1), epochs=200),
     ("swirl",)),
    (("overfitting",), plan(widths=(200, 200), epochs=150), ("storms", "basket")),
    (("overfitting",), plan(widths=(128, 128), epochs=120), ("scale_of_noise",)),
    (("overconfident",), plan(widths=(200, 100), epochs=60), ("basket",)),
    (("underfitting",), plan(widths=(2,)), ("robot", "swirl")),
    (("underfitting",), plan(dropout=0.88), ("fraud",)),
    (("batch_norm_mismatch",), plan(norm=md.BatchNorm(momentum=0.001), epochs=15), ("swirl",)),
    (("always_clipped",), plan(clip=2e-3, optimizer="sgd", rate=0.05), ("robot",)),
    (("frozen_parameters",), plan(freeze=("0", "2"), widths=(6, 6)), ("robot",)),
    (("excessive_decay",), sgd(0.05, 0.9, decay=0.2), ("robot", "swirl")),
    (("adam_epsilon",), plan(eps=0.5), ("fraud", "robot")),
    (("label_errors",), together(data(bad.swapped_labels), plan(stopping=15)), ("swirl",)),
    # two or more
    (("unscaled_inputs", "rate_too_high"), together(data(bad.inputs(bad.percent)), plan(rate=0.3)), ("swirl",)),
    (("unscaled_inputs", "loss_output_mismatch"), together(data(bad.inputs(bad.pressure)), plan(last="softmax")),
     ("swirl",)),
    (("unscaled_inputs", "too_few_steps"), together(data(bad.inputs(bad.percent)), plan(batch=None, epochs=30)),
     ("robot",)),
    (("unscaled_target", "missing_nonlinearity"), together(data(bad.target(5e3, 2e4)), plan(activation="identity")),
     ("robot",)),
    (("unscaled_target", "loss_output_mismatch"), together(data(bad.target(80.0, 400.0)), plan(last="tanh")),
     ("storms",)),
    (("missing_nonlinearity", "rate_too_low"), plan(activation="identity", rate=1e-5), ("robot", "swirl")),
    (("missing_nonlinearity", "not_converged"), plan(activation="identity", epochs=2, rate=1e-3), ("swirl",)),
    (("missing_nonlinearity", "rate_too_high"), plan(activation="identity", rate=1.0), ("robot",)),
    (("loss_output_mismatch", "too_few_steps"), plan(last="relu", batch=None, epochs=30), ("robot",)),
    (("loss_output_mismatch", "init_gain"), plan(last="softmax", init=Normal(std=2.0)), ("swirl",)),
    (("symmetric_weights", "rate_too_high"), plan(init=Constant(0.1), rate=0.5), ("robot",)),
    (("dead_units", "too_few_steps"), plan(bias=-8.0, batch=None, epochs=30), ("swirl",)),
    (("underfitting", "rate_too_high"), plan(widths=(1,), rate=0.5), ("swirl",)),
    (("underfitting", "excessive_decay"), plan(widths=(1,), optimizer="adamw", decay=15.0), ("robot",)),
    (("target_leak", "unscaled_inputs"), together(data(bad.inputs(bad.percent)), data(bad.outcome_column)),
     ("storms",)),
    (("no_signal", "rate_too_high"), together(data(bad.shuffled_target), plan(rate=0.5)), ("swirl",)),
    (("split_duplicates", "unscaled_inputs"), together(data(bad.inputs(bad.percent)),
     plan(own_validation=bad.many_copies)), ("swirl",)),
    (("split_shift", "loss_output_mismatch"), plan(own_validation=bad.scaled_by_itself, last="softmax"), ("swirl",)),
    (("unshuffled_rows", "rate_too_high"), not_shuffled(rate=0.2), ("swirl",)),
    (("overfitting", "label_errors"), together(data(bad.swapped_labels), plan(widths=(200, 200), epochs=150)),
     ("swirl",)),
    (("adam_epsilon", "rate_too_low"), plan(eps=1.0, rate=1e-4), ("robot",)),
    (("unscaled_inputs", "unscaled_target", "missing_nonlinearity"), together(data(bad.inputs(bad.percent)),
     data(bad.target(5e3, 2e4)), plan(activation="identity")), ("robot",)),
    (("symmetric_weights", "rate_too_low", "loss_output_mismatch"),
     plan(init=Constant(0.1), rate=1e-5, last="sigmoid"), ("swirl",)),
)  # fmt: skip

ESTIMATORS = {
    name: EstimatorPlan(name, {"hidden_layer_sizes": (48, 32), "learning_rate_init": 3e-3, "max_iter": 100})
    for name in ("houses", "mixture", "parity", "robot", "swirl", "storms", "fraud")
}
ESTIMATOR_FAULTS_A: Faults = (
    (("rate_too_low",), params(solver="sgd", learning_rate_init=1e-4), ("mixture",)),
    (("stopped_too_early",), params(tol=0.1, n_iter_no_change=2, learning_rate_init=1e-3), ("parity",)),
    (("not_converged",), params(max_iter=4), ("parity", "houses")),
    (("excessive_decay",), params(alpha=500.0), ("mixture",)),
    (("unscaled_inputs",), data(bad.inputs(bad.timestamps)), ("mixture",)),
    (("underfitting",), params(hidden_layer_sizes=(1,)), ("parity",)),
    (("vanishing_gradients",), params(hidden_layer_sizes=(24,) * 6, activation="logistic", solver="sgd",
     learning_rate_init=0.05), ("mixture",)),
    (("missing_nonlinearity", "unscaled_inputs"), together(params(activation="identity"),
     data(bad.inputs(bad.pressure))), ("parity",)),
    (("unscaled_target", "not_converged"), together(data(bad.target(2e4, 9e4)), params(max_iter=10)), ("houses",)),
)  # fmt: skip
ESTIMATOR_FAULTS_B: Faults = (
    (("rate_too_high",), params(learning_rate_init=1.0), ("swirl", "storms")),
    (("rate_too_low",), params(learning_rate_init=3e-6), ("robot",)),
    (("stopped_too_early",), params(early_stopping=True, n_iter_no_change=1, learning_rate_init=5e-4), ("swirl",)),
    (("too_few_steps",), params(batch_size=2000, max_iter=15), ("fraud",)),
    (("missing_nonlinearity",), params(activation="identity"), ("swirl",)),
    (("excessive_decay",), params(alpha=1000.0), ("robot",)),
    (("target_leak",), data(bad.outcome_column), ("storms",)),
    (("no_signal",), data(bad.shuffled_target), ("storms",)),
    (("unscaled_inputs", "rate_too_low"), together(data(bad.inputs(bad.timestamps)), params(learning_rate_init=1e-5)),
     ("swirl",)),
    (("underfitting", "not_converged"), params(hidden_layer_sizes=(1,), max_iter=4), ("swirl",)),
)  # fmt: skip


def broad_sick_plans(part: str, seeds: int, first: int = 0) -> Iterator[Sick]:
    """The sick runs of a part."""
    trainers, estimators = (FAULTS_A, ESTIMATOR_FAULTS_A) if part == "a" else (FAULTS_B, ESTIMATOR_FAULTS_B)
    for seed in range(first, first + seeds):
        for number, (names, plant, tables) in enumerate(trainers):
            for place, name in enumerate(tables):
                twin = BROAD_BASE[name].with_seed(2300 + 40 * seed + (number + place) % 31)
                yield Sick(names, plant(twin), twin)
        for number, (names, plant, tables) in enumerate(estimators):
            for name in tables:
                own = ESTIMATORS[name].with_seed(2500 + 40 * seed + number)
                yield Sick(names, plant(own), own)
