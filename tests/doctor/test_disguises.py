"""Faults in disguise: the value is somewhere else than usual, or the table looks as if it were allowed."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.doctor import judgement
from madaline.doctor.clock import Clock
from madaline.doctor.diagnose import record_of
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.intercept import planned
from madaline.doctor.sickness import SICKNESSES, Symptom, all_sicknesses
from madaline.doctor.trials import Candidate, Trial
from madaline.nn.initializers import Normal

all_sicknesses()


def exam_of(X, y, loss="mse", n_out=1, **arguments):
    trainer = md.Trainer(md.mlp(16, n_out), loss=loss, optimizer=md.Adam(3e-3), threads=1)
    return planned(trainer, X, y, **{"epochs": 20, "batch_size": 32, "validation": 0.25} | arguments).exam(Clock(10))


def test_the_epsilon_of_an_estimator_is_that_of_its_adam(ring):
    clf = md.MLPClassifier(32, epsilon=1.0, learning_rate_init=3e-3, max_iter=60, random_state=0, callbacks=md.Doctor())
    found = md.diagnose(clf.fit(*ring))
    assert found.names[0] == "adam_epsilon"
    assert found["adam_epsilon"].remedies[0].parameters == {"epsilon": 1e-8}


@pytest.mark.parametrize(("values", "is_found"), [((0.0, 1.0), False), ((-0.5, 2.0), False), ((0.0, 5e8), True)])
def test_a_column_of_two_values_is_a_switch_unless_they_are_far_from_0_and_1(ring, values, is_found):
    X, y = ring
    switch = np.where(np.random.default_rng(0).random(len(X)) < 0.4, *values)
    exam = exam_of(np.column_stack([X, switch]).astype("f"), y, "cross_entropy", 2)
    assert (SICKNESSES["unscaled_inputs"].symptom(exam) is not None) == is_found


def grid():
    """Each row of a table of 1,024 possible rows once, and its class."""
    X = np.stack(np.meshgrid(*[np.arange(4.0)] * 5), axis=-1).reshape(-1, 5)[:, ::-1]
    X = X[np.random.default_rng(0).permutation(len(X))]
    return X.astype("f"), (X.sum(axis=1) > 7).astype(int)


@pytest.mark.parametrize("copies", [0, 100])
def test_copies_of_rows_are_found_in_a_table_of_few_possible_rows(copies):
    X, y = grid()
    held = np.r_[np.arange(copies), np.arange(700, 800)]
    exam = exam_of(X[:700], y[:700], "cross_entropy", 2, validation=(X[held], y[held]))
    assert (SICKNESSES["split_duplicates"].symptom(exam) is not None) == bool(copies)


def test_rows_that_repeat_by_chance_are_no_copies():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(800, 4)).astype("f")
    exam = exam_of(X, (X.sum(axis=1) > 6).astype(int), "cross_entropy", 2)
    assert np.mean(exam.problem.repeated) > 0.5
    assert SICKNESSES["split_duplicates"].symptom(exam) is None


def test_repeated_rows_with_a_number_as_target_are_no_chance():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 5, size=(500, 4)).astype("f")
    y = (X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=500)).astype("f")
    rows = rng.permutation(np.r_[np.arange(500), rng.integers(0, 500, 250)])
    assert SICKNESSES["split_duplicates"].symptom(exam_of(X, y)) is None
    assert SICKNESSES["split_duplicates"].symptom(exam_of(X[rows], y[rows])) is not None


def test_a_signal_that_few_held_out_rows_hide_is_a_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4)).astype("f")
    y = (X[:, 0] + 1.5 * rng.normal(size=160) > 0).astype(int)
    signal = [SICKNESSES["no_signal"].symptom(exam_of(X[o], y[o], "cross_entropy", 2)) for o in _orders(160)]
    assert signal == [None] * len(signal)


def test_targets_that_belong_to_other_rows_are_found_on_few_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 4)).astype("f"), rng.integers(0, 2, 160)
    assert SICKNESSES["no_signal"].symptom(exam_of(X, y, "cross_entropy", 2)) is not None


def _orders(n):
    """Several orders of the rows, of which the last ones are held out."""
    return [np.random.default_rng(seed).permutation(n) for seed in range(6)]


def test_a_target_in_large_units_with_a_rate_that_was_lowered_for_it(product):
    X, y = product
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.SGD(1e-5), threads=1)
    trainer.fit(X, 90 * y + 300, epochs=60, batch_size=32, validation=0.25, doctor=True)
    assert md.diagnose(trainer).names[0] == "unscaled_target"


def test_columns_are_shown_in_order_with_the_number_of_others(product):
    X, y = product
    exam = exam_of(np.column_stack([X, X]) * 1000, y)
    assert SICKNESSES["unscaled_inputs"].symptom(exam).where.endswith("and 3 others")


def test_rows_that_are_nearly_copies_are_found(product):
    X, y = product
    rng = np.random.default_rng(0)
    rows = rng.permutation(np.repeat(np.arange(len(X)), 3))
    nearly = X[rows] * (1 + 1e-3 * rng.normal(size=(len(rows), 3)))
    symptom = SICKNESSES["split_duplicates"].symptom(exam_of(nearly.astype("f"), y[rows]))
    assert symptom.evidence["fraction of validation rows that are nearly training rows"] > 0.8
    assert SICKNESSES["split_duplicates"].symptom(exam_of(X, y)) is None


def test_a_weak_signal_is_a_signal():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(800, 5)).astype("f")
        y = (X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 2.5 * rng.normal(size=800)).astype("f")
        found.append(SICKNESSES["no_signal"].symptom(exam_of(X, y, epochs=60)))
    assert found == [None] * 6


@pytest.mark.parametrize(
    ("change", "name"),
    [(lambda X, rng: X * 1000, "unscaled_inputs"), (lambda X, rng: np.where(rng.random(X.shape) < 0.02, -9999, X), "")],
)
def test_a_few_extreme_values_do_not_make_columns_of_the_wrong_size(product, change, name):
    X, y = product
    exam = exam_of(change(X, np.random.default_rng(0)).astype("f"), y)
    found = {each for each in ("unscaled_inputs", "heavy_tails") if SICKNESSES[each].symptom(exam) is not None}
    assert found == {name or "heavy_tails"}


def test_units_that_get_no_gradient_at_all_are_exchanged(ring):
    sick = md.Trainer(md.mlp(8, 2, activation="step"), loss="cross_entropy", optimizer=md.Adam(3e-3), threads=1)
    healing = md.heal(sick, *ring, epochs=60, batch_size=32, max_seconds=5)
    assert healing.thing.evaluate(*ring)["loss"] < 0.3


def test_extreme_values_as_real_records_have_them_are_no_problem():
    rng = np.random.default_rng(0)
    y = rng.normal(size=600).astype("f")
    kinds = {
        "money": rng.lognormal(3, 1.6, 600),
        "nearly always the same": np.where(rng.random(600) < 0.7, 3.0, rng.normal(size=600)),
        "gaps": np.where(np.arange(600) % 100 == 7, 99_999.0, rng.normal(size=600)),
    }
    found = {}
    for name, x in kinds.items():
        X = np.column_stack([(x - x.mean()) / x.std(), rng.normal(size=600)]).astype("f")
        symptom = SICKNESSES["heavy_tails"].symptom(exam_of(X, y))
        found[name] = "" if symptom is None else symptom.severity or "alarm"
    assert found == {"money": "info", "nearly always the same": "", "gaps": "alarm"}


def test_bounding_amounts_of_money_is_reported_as_information():
    rng = np.random.default_rng(1)
    money = rng.lognormal(0, 2.2, (300, 2))
    X = ((money - money.mean(axis=0)) / money.std(axis=0)).astype("f")
    y = (np.log(money) @ [1.0, 0.5]).astype("f")
    trainer = md.Trainer(md.mlp(8, 1), optimizer=md.Adam(1e-2), schedule="cosine", threads=1)
    trainer.fit(X, y, epochs=120, batch_size=32, validation=0.3, doctor=True, progress=False)
    found = md.diagnose(trainer, max_seconds=3)
    assert not found.alarms
    assert found["heavy_tails"].severity == "info"
    assert found["heavy_tails"].gain > 0.2


def test_black_and_white_fields_are_a_signal():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.5, 1.5, size=(400, 2))
    y = ((np.floor(2 * X[:, 0]) + np.floor(2 * X[:, 1])) % 2).astype(int)
    found = [
        SICKNESSES["no_signal"].symptom(exam_of(X.astype("f"), labels, "cross_entropy", 2, epochs=2))
        for labels in (y, rng.permutation(y))
    ]
    assert found[0] is None
    assert found[1] is not None


@pytest.mark.parametrize("first", ["not_converged", "too_few_steps"])
def test_the_second_word_for_a_short_training_is_part_of_the_first(first):
    second = {"not_converged": "too_few_steps", "too_few_steps": "not_converged"}[first]
    trials = [
        Trial(Candidate(SICKNESSES[name], Symptom({}), ()), Remedy("Train longer."), None, gain=0.5, sureness=9.0)
        for name in ("unscaled_inputs", first, second)
    ]
    exam = Exam(None, None, clock=Clock(1))
    found = judgement._folded(exam, judgement.Judgement(trials=trials), {"unscaled_inputs", first, second})
    assert [(each.name, each.explained_by) for each in found] == [
        ("unscaled_inputs", ""),
        (first, ""),
        (second, "unscaled_inputs"),
    ]


@pytest.mark.parametrize(("patience", "helps"), [(1, True), (6, True), (12, False)])
def test_a_usual_patience_needs_more_harm_to_be_reported(product, patience, helps):
    exam = exam_of(*product, early_stopping=md.EarlyStopping("val_loss", patience=patience))
    exam.run_history, exam.stopped_early = None, True
    sickness = SICKNESSES["stopped_too_early"]
    symptom = sickness.symptom(exam)
    candidate = Candidate(sickness, symptom, (), sickness.min_gain * symptom.min_gain_factor)
    assert Trial(candidate, Remedy("Wait longer."), None, gain=0.1, sureness=9.0, part=0.5).helps == helps


def test_rows_that_were_rounded_on_the_way_are_copies_in_a_table_of_whole_numbers():
    """In such a table rows are near each other anyway; a copy is nearer than rounding explains."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 16, size=(600, 6)).astype("f")
    y = (X[:, 0] + X[:, 1] > 15).astype(int)
    new = rng.integers(0, 16, size=(80, 6)).astype("f")
    validation = np.r_[X[:80] + 1e-5, new], np.r_[y[:80], (new[:, 0] + new[:, 1] > 15).astype(int)]
    exam = exam_of(X, y, "cross_entropy", 2, validation=validation)
    assert not exam.problem.repeated.any()
    symptom = SICKNESSES["split_duplicates"].symptom(exam)
    assert symptom.evidence["fraction of validation rows in the training set"] == pytest.approx(0.5)
    assert symptom.severity is None  # an error, not information
    assert SICKNESSES["split_duplicates"].symptom(exam_of(X, y, "cross_entropy", 2)) is None


