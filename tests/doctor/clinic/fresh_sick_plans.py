"""Sick runs of the third half: other data, nets and strengths of the faults, Trainers and estimators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import fresh_faults as bad
from clinic_runs import Plan
from estimator_runs import EstimatorPlan
from fresh_healthy_plans import FRESH_BASE
from sick_plans import Fault, Sick, with_data

import madaline as md
from madaline.nn.initializers import Constant, Normal, Uniform


def plan(**changes: object) -> Fault:
    return lambda p: replace(p, **changes)  # type: ignore[arg-type]


def sgd(rate: float, momentum: float = 0.0, **others: object) -> Fault:
    return plan(optimizer="sgd", rate=rate, momentum=momentum, **others)


def depth(n: int) -> Fault:
    return lambda p: replace(p, widths=(p.widths[0],) * n)


def together(*changes: Fault) -> Fault:
    def changed(p: Plan) -> Plan:
        for change in changes:
            p = change(p)
        return p

    return changed


REGRESSION = ("pendulum", "seasons", "products")
CLASSES = ("rings", "letters", "pixels")
BINARY = ("checker", "screening")

FRESH_FAULTS: tuple[tuple[str, Fault, tuple[str, ...]], ...] = (
    ("nonfinite_data", with_data(bad.holes), ("seasons", "letters")),
    ("nonfinite_data", with_data(bad.infinite), ("products", "votes")),
    ("unscaled_inputs", with_data(bad.salaries), ("products", "letters", "screening")),
    ("unscaled_inputs", with_data(bad.faint_inputs), ("pendulum", "rings")),
    ("unscaled_inputs", with_data(bad.kelvin), ("checker", "seasons")),
    ("unscaled_inputs", together(with_data(bad.grey_values), plan(activation="tanh")), ("rings", "products")),
    ("heavy_tails", with_data(bad.crushed), ("rings", "products")),
    ("heavy_tails", with_data(bad.broken_readings), ("pendulum", "letters")),
    ("unscaled_target", with_data(bad.dollars), ("pendulum", "products")),
    ("unscaled_target", together(with_data(bad.grams), sgd(1e-4)), ("seasons", "products")),
    ("loss_output_mismatch", plan(last="softmax"), ("rings", "letters", "votes")),
    ("loss_output_mismatch", plan(last="sigmoid"), ("checker", "products")),
    ("loss_output_mismatch", plan(last="relu"), ("seasons", "pixels")),
    ("loss_output_mismatch", plan(last="tanh"), ("pendulum", "letters")),
    ("missing_nonlinearity", plan(activation="identity"), ("rings", "seasons", "checker")),
    ("missing_nonlinearity", together(plan(activation="identity"), depth(5)), ("products", "screening")),
    ("norm_order", plan(norm="batch", dropout=0.5, widths=(48, 48)), ("letters", "products")),
    ("class_imbalance", with_data(bad.overlapping_minority), ("screening", "checker")),
    ("target_leak", with_data(bad.renamed_target), ("rings", "products", "counts")),
    ("split_duplicates", with_data(bad.copied_rows), ("letters", "products")),
    ("split_duplicates", plan(own_validation=bad.half_training_rows), ("checker", "seasons")),
    ("split_shift", plan(own_validation=bad.other_units), ("products", "letters")),
    ("split_shift", plan(own_validation=bad.one_region), ("seasons", "rings")),
    ("small_validation", plan(validation=0.02), ("counts", "letters")),
    ("no_signal", with_data(bad.rolled_target), ("products", "rings", "letters")),
    ("no_signal", with_data(bad.noise_inputs), ("pendulum", "checker")),
    ("unshuffled_rows", together(with_data(bad.sorted_by_target), plan(shuffle=False, validation=None)),
     ("letters", "rings", "pendulum")),
    ("too_few_steps", plan(batch=None, epochs=40), ("products", "rings", "letters")),
    ("too_few_steps", plan(batch=512, epochs=10), ("seasons", "pixels")),
    ("initial_loss", plan(output_std=12.0, epochs=15, rate=1e-3), ("letters", "products")),
    ("symmetric_weights", plan(init=Constant(0.05)), ("rings", "pendulum", "checker")),
    ("symmetric_weights", plan(init="zeros"), ("letters", "products")),
    ("init_gain", plan(init=Normal(std=1.5)), ("products", "letters")),
    ("init_gain", together(depth(6), plan(init=Normal(std=0.01), epochs=20)), ("rings", "pendulum")),
    ("init_gain", together(depth(5), plan(init=Uniform(1.5), epochs=25)), ("seasons", "checker")),
    ("cannot_overfit", plan(activation="step", widths=(5, 5)), ("rings", "products")),
    ("cannot_overfit", plan(activation="step", widths=(3,)), ("letters", "pendulum")),
    ("input_ignored", plan(divisor=1e5), ("rings", "seasons")),
    ("input_ignored", plan(bias=-25.0), ("products", "letters")),
    ("nonfinite_loss", sgd(60.0), ("pendulum", "products")),
    ("exploding_gradients", together(depth(8), plan(init=Normal(std=0.5), optimizer="sgd", rate=1e-3)),
     ("products", "letters", "rings")),
    ("vanishing_gradients", together(depth(5), plan(activation="sigmoid", optimizer="sgd", rate=0.1)),
     ("rings", "products", "letters")),
    ("vanishing_gradients", together(depth(8), plan(activation="tanh", init=Normal(std=0.03), optimizer="sgd",
     rate=0.05, epochs=20)), ("pendulum", "pixels")),
    ("dead_units", plan(bias=-4.0, epochs=20), ("rings", "products")),
    ("dead_units", plan(bias=-10.0), ("pendulum", "letters")),
    ("linear_regime", plan(bias=12.0, epochs=20, rate=1e-3), ("rings", "checker")),
    ("saturated_units", plan(activation="tanh", init=Normal(std=3.0)), ("products", "rings")),
    ("saturated_units", plan(activation="sigmoid", init=Normal(std=8.0), epochs=30), ("pendulum", "checker")),
    ("rate_too_high", plan(rate=0.2), ("products", "letters", "checker")),
    ("rate_too_high", plan(rate=1.0), ("rings", "seasons", "votes")),
    ("rate_too_high", sgd(1.5, 0.9), ("letters", "pendulum")),
    ("rate_too_high", plan(optimizer="rmsprop", rate=0.3), ("screening", "products")),
    ("rate_too_low", plan(rate=2e-5), ("products", "rings", "pixels")),
    ("rate_too_low", sgd(1e-3), ("letters", "checker", "seasons")),
    ("not_converged", plan(epochs=4, rate=5e-4, batch=16), ("rings", "products", "pendulum")),
    ("not_converged", plan(epochs=6, rate=1e-3), ("checker", "seasons")),
    ("stopped_too_early", plan(stopping=1, epochs=200, rate=5e-4, validation=0.08), ("products", "checker", "rings")),
    ("stopped_too_early", plan(stopping=2, epochs=200, rate=1e-3, validation=0.05), ("letters", "screening")),
    ("constant_prediction", plan(rate=5.0), ("products", "letters")),
    ("overfitting", plan(widths=(150, 150), epochs=200), ("counts", "votes", "letters")),
    ("overfitting", plan(widths=(64, 64), epochs=300, batch=16), ("plane",)),
    ("overconfident", plan(widths=(200, 100), epochs=80), ("votes", "letters")),
    ("underfitting", plan(widths=(1,)), ("rings", "letters", "seasons")),
    ("underfitting", plan(dropout=0.88), ("checker", "products")),
    ("underfitting", plan(widths=(2, 2)), ("products", "screening")),
    ("batch_norm_mismatch", plan(norm="batch", batch=2, epochs=5), ("rings", "products")),
    ("batch_norm_mismatch", plan(norm=md.BatchNorm(momentum=0.0005), epochs=15), ("letters", "pendulum")),
    ("always_clipped", plan(clip=1e-3, optimizer="sgd", rate=0.05), ("rings", "products")),
    ("frozen_parameters", plan(freeze=("0", "2"), widths=(7, 7)), ("products", "rings")),
    ("excessive_decay", plan(optimizer="adamw", decay=15.0), ("seasons", "letters", "checker")),
    ("excessive_decay", sgd(0.05, 0.9, decay=0.3), ("products", "rings")),
    ("adam_epsilon", plan(eps=0.3), ("products", "letters")),
    ("adam_epsilon", plan(eps=10.0), ("rings",)),
    ("label_errors", together(with_data(bad.flipped_labels), plan(stopping=8)), ("rings", "pixels")),
)  # fmt: skip
"The name of each fault, how it is planted, and in which data sets."

FRESH_SEVERAL: tuple[tuple[tuple[str, ...], Fault, tuple[str, ...]], ...] = (
    (("missing_nonlinearity", "rate_too_low"), plan(activation="identity", rate=1e-5), ("seasons", "rings")),
    (("unscaled_inputs", "rate_too_high"), together(with_data(bad.kelvin), plan(rate=0.3)), ("checker", "pendulum")),
    (("unscaled_inputs", "too_few_steps"), together(with_data(bad.grey_values), plan(batch=None, epochs=30)),
     ("letters", "pendulum")),
    (("loss_output_mismatch", "rate_too_low"), plan(last="softmax", rate=3e-5), ("rings", "pixels")),
    (("loss_output_mismatch", "rate_too_high"), plan(last="relu", rate=0.3), ("products", "letters")),
    (("loss_output_mismatch", "not_converged"), plan(last="sigmoid", epochs=4, rate=5e-4, batch=16),
     ("products", "letters")),
    (("unscaled_target", "rate_too_low"), together(with_data(bad.grams), sgd(1e-8)), ("seasons", "products")),
    (("unscaled_target", "loss_output_mismatch"), together(with_data(bad.dollars), plan(last="sigmoid")),
     ("pendulum", "products")),
    (("unscaled_target", "missing_nonlinearity"), together(with_data(bad.grams), plan(activation="identity")),
     ("seasons", "products")),
    (("unscaled_inputs", "unscaled_target"), together(with_data(bad.salaries), with_data(bad.dollars)),
     ("products", "seasons")),
    (("symmetric_weights", "rate_too_low"), plan(init=Constant(0.1), rate=2e-5), ("rings", "products")),
    (("symmetric_weights", "missing_nonlinearity"), plan(init=Constant(0.2), activation="identity"),
     ("checker", "seasons")),
    (("init_gain", "rate_too_high"), plan(init=Normal(std=1.5), rate=0.3), ("products", "letters")),
    (("init_gain", "too_few_steps"), plan(init=Normal(std=2.0), batch=None, epochs=30), ("seasons", "rings")),
    (("underfitting", "rate_too_low"), plan(widths=(1,), rate=3e-5), ("seasons", "letters")),
    (("underfitting", "unscaled_inputs"), together(plan(widths=(1,)), with_data(bad.kelvin)), ("rings", "seasons")),
    (("dead_units", "rate_too_low"), plan(bias=-8.0, rate=5e-5), ("rings", "pendulum")),
    (("saturated_units", "loss_output_mismatch"), plan(activation="tanh", init=Normal(std=4.0), last="softmax"),
     ("rings", "letters")),
    (("target_leak", "unscaled_inputs"), together(with_data(bad.salaries), with_data(bad.renamed_target)),
     ("products", "letters")),
    (("no_signal", "unscaled_inputs"), together(with_data(bad.grey_values), with_data(bad.rolled_target)),
     ("rings", "products")),
    (("target_leak", "missing_nonlinearity"), together(plan(activation="identity"), with_data(bad.renamed_target)),
     ("rings", "products")),
    (("split_duplicates", "rate_too_low"), together(plan(own_validation=bad.half_training_rows, rate=2e-5)),
     ("products", "rings")),
    (("split_shift", "missing_nonlinearity"), plan(own_validation=bad.other_units, activation="identity"),
     ("products", "rings")),
    (("unshuffled_rows", "loss_output_mismatch"), together(with_data(bad.sorted_by_target),
     plan(shuffle=False, validation=None, last="softmax")), ("rings", "letters")),
    (("unshuffled_rows", "missing_nonlinearity"), together(with_data(bad.sorted_by_target),
     plan(shuffle=False, validation=None, activation="identity")), ("rings", "checker")),
    (("excessive_decay", "rate_too_high"), plan(optimizer="adamw", decay=2.0, rate=0.3), ("products", "letters")),
    (("adam_epsilon", "loss_output_mismatch"), plan(eps=1.0, last="softmax"), ("rings", "letters")),
    (("frozen_parameters", "missing_nonlinearity"), plan(freeze=("0", "2"), widths=(6, 6), activation="identity"),
     ("products", "rings")),
    (("batch_norm_mismatch", "loss_output_mismatch"), plan(norm="batch", batch=2, epochs=5, last="softmax"),
     ("rings", "letters")),
    (("vanishing_gradients", "loss_output_mismatch"), together(depth(5), plan(activation="sigmoid", optimizer="sgd",
     rate=0.1, last="softmax")), ("rings", "letters")),
    (("always_clipped", "missing_nonlinearity"), plan(clip=1e-3, optimizer="sgd", rate=0.05, activation="identity"),
     ("rings", "products")),
    (("heavy_tails", "rate_too_low"), together(with_data(bad.crushed), plan(rate=2e-5)), ("rings", "products")),
    (("overfitting", "target_leak"), together(plan(widths=(150, 150), epochs=200), with_data(bad.renamed_target)),
     ("counts",)),
    (("unscaled_inputs", "loss_output_mismatch", "rate_too_low"), together(with_data(bad.grey_values),
     plan(last="softmax", rate=2e-5)), ("rings", "letters")),
    (("unscaled_inputs", "unscaled_target", "missing_nonlinearity"), together(with_data(bad.salaries),
     with_data(bad.grams), plan(activation="identity")), ("products", "seasons")),
    (("missing_nonlinearity", "loss_output_mismatch", "too_few_steps"),
     plan(activation="identity", last="relu", batch=None, epochs=30), ("seasons", "pendulum")),
)  # fmt: skip
"The same with several faults at once."

ESTIMATORS = {
    "letters": EstimatorPlan("letters", {"hidden_layer_sizes": (64,), "learning_rate_init": 3e-3, "max_iter": 60}),
    "products": EstimatorPlan("products", {"hidden_layer_sizes": (64, 64), "max_iter": 120}),
    "rings": EstimatorPlan("rings", {"hidden_layer_sizes": (32, 32), "learning_rate_init": 3e-3, "max_iter": 120}),
    "seasons": EstimatorPlan("seasons", {"hidden_layer_sizes": (48, 48), "learning_rate_init": 3e-3, "max_iter": 120}),
}


def params(**changes: object) -> Fault:
    return lambda p: p.having(**changes)  # type: ignore[attr-defined]


FRESH_ESTIMATOR_FAULTS: tuple[tuple[tuple[str, ...], Fault, tuple[str, ...]], ...] = (
    (("rate_too_low",), params(learning_rate_init=1e-5), ("products", "rings")),
    (("rate_too_high",), params(learning_rate_init=0.5), ("letters", "seasons")),
    (("not_converged",), params(max_iter=5), ("products", "rings")),
    (("missing_nonlinearity",), params(activation="identity"), ("seasons", "rings")),
    (("underfitting",), params(hidden_layer_sizes=(1,)), ("letters", "seasons")),
    (("unscaled_inputs",), with_data(bad.salaries), ("products", "letters")),
    (("unscaled_inputs",), with_data(bad.kelvin), ("rings", "seasons")),
    (("unscaled_target",), with_data(bad.dollars), ("products", "seasons")),
    (("stopped_too_early",), params(early_stopping=True, n_iter_no_change=1, learning_rate_init=3e-4,
     validation_fraction=0.05), ("rings", "products")),
    (("target_leak",), with_data(bad.renamed_target), ("letters", "products")),
    (("no_signal",), with_data(bad.rolled_target), ("rings", "seasons")),
    (("excessive_decay",), params(weight_decay=3000.0), ("letters", "seasons")),
    (("too_few_steps",), params(batch_size=1500, max_iter=20), ("letters", "products")),
    (("target_leak",), together(params(preset="auto"), with_data(bad.renamed_target)), ("products",)),
    (("no_signal",), together(params(preset="auto"), with_data(bad.rolled_target)), ("rings",)),
    (("missing_nonlinearity", "rate_too_low"), params(activation="identity", learning_rate_init=1e-5),
     ("products", "rings")),
    (("unscaled_inputs", "unscaled_target"), together(with_data(bad.salaries), with_data(bad.dollars)), ("products",)),
    (("underfitting", "rate_too_high"), params(hidden_layer_sizes=(1,), learning_rate_init=0.5), ("letters",)),
)  # fmt: skip
"Faults of estimators."


def fresh_sick_plans(seeds: int, first: int = 0) -> Iterator[Sick]:
    """Single faults on two tables each, estimators, and runs with several faults."""
    for seed in range(first, first + seeds):
        single = [((name,), plant, tables[:2]) for name, plant, tables in FRESH_FAULTS]
        for number, (names, plant, tables) in enumerate((*single, *FRESH_SEVERAL)):
            for place, data in enumerate(tables):
                twin = FRESH_BASE[data].with_seed(1500 + 10 * seed + (number + place) % 9)
                yield Sick(names, plant(twin), twin)
        for number, (names, plant, tables) in enumerate(FRESH_ESTIMATOR_FAULTS):
            for data in tables:
                own = ESTIMATORS[data].with_seed(1600 + 10 * seed + number % 9)
                yield Sick(names, plant(own), own)  # type: ignore[arg-type]
