"""Remedies of the doctor as settings of the playground."""

from __future__ import annotations

from collections import defaultdict

import pytest

from madaline.doctor.clock import Clock
from madaline.doctor.finding import Finding, Remedy
from madaline.doctor.record import Record
from madaline.doctor.sickness import Symptom, all_sicknesses
from madaline.optim.adam import Adam
from madaline.web.play.exercise import Exercise
from madaline.web.play.problem import make_problem
from madaline.web.play.remedies import changes, in_python, plain_finding
from madaline.web.play.settings import Settings
from madaline.web.play.tables import TableStore

NO_BUTTON = {
    "adam_epsilon": "epsilon has no setting, and always has its default",
    "frozen_parameters": "the playground freezes nothing",
    "initial_loss": "the initial weights of one layer have no setting",
    "loss_output_mismatch": "the playground puts no activation after the last layer",
    "no_signal": "an advice about the data",
    "nonfinite_data": "tables are encoded without gaps",
    "norm_order": "the order of layers is fixed",
    "overconfident": "an advice about predictions",
    "search_edge": "the playground does not search",
    "seed_noise": "an advice about comparisons",
    "split_duplicates": "an advice about the data",
    "split_shift": "rows are always split at random",
    "unscaled_target": "targets of tables are scaled; curves have none that is too large",
    "unshuffled_rows": "rows are always shuffled",
}
"Findings without a button, and why."
SICK = Settings(
    data="table",
    layers="2sigmoid",
    optimizer="sgd",
    rate=1.0,
    batch=128,
    epochs=2,
    patience=2,
    norm="batch",
    dropout=0.6,
    init="zeros",
    regularizer="l2",
    clip=0.5,
    flip=0.2,
    test=0.2,
)
"Settings that no remedy would leave as they are."


@pytest.fixture(scope="module")
def exam():
    settings = Settings(n=60, epochs=2, patience=2)
    exercise = Exercise(settings, make_problem(settings, TableStore()))
    trainer, problem = exercise.trainer(), exercise.problem
    held = problem.X_test, problem.y_test
    trainer.fit(problem.X, problem.y, validation=held, progress=False, **exercise.fit_options())
    return Record.of_session(trainer.run, start=None, model=trainer.model).exam(Clock(5.0))


@pytest.mark.parametrize("sickness", all_sicknesses(), ids=lambda each: each.name)
def test_every_finding_has_a_button_or_a_reason(sickness, exam):
    evidence = defaultdict(lambda: 2.0)
    remedies = sickness.remedies(exam, Symptom(evidence, columns=()))
    if sickness.name == "target_leak":
        remedies = [Remedy("Leave it out.", options="--ignore 'a,, b'")]
    finding = Finding(sickness.name, sickness.title, "warning", 0.9, "here", {}, sickness.why, remedies=remedies)
    found = plain_finding(finding, SICK, ("a, b", "c"))["remedies"]
    assert any(each["changes"] for each in found) == (sickness.name not in NO_BUTTON)
    if sickness.name not in NO_BUTTON:
        SICK.changed(**found[0]["changes"])


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"learning_rate_init": 0.003}, {"rate": 0.003}),
        ({"optimizer": Adam(0.02)}, {"rate": 0.02}),
        ({"activation": "relu", "init": None}, {"layers": "6relu,4relu"}),
        ({"max_iter": 900, "batch_size": 8}, {"epochs": 900, "batch": 8}),
        ({"hidden_layer_sizes": (32, 32)}, {"layers": "32tanh,32tanh"}),
        ({"data": "auto"}, {"standardize": True}),
        ({"class_weight": "balanced"}, {"balance": True}),
        ({"clip_norm": 1.0}, {"clip": 1.0}),
        ({"early_stopping": True, "n_iter_no_change": 10}, {"patience": 10}),
        ({"n_iter_no_change": 30, "tol": 0.0}, {"patience": 30}),
        ({"dtype": "float64"}, {"precision": "float64"}),
        ({"epsilon": 1e-8}, {}),
        ({"learning_rate_init": 0.003, "epsilon": 1e-8}, {}),
        ({"hidden_layer_sizes": (512, 512)}, {}),
    ],
)
def test_a_remedy_becomes_settings_or_has_no_button(parameters, expected):
    assert changes(Remedy("Do it.", parameters=parameters), Settings()) == expected


@pytest.mark.parametrize(
    ("finding", "given", "expected"),
    [
        ("target_leak", {"data": "table"}, {"columns": "size,price %25"}),
        ("target_leak", {}, {}),
        ("small_validation", {"test": 0.1}, {"test": 0.3}),
        ("small_validation", {"test": 0.3}, {"test": 0.5}),
        ("small_validation", {"test": 0.6}, {}),
        ("label_errors", {"flip": 0.2}, {"flip": 0.0}),
        ("label_errors", {}, {}),
        ("heavy_tails", {"data": "table"}, {"scaling": "robust"}),
        ("heavy_tails", {}, {}),
        ("excessive_decay", {"regularizer": "l1"}, {"regularizer": "none"}),
        ("unscaled_target", {}, {}),
    ],
)
def test_some_findings_have_settings_of_their_own(finding, given, expected):
    remedy = Remedy("Do it.", parameters={"data": "auto"}, options="--ignore 'paid,, net'")
    assert changes(remedy, Settings(**given), finding, ("size", "paid, net", "price %")) == expected


def test_what_the_playground_cannot_set_is_shown_in_python():
    assert in_python(Remedy("Do it.", python="Trainer(..., freeze=())")) == "Trainer(..., freeze=())"
    remedy = Remedy("Do it.", parameters={"hidden_layer_sizes": (512, 512)})
    assert in_python(remedy) == "hidden_layer_sizes=(512, 512) (argument of an estimator)"
    finding = Finding("underfitting", "Title.", "warning", 0.9, "", {}, "Why.", remedies=[remedy])
    (shown,) = plain_finding(finding, Settings())["remedies"]
    assert shown["changes"] == {}
    assert "hidden_layer_sizes" in shown["python"]