@pytest.mark.parametrize(("rate", "is_low"), [(3e-3, False), (1e-5, True)])
def test_a_usual_rate_is_not_too_low_for_weights_that_are_too_large(product, rate, is_low):
    """Its steps are small relative to the weights because of the weights."""
    net = md.mlp(32, 1, activation="tanh", init=Normal(std=7.0))
    trainer = md.Trainer(net, optimizer=md.Adam(rate), threads=1)
    exam = planned(trainer, *product, epochs=3, batch_size=32, validation=0.25).exam(Clock(10))
    assert float(np.nanmedian(exam.probes["update_ratio"])) < 5e-4
    assert (SICKNESSES["rate_too_low"].symptom(exam) is not None) == is_low


@pytest.mark.parametrize("is_learned", [True, False])
def test_a_net_that_learned_nothing_knows_no_rows_by_heart(is_learned):
    """Its losses are huge everywhere, and still larger on new rows, which are further away."""
    rng = np.random.default_rng(4)
    X, new = rng.normal(size=(200, 8)).astype("f"), 3 * rng.normal(size=(180, 8)).astype("f")
    y, new_y = rng.normal(size=200).astype("f"), rng.normal(size=180).astype("f")
    net = md.mlp(128, 1, init="auto" if is_learned else Normal(std=5.0))
    trainer = md.Trainer(net, optimizer=md.Adam(3e-3 if is_learned else 1e-6), threads=1)
    validation = np.r_[X[:20], new], np.r_[y[:20], new_y]
    trainer.fit(X, y, doctor=True, epochs=100, batch_size=32, validation=validation, progress=False)
    symptom = SICKNESSES["split_duplicates"].symptom(record_of(trainer).exam(Clock(10)))
    assert (symptom.severity is None) == is_learned


