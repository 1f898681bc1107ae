"""Faults in the style of the field's benchmarks of real programs: what people ask about, written as small runs.

Half of those programs have two or more faults at once. Every case has its names and the changes that plant them in a
sound plan. The two halves of the clinic use them on different tables; of the cases with one fault, each half has every
second one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from clinic_data import Table
from clinic_runs import Plan
from sick_plans import Sick, shuffled_labels, sorted_rows, with_data

from madaline.nn.initializers import Constant, Normal


@dataclass(frozen=True)
class Case:
    """What people did, by the names of the faults, and on which data."""

    names: tuple[str, ...]
    tables: tuple[str, ...]
    changes: tuple[object, ...]


def pixels(table: Table, rng: np.random.Generator) -> Table:
    """Values of 0 to 255 instead of 0 to 1."""
    low, high = table.X.min(axis=0), table.X.max(axis=0)
    span = np.where(high > low, high - low, 1)
    return replace(
        table, X=(255 * (table.X - low) / span).astype("f"), X_test=(255 * (table.X_test - low) / span).astype("f")
    )


def years(table: Table, rng: np.random.Generator) -> Table:
    """A column such as a year: far from 0 and of little spread."""
    X, X_test = table.X.copy(), table.X_test.copy()
    for part in (X, X_test):
        part[:, 0] = 2000 + 8 * part[:, 0]
        part[:, 1] = 4e4 + 2e4 * part[:, 1]
    return replace(table, X=X, X_test=X_test)


def prices(table: Table, rng: np.random.Generator) -> Table:
    """A target such as a price."""
    return replace(table, y=(table.y * 8e4 + 2e5).astype("f"), y_test=(table.y_test * 8e4 + 2e5).astype("f"))


def percents(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, y=(table.y * 15 + 50).astype("f"), y_test=(table.y_test * 15 + 50).astype("f"))


def wrong_labels(table: Table, rng: np.random.Generator) -> Table:
    """A tenth of the labels are wrong."""
    y = table.y.copy()
    rows = rng.choice(len(y), len(y) // 10, replace=False)
    y[rows] = (y[rows] + 1) % (int(y.max()) + 1)
    return replace(table, y=y)


def other_scaling(table: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A validation set that was scaled differently from the training set."""
    return (2.5 * table.X_test[:160] + 1.0).astype("f"), table.y_test[:160]


def plan(**changes: object) -> object:
    return lambda p: replace(p, **changes)  # type: ignore[arg-type]


