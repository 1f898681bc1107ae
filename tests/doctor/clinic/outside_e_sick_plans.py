"""Sick runs of part e of the fifth half: the faults of first programs, alone and in twos and threes.

They were written before the rules of the doctor were read. For runs with several faults, each of them is planted by a
change of its own, so that it can be seen that it harms alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import outside_e_faults as bad
from broad_sick_plans import data
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from fresh_sick_plans import depth, params, plan, sgd, together
from outside_e_data import PART_E
from outside_e_healthy_plans import BASE_E
from outside_ways import few, inputs, stop, target
from sick_plans import Fault, Sick

import madaline as md
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.optim import schedules

Planted = tuple[str, tuple[tuple[str, Fault], ...]]
"A table, and the faults by name."
HOPELESS = ("tamielectric e", "congressional-voting e", "statlog-australian-credit e")
"Real tables whose targets cannot be told from the columns: neither a line nor a random forest beats a constant."
BASES = BASE_E | {name: Plan(name, widths=(16,), epochs=20, rate=2e-3) for name in HOPELESS}


def unshuffled(**changes: object) -> Fault:
    return together(data(bad.by_class), plan(shuffle=False, validation=None, **changes))


def one(name: str, fault: Fault, *tables: str) -> tuple[Planted, ...]:
    return tuple((table, ((name, fault),)) for table in tables)


def several(table: str, **faults: Fault) -> tuple[Planted, ...]:
    return ((table, tuple(faults.items())),)


DEAD = together(inputs(bad.unit_interval), plan(init=Uniform(-0.8, 0.0)))
ALONE_E: tuple[Planted, ...] = (
    *one("nonfinite_data", data(bad.gap_in_a_row), "boston_housing e"),
    *one("nonfinite_data", data(bad.ratio_by_zero), "flags"),
    *one("nonfinite_data", data(bad.empty_target), "knobs"),
    *one("unscaled_inputs", inputs(bad.dollars_and_rates), "image-segmentation e", "wine_quality e"),
    *one("unscaled_inputs", inputs(bad.coordinates), "drift"),
    *one("unscaled_inputs", inputs(bad.parts_per_million), "naval_propulsion e", "seeds e"),
    *one("unscaled_inputs", inputs(bad.feet), "rosettes"),
    *one("unscaled_inputs", together(inputs(bad.hundredths), plan(activation="sigmoid")), "sine"),
    *one("heavy_tails", data(bad.divided_by_nothing), "lags"),
    *one("heavy_tails", data(bad.thousands_separator), "boston_housing e"),
    *one("heavy_tails", data(bad.filled_with_a_million), "waveform-noise e"),
    *one("heavy_tails", inputs(bad.astronomical), "drift"),
    *one("unscaled_target", target(8e4, 3e5), "boston_housing e"),
    *one("unscaled_target", target(8.0, 288.0), "knobs"),
    *one("unscaled_target", target(1e-5), "cannon"),
    *one("unscaled_target", target(2e6, 8e6), "staircase"),
    *one("loss_output_mismatch", plan(last="softmax"), "soybean e", "bitmaps"),
    *one("loss_output_mismatch", plan(last="sigmoid"), "defects", "topics"),
    *one("loss_output_mismatch", plan(last="softplus"), "knobs"),
    *one("loss_output_mismatch", plan(last="hard_sigmoid"), "lags"),
    *one("loss_output_mismatch", plan(last="relu"), "image-segmentation e"),
    *one("missing_nonlinearity", plan(activation="identity"), "sine", "rosettes"),
    *one("missing_nonlinearity", together(depth(5), plan(activation="identity")), "monks-1 e"),
    *one("norm_order", plan(norm="batch", dropout=0.4, widths=(64, 48)), "flags"),
    *one("class_imbalance", data(bad.one_in_twelve), "coins"),
    *one("target_leak", data(bad.rank), "wine_quality e"),
    *one("target_leak", data(bad.group_mean), "dice"),
    *one("target_leak", data(bad.status_code), "flags"),
    *one("target_leak", data(bad.paid_back), "coins"),
    *one("split_duplicates", data(bad.with_replacement), "rosettes"),
    *one("split_duplicates", data(bad.joined_on_a_key), "wine_quality e"),
    *one("split_duplicates", plan(own_validation=bad.tail_of_training), "drift"),
    *one("split_duplicates", plan(own_validation=bad.half_precision), "waveform-noise e"),
    *one("split_duplicates", plan(own_validation=bad.shared_patients), "approval"),
    *one("split_shift", plan(own_validation=bad.another_unit), "flags"),
    *one("split_shift", plan(own_validation=bad.end_of_sorted), "cannon"),
    *one("split_shift", plan(own_validation=bad.augmented), "knobs"),
    *one("split_shift", plan(own_validation=bad.divided_again), "image-segmentation e"),
    *one("small_validation", plan(validation=0.015), "dice"),
    *one("small_validation", plan(validation=0.03), "balance-scale e"),
    *one("no_signal", data(bad.as_it_is), *HOPELESS),
    *one("no_signal", data(bad.each_column_sorted), "drift"),
    *one("no_signal", data(bad.shuffled_inputs), "image-segmentation e"),
    *one("unshuffled_rows", unshuffled(), "bitmaps"),
    *one("unshuffled_rows", unshuffled(batch=16), "rosettes"),
    *one("too_few_steps", plan(batch=None, epochs=25), "staircase"),
    *one("too_few_steps", plan(batch=512, epochs=12), "naval_propulsion e"),
    *one("initial_loss", plan(output_std=40.0), "soybean e"),
    *one("initial_loss", plan(output_std=25.0), "boston_housing e"),
    *one("symmetric_weights", plan(init=Constant(1.0)), "flags"),
    *one("symmetric_weights", plan(init=Constant(0.01)), "drift"),
    *one("init_gain", together(depth(4), plan(init=Normal(std=1.0))), "knobs"),
    *one("init_gain", together(depth(3), plan(init=Uniform(0.0, 1.0))), "image-segmentation e"),
    *one("init_gain", together(depth(5), plan(init=Normal(std=1e-3), optimizer="sgd", rate=0.05)), "lags"),
    *one("cannot_overfit", plan(activation=bad.sign, widths=(3,)), "rosettes"),
    *one("input_ignored", plan(divisor=3e4), "flags"),
    *one("nonfinite_loss", together(depth(4), plan(activation=bad.cube, optimizer="sgd", rate=0.1)), "knobs"),
    *one("nonfinite_loss", sgd(400.0), "boston_housing e"),
    *one("exploding_gradients", together(depth(8), plan(init=Normal(std=0.6), optimizer="sgd", rate=2e-3)), "lags"),
    *one("vanishing_gradients", together(depth(6), sgd(0.05, activation="sigmoid")), "flags"),
    *one("vanishing_gradients", together(depth(7), sgd(0.02, activation="tanh", init=Normal(std=0.02))), "bitmaps"),
    *one("dead_units", plan(bias=-5.0), "rosettes"),
    *one("dead_units", DEAD, "image-segmentation e"),
    *one("linear_regime", plan(bias=16.0), "knobs"),
    *one("saturated_units", plan(activation="sigmoid", init=Normal(std=9.0)), "rosettes"),
    *one("saturated_units", plan(activation="tanh", init=Uniform(-8.0, 8.0)), "drift"),
    *one("rate_too_high", plan(rate=0.25), "image-segmentation e"),
    *one("rate_too_high", plan(optimizer="rmsprop", rate=0.4), "staircase"),
    *one("rate_too_high", sgd(2.0, 0.9), "bitmaps"),
    *one("rate_too_high", sgd(0.2, 0.995), "knobs"),
    *one("rate_too_low", plan(rate=8e-6), "lags"),
    *one("rate_too_low", sgd(2e-4), "bitmaps"),
    *one("rate_too_low", plan(schedule=schedules.Step(20, gamma=0.3)), "rosettes"),
    *one("rate_too_low", plan(schedule=schedules.Polynomial(steps=40)), "drift"),
    *one("not_converged", plan(epochs=2, rate=1e-3), "knobs", "soybean e"),
    *one("stopped_too_early", plan(stopping=1, epochs=300, rate=5e-4, validation=0.06), "monks-1 e"),
    *one("stopped_too_early", plan(stopping=stop(metric="val_loss", patience=3, min_delta=0.15), epochs=150), "flags"),
    *one("overfitting", few(300, epochs=120), "coins", "wine_quality e"),
    *one("overfitting", few(200, epochs=150), "glass e"),
    *one("overconfident", few(100, epochs=120), "vertebral-column-2clases e"),
    *one("underfitting", plan(widths=(1, 1)), "image-segmentation e"),
    *one("underfitting", plan(dropout=0.9), "lags"),
    *one("batch_norm_mismatch", plan(norm=md.BatchNorm(momentum=0.0003)), "drift"),
    *one("batch_norm_mismatch", plan(norm="batch", batch=2, epochs=8, rate=3e-2), "knobs"),
    *one("always_clipped", sgd(0.05, clip=1e-3), "lags"),
    *one("frozen_parameters", plan(freeze=("0", "2"), widths=(5, 5)), "rosettes"),
    *one("excessive_decay", plan(optimizer="adamw", decay=35.0), "image-segmentation e"),
    *one("excessive_decay", sgd(0.1, decay=0.3), "drift"),
    *one("adam_epsilon", plan(eps=3.0), "bitmaps"),
    *one("label_errors", together(data(bad.random_class), plan(stopping=10)), "bitmaps"),
    *one("label_errors", together(data(bad.turned_round), plan(stopping=10)), "approval"),
    *one("constant_prediction", plan(rate=20.0), "flags"),
    *one("constant_prediction", plan(init=Constant(0.0)), "image-segmentation e"),
)  # fmt: skip
IDENTITY, SOFTMAX, SLOW = plan(activation="identity"), plan(last="softmax"), plan(rate=1e-5)
SATURATED = plan(activation="tanh", init=Normal(std=8.0))
VANISHING = together(depth(6), sgd(0.05, activation="sigmoid"))
SEVERAL_E: tuple[Planted, ...] = (
    *several("image-segmentation e", unscaled_inputs=inputs(bad.dollars_and_rates), loss_output_mismatch=SOFTMAX),
    *several("rosettes", unscaled_inputs=inputs(bad.feet), rate_too_high=plan(rate=0.3)),
    *several("knobs", unscaled_inputs=inputs(bad.coordinates), missing_nonlinearity=IDENTITY),
    *several("drift", unscaled_inputs=inputs(bad.parts_per_million), not_converged=plan(epochs=2)),
    *several("bitmaps", unscaled_inputs=inputs(bad.feet), too_few_steps=plan(batch=None, epochs=20)),
    *several("boston_housing e", unscaled_inputs=inputs(bad.dollars_and_rates), unscaled_target=target(8e4, 3e5)),
    *several("cannon", unscaled_target=target(900.0, 2500.0), missing_nonlinearity=IDENTITY),
    *several("knobs", unscaled_target=target(8e4, 3e5), loss_output_mismatch=plan(last="sigmoid")),
    *several("lags", unscaled_target=target(70.0, 1000.0), rate_too_low=SLOW),
    *several("staircase", heavy_tails=data(bad.divided_by_nothing), not_converged=plan(epochs=2, rate=1e-3)),
    *several("image-segmentation e", heavy_tails=data(bad.filled_with_a_million), loss_output_mismatch=SOFTMAX),
    *several("soybean e", loss_output_mismatch=SOFTMAX, rate_too_low=plan(rate=2e-5)),
    *several("rosettes", loss_output_mismatch=SOFTMAX, missing_nonlinearity=IDENTITY),
    *several("flags", loss_output_mismatch=SOFTMAX, rate_too_high=sgd(1.5, 0.9)),
    *several("defects", loss_output_mismatch=plan(last="sigmoid"), not_converged=plan(epochs=2, rate=1e-3)),
    *several("sine", loss_output_mismatch=plan(last="hard_sigmoid"), too_few_steps=plan(batch=None, epochs=30)),
    *several("drift", missing_nonlinearity=IDENTITY, rate_too_high=plan(optimizer="rmsprop", rate=0.6)),
    *several("monks-1 e", missing_nonlinearity=IDENTITY, not_converged=plan(epochs=2, rate=1e-3)),
    *several("knobs", missing_nonlinearity=IDENTITY, excessive_decay=plan(optimizer="adamw", decay=35.0)),
    *several("rosettes", symmetric_weights=plan(init=Constant(0.3)), loss_output_mismatch=SOFTMAX),
    *several("drift", symmetric_weights=plan(init=Constant(0.3)), not_converged=plan(epochs=3, rate=1e-3)),
    *several("flags", dead_units=plan(bias=-8.0), rate_too_low=SLOW),
    *several("rosettes", saturated_units=SATURATED, loss_output_mismatch=SOFTMAX),
    *several("knobs", saturated_units=SATURATED, unscaled_target=target(50.0, 400.0)),
    *several("flags", vanishing_gradients=VANISHING, loss_output_mismatch=SOFTMAX),
    *several("bitmaps", underfitting=plan(widths=(1,)), rate_too_low=plan(rate=3e-5)),
    *several("image-segmentation e", underfitting=plan(dropout=0.9), loss_output_mismatch=SOFTMAX),
    *several("wine_quality e", overfitting=few(256, epochs=120), split_duplicates=data(bad.joined_on_a_key)),
    *several("glass e", overfitting=few(200, epochs=150), small_validation=plan(validation=0.08)),
    *several("coins", overfitting=few(256, epochs=100), label_errors=data(bad.turned_round)),
    *several("drift", no_signal=data(bad.shuffled_inputs), unscaled_target=target(60.0, 900.0)),
    *several("rosettes", no_signal=data(bad.shuffled_inputs), rate_too_high=plan(rate=0.5)),
    *several("wine_quality e", target_leak=data(bad.rank), split_shift=plan(own_validation=bad.leaky_other_unit)),
    *several("flags", split_duplicates=plan(own_validation=bad.tail_of_training), missing_nonlinearity=IDENTITY),
    *several("knobs", split_shift=plan(own_validation=bad.another_unit), rate_too_low=SLOW),
    *several("bitmaps", unshuffled_rows=unshuffled(), rate_too_low=sgd(1e-3)),
    *several("coins", class_imbalance=data(bad.one_in_twelve), unscaled_inputs=inputs(bad.coordinates)),
    *several("rosettes", frozen_parameters=plan(freeze=("0", "2"), widths=(5, 5)), rate_too_low=SLOW),
    *several("lags", always_clipped=sgd(0.05, clip=1e-3), unscaled_target=target(60.0, 900.0)),
    *several("bitmaps", adam_epsilon=plan(eps=3.0), loss_output_mismatch=SOFTMAX),
    *several("topics", loss_output_mismatch=plan(last="sigmoid"), too_few_steps=plan(batch=None, epochs=20)),
    *several("sine", missing_nonlinearity=IDENTITY, rate_too_low=SLOW),
    *several("defects", unscaled_inputs=inputs(bad.feet), symmetric_weights=plan(init=Constant(0.5))),
    *several("waveform-noise e", overfitting=few(200, epochs=80), label_errors=data(bad.random_class)),
    *several("autos e", unscaled_target=target(6e3, 1.3e4), small_validation=plan(validation=0.06)),
    *several("ecoli e", unscaled_inputs=inputs(bad.feet), loss_output_mismatch=SOFTMAX),
    *several("naval_propulsion e", unscaled_inputs=inputs(bad.parts_per_million), rate_too_low=plan(rate=2e-5)),
    *several("knobs", unscaled_inputs=inputs(bad.nearly_nothing), numeric_limits=plan()),
    # three and four
    *several("approval", unscaled_inputs=inputs(bad.dollars_and_rates), loss_output_mismatch=plan(last="sigmoid"),
             not_converged=plan(epochs=3)),
    *several("staircase", unscaled_target=target(2e6, 8e6), missing_nonlinearity=IDENTITY,
             too_few_steps=plan(batch=None, epochs=25)),
    *several("image-segmentation e", unscaled_inputs=inputs(bad.dollars_and_rates), loss_output_mismatch=SOFTMAX,
             rate_too_high=plan(rate=0.3)),
    *several("boston_housing e", unscaled_inputs=inputs(bad.coordinates), unscaled_target=target(8e4, 3e5),
             not_converged=plan(epochs=3)),
    *several("knobs", unscaled_target=target(70.0, 1000.0), missing_nonlinearity=IDENTITY, rate_too_low=SLOW),
    *several("rosettes", unscaled_inputs=inputs(bad.feet), missing_nonlinearity=IDENTITY, loss_output_mismatch=SOFTMAX,
             not_converged=plan(epochs=3)),
)  # fmt: skip
ESTIMATORS_ALONE_E: tuple[Planted, ...] = (
    *one("unscaled_inputs", inputs(bad.coordinates), "knobs"),
    *one("unscaled_target", target(8e4, 3e5), "lags"),
    *one("rate_too_high", params(solver="sgd", learning_rate_init=3.0), "rosettes"),
    *one("rate_too_high", params(learning_rate_init=0.4), "boston_housing e"),
    *one("rate_too_low", params(learning_rate_init=5e-6), "flags"),
    *one("not_converged", params(max_iter=2), "image-segmentation e"),
    *one("stopped_too_early", params(early_stopping=True, n_iter_no_change=1, learning_rate_init=5e-4), "monks-1 e"),
    *one("missing_nonlinearity", params(activation="identity"), "knobs"),
    *one("underfitting", params(hidden_layer_sizes=(1,)), "bitmaps"),
    *one("overfitting", params(hidden_layer_sizes=(300, 300), max_iter=150, tol=0.0, validation=0.25), "coins"),
    *one("too_few_steps", params(batch_size=1200, max_iter=20), "drift"),
    *one("excessive_decay", params(alpha=500.0), "flags"),
    *one("adam_epsilon", params(epsilon=3.0), "bitmaps"),
    *one("symmetric_weights", params(init=Constant(0.2)), "rosettes"),
    *one("vanishing_gradients", params(hidden_layer_sizes=(24,) * 6, activation="logistic", solver="sgd",
                                       learning_rate_init=0.02), "flags"),
    *one("target_leak", together(data(bad.paid_back), params(preset="auto")), "coins"),
    *one("split_duplicates", together(data(bad.with_replacement), params(early_stopping=True)), "coins"),
)  # fmt: skip
ESTIMATORS_SEVERAL_E: tuple[Planted, ...] = (
    *several("rosettes", unscaled_inputs=inputs(bad.feet), not_converged=params(max_iter=3)),
    *several("knobs", unscaled_target=target(70.0, 1000.0), rate_too_low=params(learning_rate_init=1e-5)),
    *several("flags", missing_nonlinearity=params(activation="identity"),
             too_few_steps=params(batch_size=1000, max_iter=15)),
    *several("drift", no_signal=data(bad.shuffled_inputs), unscaled_inputs=inputs(bad.coordinates)),
    *several("staircase", unscaled_target=target(8e4, 3e5), not_converged=params(max_iter=3)),
    *several("knobs", unscaled_inputs=inputs(bad.feet), unscaled_target=target(8e4, 3e5),
             rate_too_high=params(learning_rate_init=1.0)),
    *several("bitmaps", underfitting=params(hidden_layer_sizes=(1,)), rate_too_high=params(learning_rate_init=0.5)),
)  # fmt: skip
OWN = {"hidden_layer_sizes": (40, 24), "learning_rate_init": 4e-3, "batch_size": 32, "max_iter": 50}


def _sick(planted: Planted, seed: int, *, own: bool) -> Sick:
    table, faults = planted
    twin = EstimatorPlan(table, OWN) if own else BASES[table]
    twin = twin.with_seed(seed)
    changes = [change for _, change in faults]
    alone = tuple(change(twin) for change in changes) if len(changes) > 1 else ()
    return Sick(tuple(name for name, _ in faults), together(*changes)(twin), twin, alone)


def sick_plans_e(seeds: int, first: int = 0) -> Iterator[Sick]:
    """The sick runs."""
    trainers, estimators = (*ALONE_E, *SEVERAL_E), (*ESTIMATORS_ALONE_E, *ESTIMATORS_SEVERAL_E)
    for seed in range(first, first + seeds):
        for number, planted in enumerate((*trainers, *estimators)):
            if planted[0] in PART_E:
                yield _sick(planted, 8200 + 300 * seed + number, own=number >= len(trainers))