@pytest.mark.parametrize(
    ("name", "symptom", "helps"),
    [
        ("not_converged", Symptom({}, confidence=0.7), False),
        ("not_converged", Symptom({}, confidence=0.7, min_gain_factor=0.5), True),  # a value that no sound run has
        ("overfitting", Symptom({}, confidence=0.8), True),  # the curve shows it
        ("unscaled_inputs", Symptom({}, confidence=0.7), True),
    ],
)
def test_the_best_of_many_lengths_and_rates_must_help_more_surely(name, symptom, helps):
    candidate = Candidate(SICKNESSES[name], symptom, (), 0.2)
    assert Trial(candidate, Remedy("Change it."), None, gain=0.3, sureness=2.5).helps == helps
    assert Trial(candidate, Remedy("Change it."), None, gain=0.3, sureness=3.5).helps


@pytest.mark.parametrize(("name", "helps"), [("too_few_steps", False), ("not_converged", True)])
def test_few_steps_on_few_rows_are_no_fault_if_more_help_a_little(name, helps):
    sickness = SICKNESSES[name]
    symptom = Symptom({}, min_gain_factor=0.3)
    candidate = Candidate(sickness, symptom, (), sickness.min_gain * symptom.min_gain_factor)
    assert Trial(candidate, Remedy("More steps."), None, gain=0.05, sureness=9.0, part=0.4).helps == helps


def test_a_few_extreme_rows_do_not_make_shared_rows_look_known_by_heart():
    """The net fails on them, and they are not among the shared rows."""
    rng = np.random.default_rng(5)
    X = np.r_[rng.normal(size=(330, 2)), [[30.0, 0.0], [-30.0, 0.0]] * 6].astype("f")
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=342).astype("f")
    trainer = md.Trainer(md.mlp(32, 1), optimizer=md.Adam(3e-3), threads=1)
    rows = np.r_[:30, 200:342]
    trainer.fit(X[:200], y[:200], doctor=True, epochs=60, batch_size=32, validation=(X[rows], y[rows]), progress=False)
    symptom = SICKNESSES["split_duplicates"].symptom(record_of(trainer).exam(Clock(10)))
    assert symptom.severity == "info"
