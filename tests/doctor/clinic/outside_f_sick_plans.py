"""Sick runs of part f of the fifth half: each name of the catalogue in mild, medium and strong doses, on the data sets
that people try first, alone and in twos to fours as in the field's benchmarks of real programs.

They were written before the rules of the doctor were read.
"""

from __future__ import annotations

from collections.abc import Iterator

import outside_f_faults as bad
from broad_sick_plans import data
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from fresh_sick_plans import depth, params, plan, sgd, together
from outside_e_sick_plans import Planted, one, several
from outside_f_data import PART_F
from outside_f_healthy_plans import BASE_F
from outside_ways import few, inputs, stop, target
from sick_plans import Fault, Sick

import madaline as md
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.optim import schedules

HOPELESS = ("pure_noise f", "planning f", "motorcycle_claims f")
"A table without signal, and real ones where neither a line nor a random forest beats a constant."
BASES = BASE_F | {name: Plan(name, widths=(16,), epochs=20, rate=2e-3) for name in HOPELESS}


def unshuffled(**changes: object) -> Fault:
    return together(data(bad.sorted_by_target), plan(shuffle=False, validation=None, **changes))


IDENTITY, SOFTMAX, SIGMOID = plan(activation="identity"), plan(last="softmax"), plan(last="sigmoid")
SLOW, SHORT = plan(rate=1e-5), plan(epochs=2, rate=1e-3)
FULL_BATCH = plan(batch=None, epochs=20)
RAW_TARGET = target(77.0, 152.0)
FAR_TARGET = target(5e4, 2e5)
DEEP_SIGMOID = together(depth(6), sgd(0.05, activation="sigmoid"))
NEGATIVE = together(inputs(bad.positive), plan(init=Uniform(-0.6, 0.0)))
ALONE_F: tuple[Planted, ...] = (
    *one("nonfinite_data", data(bad.empty_cell), "iris f"),
    *one("nonfinite_data", data(bad.endless_cell), "friedman3 f"),
    *one("nonfinite_data", data(bad.empty_targets), "diabetes f"),
    *one("unscaled_inputs", inputs(bad.one_thousands), "four_classes f", "bikes f"),
    *one("unscaled_inputs", inputs(bad.hundred_fold), "two_rings f"),
    *one("unscaled_inputs", inputs(bad.thousandths), "half_moons f", "friedman1_noisy f"),
    *one("unscaled_inputs", inputs(bad.raw_areas), "cancer f", "quantile_rings f"),
    *one("unscaled_inputs", inputs(bad.offset), "swiss_roll f"),
    *one("unscaled_inputs", inputs(bad.millions), "three_targets f"),
    *one("heavy_tails", data(bad.one_outlier), "four_classes f", "counts f"),
    *one("heavy_tails", data(bad.error_codes), "two_classes f", "prices f"),
    *one("heavy_tails", inputs(bad.cauchy), "friedman3 f"),
    *one("unscaled_target", RAW_TARGET, "diabetes f"),
    *one("unscaled_target", FAR_TARGET, "prices f"),
    *one("unscaled_target", target(1e5), "friedman2 f"),
    *one("unscaled_target", target(1e-4), "swiss_roll f"),
    *one("unscaled_target", target(1.0, 300.0), "parabola f"),
    *one("loss_output_mismatch", SOFTMAX, "iris f", "numerals f", "four_classes f"),
    *one("loss_output_mismatch", SIGMOID, "half_moons f", "one_in_ten f", "several_labels f"),
    *one("loss_output_mismatch", plan(last="relu"), "friedman2 f", "quantile_rings f"),
    *one("loss_output_mismatch", SIGMOID, "swiss_roll f", "clouds f"),
    *one("loss_output_mismatch", plan(last="tanh"), "friedman3 f", "digits16 f"),
    *one("missing_nonlinearity", IDENTITY, "half_moons f", "two_spirals f", "parabola f"),
    *one("missing_nonlinearity", together(depth(4), IDENTITY), "quantile_rings f"),
    *one("norm_order", plan(norm="batch", dropout=0.5, widths=(64, 64)), "four_classes f"),
    *one("class_imbalance", data(bad.rare_overlap), "hastie f"),
    *one("class_imbalance", data(bad.rare_third), "quantile_rings f"),
    *one("target_leak", data(bad.target_itself), "friedman1_noisy f", "wine-quality-red f"),
    *one("target_leak", data(bad.noisy_target), "weak_signal f"),
    *one("target_leak", data(bad.exponential_of_target), "prices f"),
    *one("target_leak", data(bad.outcome_flag), "two_classes f"),
    *one("target_leak", data(bad.identifier), "clothes f"),
    *one("split_duplicates", data(bad.twice), "swiss_roll f"),
    *one("split_duplicates", data(bad.oversampled), "energy-y1 f"),
    *one("split_duplicates", plan(own_validation=bad.training_rows), "friedman2 f", "four_classes f"),
    *one("split_duplicates", plan(own_validation=bad.half_training_rows), "clothes f"),
    *one("split_shift", plan(own_validation=bad.moved), "quantile_rings f"),
    *one("split_shift", plan(own_validation=bad.unscaled_rows), "two_classes f", "friedman2 f"),
    *one("split_shift", plan(own_validation=bad.one_class_only), "bikes f"),
    *one("split_shift", plan(own_validation=bad.one_column_changed), "half_moons f"),
    *one("split_shift", plan(own_validation=bad.upper_half), "swiss_roll f"),
    *one("small_validation", plan(validation=0.02), "plane f"),
    *one("small_validation", plan(validation=0.1), "wine f"),
    *one("no_signal", data(bad.as_it_is), *HOPELESS),
    *one("no_signal", data(bad.random_target), "diabetes f", "digits16 f"),
    *one("no_signal", data(bad.shuffled_target), "swiss_roll f"),
    *one("no_signal", data(bad.random_columns), "cancer f"),
    *one("unshuffled_rows", unshuffled(), "clouds f", "quantile_rings f"),
    *one("unshuffled_rows", unshuffled(batch=50), "clothes f"),
    *one("too_few_steps", FULL_BATCH, "two_spirals f", "numerals f"),
    *one("too_few_steps", plan(batch=400, epochs=15), "friedman2 f"),
    *one("initial_loss", plan(output_std=15.0), "numerals f"),
    *one("initial_loss", plan(output_std=60.0), "friedman1_noisy f"),
    *one("symmetric_weights", plan(init=Constant(0.1)), "half_moons f", "swiss_roll f"),
    *one("symmetric_weights", plan(init="zeros"), "four_classes f"),
    *one("symmetric_weights", plan(init="ones"), "quantile_rings f"),
    *one("init_gain", together(depth(5), plan(init=Normal(std=1.0))), "four_classes f"),
    *one("init_gain", together(depth(3), plan(init=Normal(std=2.0))), "friedman2 f"),
    *one("init_gain", together(depth(5), plan(init=Normal(std=1e-3), optimizer="sgd", rate=0.05)), "half_moons f"),
    *one("cannot_overfit", plan(activation="step", widths=(4, 4)), "swiss_roll f"),
    *one("input_ignored", plan(divisor=1e5), "quantile_rings f", "friedman3 f"),
    *one("nonfinite_loss", sgd(1e3), "bikes f"),
    *one("nonfinite_loss", sgd(50.0), "plane f"),
    *one("exploding_gradients", together(depth(8), plan(init=Normal(std=0.7), optimizer="sgd", rate=1e-3)),
         "friedman2 f"),
    *one("vanishing_gradients", DEEP_SIGMOID, "digits16 f", "half_moons f"),
    *one("vanishing_gradients", together(depth(9), sgd(0.02, activation="sigmoid")), "swiss_roll f"),
    *one("dead_units", plan(bias=-6.0), "two_rings f"),
    *one("dead_units", NEGATIVE, "four_classes f"),
    *one("linear_regime", plan(bias=20.0), "half_moons f"),
    *one("saturated_units", plan(activation="tanh", init=Normal(std=6.0)), "friedman1_noisy f"),
    *one("saturated_units", plan(activation="sigmoid", init=Normal(std=12.0)), "clouds f"),
    *one("rate_too_high", plan(rate=0.1), "swiss_roll f", "numerals f"),
    *one("rate_too_high", plan(rate=1.0), "four_classes f", "bikes f"),
    *one("rate_too_high", sgd(3.0, 0.9), "digits16 f"),
    *one("rate_too_high", plan(optimizer="rmsprop", rate=0.2), "friedman3 f"),
    *one("rate_too_low", plan(rate=1e-4), "two_spirals f"),
    *one("rate_too_low", plan(rate=1e-5), "iris f", "bikes f"),
    *one("rate_too_low", plan(rate=1e-7), "numerals f"),
    *one("rate_too_low", sgd(1e-4), "cancer f", "friedman2 f"),
    *one("rate_too_low", plan(schedule=schedules.Step(15, gamma=0.2)), "four_classes f"),
    *one("not_converged", plan(epochs=1), "numerals f"),
    *one("not_converged", plan(epochs=3), "swiss_roll f", "four_classes f"),
    *one("not_converged", plan(epochs=5, rate=1e-3), "half_moons f", "diabetes f"),
    *one("stopped_too_early", plan(stopping=1, epochs=300, rate=1e-3, validation=0.1), "two_spirals f"),
    *one("stopped_too_early", plan(stopping=stop(metric="val_loss", patience=2, min_delta=0.1), epochs=200),
         "digits16 f"),
    *one("constant_prediction", plan(rate=30.0), "quantile_rings f"),
    *one("overfitting", few(256, epochs=150), "diabetes f", "friedman1_noisy f"),
    *one("overfitting", few(128, epochs=200), "planning f", "horse-colic f"),
    *one("overfitting", few(200, epochs=100), "wine-quality-red f"),
    *one("overconfident", few(128, epochs=100), "horse-colic f"),
    *one("underfitting", plan(widths=(1,)), "digits16 f", "four_classes f"),
    *one("underfitting", plan(widths=(2, 2)), "two_spirals f"),
    *one("underfitting", plan(dropout=0.9), "swiss_roll f"),
    *one("batch_norm_mismatch", plan(norm=md.BatchNorm(momentum=1e-4)), "four_classes f"),
    *one("batch_norm_mismatch", plan(norm="batch", batch=2, epochs=6, rate=2e-2), "friedman2 f"),
    *one("always_clipped", sgd(0.05, clip=1e-3), "digits16 f"),
    *one("always_clipped", sgd(0.02, clip=1e-4), "friedman2 f"),
    *one("frozen_parameters", plan(freeze=("0", "2"), widths=(6, 6)), "four_classes f"),
    *one("frozen_parameters", plan(freeze=("0",), widths=(8,)), "numerals f"),
    *one("excessive_decay", plan(optimizer="adamw", decay=20.0), "swiss_roll f"),
    *one("excessive_decay", sgd(0.1, decay=0.5), "digits16 f"),
    *one("adam_epsilon", plan(eps=1.0), "numerals f"),
    *one("adam_epsilon", plan(eps=10.0), "swiss_roll f"),
    *one("numeric_limits", inputs(bad.tiny_numbers), "two_rings f"),
    *one("label_errors", together(data(bad.flipped), plan(stopping=10)), "numerals f", "digits16 f"),
    *one("label_errors", together(data(bad.flipped_a_little), plan(stopping=10)), "clouds f"),
    *one("label_errors", together(data(bad.flipped_often), plan(stopping=10)), "cancer f"),
)  # fmt: skip
SEVERAL_F: tuple[Planted, ...] = (
    # data and training
    *several("cancer f", unscaled_inputs=inputs(bad.raw_areas), rate_too_high=plan(rate=0.2)),
    *several("four_classes f", unscaled_inputs=inputs(bad.one_thousands), not_converged=SHORT),
    *several("bikes f", unscaled_inputs=inputs(bad.hundred_fold), unscaled_target=FAR_TARGET),
    *several("quantile_rings f", unscaled_inputs=inputs(bad.raw_areas), loss_output_mismatch=SOFTMAX),
    *several("swiss_roll f", unscaled_inputs=inputs(bad.offset), missing_nonlinearity=IDENTITY),
    *several("two_rings f", unscaled_inputs=inputs(bad.thousandths), too_few_steps=FULL_BATCH),
    *several("friedman2 f", unscaled_inputs=inputs(bad.millions), rate_too_low=SLOW),
    *several("diabetes f", unscaled_target=RAW_TARGET, rate_too_low=SLOW),
    *several("bikes f", unscaled_target=RAW_TARGET, missing_nonlinearity=IDENTITY),
    *several("prices f", unscaled_target=FAR_TARGET, not_converged=plan(epochs=3)),
    *several("friedman2 f", unscaled_target=target(400.0, 500.0), loss_output_mismatch=SIGMOID),
    *several("swiss_roll f", unscaled_target=FAR_TARGET, rate_too_high=sgd(0.5)),
    *several("two_classes f", heavy_tails=data(bad.error_codes), rate_too_low=SLOW),
    *several("friedman1_noisy f", heavy_tails=data(bad.one_outlier), not_converged=SHORT),
    # loss and net
    *several("iris f", loss_output_mismatch=SOFTMAX, not_converged=plan(epochs=2)),
    *several("numerals f", loss_output_mismatch=SOFTMAX, rate_too_high=plan(rate=0.1)),
    *several("four_classes f", loss_output_mismatch=SOFTMAX, missing_nonlinearity=IDENTITY),
    *several("half_moons f", loss_output_mismatch=SIGMOID, missing_nonlinearity=IDENTITY),
    *several("half_moons f", loss_output_mismatch=SIGMOID, rate_too_low=plan(rate=3e-5)),
    *several("cancer f", loss_output_mismatch=SIGMOID, unscaled_inputs=inputs(bad.raw_areas)),
    *several("clouds f", loss_output_mismatch=SOFTMAX, underfitting=plan(widths=(1,))),
    *several("several_labels f", loss_output_mismatch=SIGMOID, not_converged=plan(epochs=2, rate=1e-3)),
    *several("two_spirals f", missing_nonlinearity=IDENTITY, not_converged=plan(epochs=3)),
    *several("quantile_rings f", missing_nonlinearity=IDENTITY, rate_too_high=plan(rate=1.0)),
    *several("swiss_roll f", missing_nonlinearity=IDENTITY, too_few_steps=FULL_BATCH),
    *several("digits16 f", symmetric_weights=plan(init=Constant(0.2)), rate_too_low=sgd(1e-3)),
    *several("half_moons f", symmetric_weights=plan(init="zeros"), loss_output_mismatch=SIGMOID),
    *several("friedman2 f", saturated_units=plan(activation="tanh", init=Normal(std=9.0)), not_converged=SHORT),
    *several("four_classes f", vanishing_gradients=DEEP_SIGMOID, loss_output_mismatch=SOFTMAX),
    *several("numerals f", dead_units=plan(bias=-8.0), loss_output_mismatch=SOFTMAX),
    *several("two_spirals f", underfitting=plan(widths=(2,)), rate_too_low=plan(rate=1e-5)),
    *several("swiss_roll f", excessive_decay=plan(optimizer="adamw", decay=20.0), not_converged=plan(epochs=3)),
    *several("numerals f", adam_epsilon=plan(eps=10.0), too_few_steps=plan(batch=None, epochs=30)),
    *several("clothes f", frozen_parameters=plan(freeze=("0",), widths=(6,)), loss_output_mismatch=SOFTMAX),
    # data, split and training
    *several("energy-y1 f", split_duplicates=data(bad.oversampled), rate_too_low=plan(rate=3e-5)),
    *several("friedman1_noisy f", overfitting=few(256, epochs=150), small_validation=plan(validation=0.03)),
    *several("wine-quality-red f", overfitting=few(200, epochs=100), label_errors=data(bad.flipped)),
    *several("cancer f", no_signal=data(bad.random_columns), unscaled_inputs=inputs(bad.raw_areas)),
    *several("diabetes f", no_signal=data(bad.random_target), unscaled_target=RAW_TARGET),
    *several("two_classes f", split_shift=plan(own_validation=bad.unscaled_rows), not_converged=SHORT),
    *several("clouds f", unshuffled_rows=unshuffled(), rate_too_low=plan(rate=3e-5)),
    *several("friedman1_noisy f", target_leak=data(bad.noisy_target), unscaled_target=FAR_TARGET),
    *several("digits16 f", label_errors=together(data(bad.flipped), plan(stopping=10)),
             loss_output_mismatch=SOFTMAX),
    *several("hastie f", class_imbalance=data(bad.rare_overlap), loss_output_mismatch=SIGMOID),
    # three and four
    *several("iris f", unscaled_inputs=inputs(bad.hundred_fold), loss_output_mismatch=SOFTMAX,
             rate_too_high=plan(rate=0.5)),
    *several("swiss_roll f", unscaled_inputs=inputs(bad.raw_areas), unscaled_target=FAR_TARGET, not_converged=SHORT),
    *several("half_moons f", loss_output_mismatch=SIGMOID, missing_nonlinearity=IDENTITY, rate_too_low=SLOW),
    *several("bikes f", unscaled_target=FAR_TARGET, missing_nonlinearity=IDENTITY, too_few_steps=FULL_BATCH),
    *several("cancer f", unscaled_inputs=inputs(bad.raw_areas), loss_output_mismatch=SIGMOID,
             too_few_steps=FULL_BATCH),
    *several("quantile_rings f", unscaled_inputs=inputs(bad.hundred_fold), missing_nonlinearity=IDENTITY,
             loss_output_mismatch=SOFTMAX, not_converged=SHORT),
)  # fmt: skip
NET = {"hidden_layer_sizes": (150, 150), "max_iter": 200, "tol": 0.0, "validation": 0.25}
ESTIMATORS_ALONE_F: tuple[Planted, ...] = (
    *one("unscaled_inputs", inputs(bad.raw_areas), "cancer f", "friedman2 f"),
    *one("unscaled_target", RAW_TARGET, "bikes f"),
    *one("unscaled_target", FAR_TARGET, "prices f"),
    *one("heavy_tails", data(bad.error_codes), "clouds f"),
    *one("rate_too_high", params(solver="sgd", learning_rate_init=2.0), "digits16 f"),
    *one("rate_too_high", params(learning_rate_init=0.3), "friedman2 f", "numerals f"),
    *one("rate_too_low", params(learning_rate_init=1e-6), "half_moons f", "bikes f"),
    *one("rate_too_low", params(solver="sgd", learning_rate_init=1e-4), "clothes f"),
    *one("not_converged", params(max_iter=2), "swiss_roll f"),
    *one("not_converged", params(max_iter=3), "digits16 f"),
    *one("missing_nonlinearity", params(activation="identity"), "two_spirals f", "friedman3 f"),
    *one("underfitting", params(hidden_layer_sizes=(1,)), "clothes f"),
    *one("overfitting", params(**NET), "wine-quality-red f", "weak_signal f"),
    *one("stopped_too_early", params(early_stopping=True, n_iter_no_change=1, learning_rate_init=1e-3),
         "two_spirals f"),
    *one("too_few_steps", params(batch_size=2000, max_iter=20), "quantile_rings f"),
    *one("excessive_decay", params(alpha=100.0), "swiss_roll f"),
    *one("adam_epsilon", params(epsilon=1.0), "numerals f"),
    *one("saturated_units", params(activation="tanh", init=Normal(std=6.0)), "half_moons f"),
    *one("vanishing_gradients", params(hidden_layer_sizes=(20,) * 7, activation="logistic", solver="sgd",
                                       learning_rate_init=0.01), "quantile_rings f"),
    *one("no_signal", together(data(bad.as_it_is), params(preset="auto")), "pure_noise f"),
    *one("target_leak", together(data(bad.target_itself), params(preset="auto")), "friedman1_noisy f"),
    *one("split_duplicates", together(data(bad.twice), params(early_stopping=True)), "energy-y1 f"),
    *one("label_errors", together(data(bad.flipped), params(early_stopping=True)), "digits16 f"),
)  # fmt: skip
ESTIMATORS_SEVERAL_F: tuple[Planted, ...] = (
    *several("quantile_rings f", unscaled_inputs=inputs(bad.raw_areas), not_converged=params(max_iter=2)),
    *several("bikes f", unscaled_target=RAW_TARGET, rate_too_low=params(learning_rate_init=1e-5)),
    *several("two_spirals f", missing_nonlinearity=params(activation="identity"), not_converged=params(max_iter=2)),
    *several("friedman2 f", unscaled_inputs=inputs(bad.raw_areas), unscaled_target=FAR_TARGET),
    *several("swiss_roll f", underfitting=params(hidden_layer_sizes=(1,)),
             rate_too_high=params(learning_rate_init=0.5)),
    *several("quantile_rings f", missing_nonlinearity=params(activation="identity"),
             too_few_steps=params(batch_size=1000, max_iter=10), unscaled_inputs=inputs(bad.offset)),
)  # fmt: skip
OWN = {"hidden_layer_sizes": (50, 25), "learning_rate_init": 5e-3, "batch_size": 32, "max_iter": 60}


def _sick(planted: Planted, seed: int, *, own: bool) -> Sick:
    table, faults = planted
    twin = (EstimatorPlan(table, OWN) if own else BASES[table]).with_seed(seed)
    changes = [change for _, change in faults]
    alone = tuple(change(twin) for change in changes) if len(changes) > 1 else ()
    return Sick(tuple(name for name, _ in faults), together(*changes)(twin), twin, alone)


def sick_plans_f(seeds: int, first: int = 0) -> Iterator[Sick]:
    """The sick runs."""
    trainers, estimators = (*ALONE_F, *SEVERAL_F), (*ESTIMATORS_ALONE_F, *ESTIMATORS_SEVERAL_F)
    for seed in range(first, first + seeds):
        for number, planted in enumerate((*trainers, *estimators)):
            if planted[0] in PART_F:
                yield _sick(planted, 9400 + 300 * seed + number, own=number >= len(trainers))
