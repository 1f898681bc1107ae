"""What to try next follows from the data and from how training went."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from madaline.data.roles import Role
from madaline.estimators.tabular.advice import MOST, RunFacts, advise
from madaline.report.findings import Score
from madaline.train.history import History

FACTS = RunFacts(n_train=5000, max_epochs=100, activation="mish", split="random")


def advice(
    *,
    roles=(),
    losses=((0.5, 0.5),),
    stopped="finished",
    best=None,
    linear=0.5,
    naive=0.0,
    boosting=0.5,
    score=0.8,
    first="mean",
    **facts,
):
    """The advice for a run like this."""
    history = History()
    for train, held in losses:
        history.add(loss=train, val_loss=held)
    history.stopped, history.best_epoch = stopped, best
    facts = replace(FACTS, roles=[Role(f"c{k}", role, "") for k, role in enumerate(roles)], **facts)
    values = {first: naive, "linear model": linear, "gradient boosting": boosting}
    others = {name: [Score("R2", value, value - 0.01, value + 0.01)] for name, value in values.items()}
    return advise(facts, history, [Score("R2", score, score - 0.1, min(score + 0.1, 1.0))], others)


def options(**run):
    """The options of the advice for a run like this, of which there is always as much as can be shown."""
    found = advice(**run)
    assert len(found) == MOST
    return [each.options for each in found]


def test_dates_call_for_a_test_on_the_latest_rows_unless_it_was_one():
    assert "--when c1" in options(roles=("number", "date"))
    assert "--when c1" not in options(roles=("number", "date"), split="time")


def test_a_problem_that_the_doctor_found_comes_first_and_the_columns_are_not_blamed():
    assert options(has_finding=True, score=0.0)[0] == "--heal"
    assert "--numeric COLUMN --categorical COLUMN" in options(score=0.0)
    assert "--numeric COLUMN --categorical COLUMN" not in options(has_finding=True, score=0.0)


def test_an_ensemble_is_proposed_once_with_the_best_reason():
    for run, reason in [({"linear": 0.9}, "linear model"), ({"boosting": 0.95}, "boosting"), ({}, "takes longer")]:
        found = [each for each in advice(**run) if each.options == "--preset best"]
        assert len(found) == 1
        assert reason in found[0].text
    assert "--preset best" not in options(given=("--preset",))


@pytest.mark.parametrize(
    ("run", "remedy"),
    [
        ({"linear": 0.9}, "--preset best"),
        ({"boosting": 0.95}, "--preset best"),
        ({"linear": 0.9, "boosting": 0.95}, "--preset best"),
        ({"linear": 0.9, "boosting": 0.9}, "--preset best"),
        ({"naive": 0.75}, "--numeric COLUMN --categorical COLUMN"),
        ({"losses": [(0.1, 0.5)]}, "--preset best"),
        ({"stopped": "time"}, "--resume RUN"),
        ({"best": 99, "losses": [(0.5, 0.5)] * 100}, "--epochs 200"),
        ({"roles": ("number",) * 6}, "--ignore COLUMN"),
        ({"score": 0.9999}, "--ignore COLUMN"),
        ({"class_counts": np.array([4800, 200])}, "--class-weight balanced"),
        ({}, "--seed 1"),
    ],
    ids=[
        "linear is better",
        "boosting is better",
        "both are better, boosting most",
        "both are better",
        "nothing learned",
        "overfit",
        "out of time",
        "still falling",
        "many columns",
        "too good",
        "a rare class",
        "nothing",
    ],
)
def test_each_finding_has_its_remedy(run, remedy):
    assert remedy in options(**run)


def test_the_losses_that_are_quoted_are_those_of_the_epoch_that_is_kept():
    """Not those of the last one, which the model does not have."""
    losses = [(0.5, 0.6), (0.3, 0.5), (0.1, 0.9)]
    (overfits,) = (each for each in advice(losses=losses, best=2) if "overfits" in each.text)
    assert "(0.5)" in overfits.text
    assert "(0.3)" in overfits.text
    assert not any("overfits" in each.text for each in advice(losses=losses, best=1))
    (last,) = (each for each in advice(losses=losses, best=None) if "overfits" in each.text)
    assert "(0.9)" in last.text
    assert "(0.1)" in last.text


@pytest.mark.parametrize(
    ("run", "given", "remedy"),
    [
        ({"losses": [(0.1, 0.5)]}, "--preset", "--preset best"),
        ({"linear": 0.9}, "--preset", "--preset best"),
        ({"class_counts": np.array([4800, 200])}, "--class-weight", "--class-weight balanced"),
        ({"best": 99, "losses": [(0.5, 0.5)] * 100}, "--epochs", "--epochs 200"),
        ({"roles": ("number", "date")}, "--when", "--when c1"),
        ({}, "--seed", "--seed 1"),
    ],
    ids=["overfits", "linear is better", "class weight", "epochs", "when", "seed"],
)
def test_an_option_that_was_given_is_not_advised(run, given, remedy):
    assert remedy in options(**run)
    found = [each.options for each in advice(**run, given=[given])]
    assert remedy not in found
    assert not any(given in each.split() for each in found)


def test_whoever_has_tried_everything_is_left_alone():
    every = ["--seed", "--ignore", "--activation", "--numeric", "--categorical", "--preset"]
    assert advice(given=every) == []