REGRESSION = ("waves", "friedman", "friedman2", "steps")
CLASSES = ("circles", "digits", "quantiles", "trio")
BINARY = ("moons", "hastie", "spirals", "mixed")
CASES = (
    # one fault
    Case(("loss_output_mismatch",), BINARY, (plan(last="softmax"),)),  # a softmax over one output is always 1
    Case(("loss_output_mismatch",), CLASSES, (plan(last="sigmoid"),)),
    Case(("loss_output_mismatch",), REGRESSION, (plan(last="softmax"),)),
    Case(("unscaled_inputs",), CLASSES, (with_data(pixels),)),
    Case(("unscaled_inputs",), REGRESSION, (with_data(years),)),
    Case(("unscaled_target",), REGRESSION, (with_data(prices),)),
    Case(("unscaled_target",), REGRESSION, (with_data(percents),)),
    Case(("rate_too_high",), CLASSES, (plan(optimizer="sgd", rate=4.0, momentum=0.9),)),
    Case(("rate_too_high",), BINARY, (plan(rate=1.0),)),
    Case(("rate_too_low",), BINARY, (plan(optimizer="sgd", rate=1e-3, epochs=20),)),
    Case(("rate_too_low",), REGRESSION, (plan(rate=2e-5),)),
    Case(("not_converged",), CLASSES, (plan(epochs=2, rate=1e-3, batch=16),)),
    Case(("too_few_steps",), BINARY, (plan(batch=None, epochs=30),)),
    Case(("vanishing_gradients",), CLASSES, (plan(activation="sigmoid", widths=(24,) * 7, optimizer="sgd", rate=0.1),)),
    Case(("symmetric_weights",), CLASSES, (plan(init=Constant(0.5)),)),
    Case(("underfitting",), REGRESSION, (plan(widths=(2,)),)),
    Case(("underfitting",), CLASSES, (plan(dropout=0.85),)),
    Case(("missing_nonlinearity",), BINARY, (plan(activation="identity", widths=(64, 64)),)),
    Case(("no_signal",), CLASSES, (with_data(shuffled_labels),)),
    Case(("unshuffled_rows",), BINARY, (with_data(sorted_rows), plan(shuffle=False, validation=None))),
    Case(("split_shift",), REGRESSION, (plan(own_validation=other_scaling),)),
    Case(("excessive_decay",), REGRESSION, (plan(optimizer="adamw", decay=20.0),)),
    Case(("adam_epsilon",), CLASSES, (plan(eps=0.1, rate=1e-3, epochs=20),)),
    Case(("batch_norm_mismatch",), CLASSES, (plan(norm="batch", batch=2, epochs=6),)),
    Case(("label_errors",), ("digits", "trio", "quantiles", "blobs"), (with_data(wrong_labels), plan(stopping=5))),
    # two or more faults, as half of real programs have
    Case(("missing_nonlinearity", "rate_too_low"), REGRESSION, (plan(activation="identity", rate=3e-5),)),
    Case(("loss_output_mismatch", "too_few_steps"), CLASSES, (plan(last="softmax", batch=None, epochs=30),)),
    Case(("unscaled_inputs", "loss_output_mismatch"), CLASSES, (with_data(pixels), plan(last="softmax"))),
    Case(("unscaled_inputs", "unscaled_target"), REGRESSION, (with_data(years), with_data(prices))),
    Case(("loss_output_mismatch", "rate_too_high"), BINARY, (plan(last="relu", rate=0.5),)),
    Case(("unscaled_target", "loss_output_mismatch"), REGRESSION, (with_data(percents), plan(last="sigmoid"))),
    Case(("not_converged", "unscaled_inputs"), CLASSES, (with_data(pixels), plan(epochs=3, rate=1e-3, batch=16))),
    Case(("underfitting", "rate_too_low"), REGRESSION, (plan(widths=(2,), rate=2e-5),)),
    Case(("init_gain", "rate_too_high"), CLASSES, (plan(init=Normal(std=2.0), rate=0.5),)),
    Case(("missing_nonlinearity", "unscaled_inputs"), REGRESSION, (plan(activation="identity"), with_data(years))),
    Case(("symmetric_weights", "rate_too_low"), BINARY, (plan(init=Constant(0.2), rate=3e-5),)),
    Case(("loss_output_mismatch", "missing_nonlinearity"), CLASSES, (plan(last="softmax", activation="identity"),)),
    Case(("excessive_decay", "underfitting"), REGRESSION, (plan(optimizer="adamw", decay=20.0, widths=(2,)),)),
    Case(
        ("unscaled_inputs", "missing_nonlinearity", "rate_too_low"),
        BINARY,
        (with_data(pixels), plan(activation="identity", rate=1e-4)),
    ),
    Case(("unscaled_target", "rate_too_low"), REGRESSION, (with_data(percents), plan(optimizer="sgd", rate=1e-7))),
    Case(
        ("unshuffled_rows", "rate_too_high"),
        CLASSES,
        (with_data(sorted_rows), plan(shuffle=False, validation=None, rate=0.2)),
    ),
    Case(("adam_epsilon", "missing_nonlinearity"), CLASSES, (plan(eps=1.0), plan(activation="identity"))),
    Case(("frozen_parameters", "rate_too_low"), REGRESSION, (plan(freeze=("0", "2"), widths=(8, 8), rate=3e-5),)),
    Case(
        ("loss_output_mismatch", "unscaled_inputs", "too_few_steps"),
        CLASSES,
        (plan(last="sigmoid", batch=None, epochs=30), with_data(pixels)),
    ),
)


def real_pairs(bases: dict[str, Plan], seed: int, *, odd: bool) -> Iterator[Sick]:
    """The cases of a half on the tables that have a base plan."""
    for number, case in enumerate(CASES):
        if len(case.names) == 1 and number % 2 != odd:
            continue
        tables = [name for name in case.tables if name in bases]
        for data in tables[:1] if len(case.names) == 1 else tables:
            twin = bases[data].with_seed(seed + number % 9)
            faulty = twin
            for change in case.changes:
                faulty = change(faulty)  # type: ignore[operator]
            yield Sick(case.names, faulty, twin)
