"""What to try next follows from the data and from how training went."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from madaline.data.roles import Role
from madaline.estimators.tabular.advice import HOW_MANY, advise
from madaline.estimators.tabular.scores import Score
from madaline.train.history import History


def told(
    *,
    roles=(),
    rows=5000,
    losses=((0.5, 0.5),),
    stopped="finished",
    best=None,
    way="random",
    linear=0.5,
    naive=0.0,
    boosting=0.5,
):
    """The options of the advice for a run like this."""
    history = History()
    for train, held in losses:
        history.add(loss=train, val_loss=held)
    history.stopped, history.best_epoch = stopped, best
    prepared = SimpleNamespace(
        n_train=rows,
        n_classes=0,
        train=SimpleNamespace(y=np.zeros(rows)),
        recipe=SimpleNamespace(epochs=100, choices={"activation": "mish", "learning_rate": 0.004}),
        table=SimpleNamespace(roles=lambda: [Role(f"c{k}", role, "") for k, role in enumerate(roles)]),
    )
    values = {"mean": naive, "linear model": linear, "gradient boosting": boosting}
    others = {name: [Score("R2", value, value - 0.01, value + 0.01)] for name, value in values.items()}
    found = advise(prepared, history, [Score("R2", 0.8, 0.7, 0.9)], others, way=way)
    assert len(found) == HOW_MANY
    return [advice.options for advice in found]


def test_dates_call_for_a_test_on_the_latest_rows_unless_it_was_one():
    assert "--when c1" in told(roles=("number", "date"))
    assert "--when c1" not in told(roles=("number", "date"), way="time")


def test_a_best_epoch_that_came_early_calls_for_smaller_steps():
    losses = [(0.5, 0.5)] * 80
    assert "--learning-rate 0.001" in told(losses=losses, stopped="early stopping", best=10)
    assert "--learning-rate 0.001" not in told(losses=losses, stopped="early stopping", best=60)


@pytest.mark.parametrize(
    ("run", "options"),
    [
        ({"linear": 0.9}, "--hidden 32 --dropout 0.3"),
        ({"boosting": 0.95}, "--hidden 512,512,512 --epochs 400 --patience 100"),
        ({"linear": 0.9, "boosting": 0.95}, "--hidden 512,512,512 --epochs 400 --patience 100"),
        ({"linear": 0.9, "boosting": 0.9}, "--hidden 32 --dropout 0.3"),
        ({"naive": 0.75}, "--numeric COLUMN --categorical COLUMN"),
        ({"losses": [(0.1, 0.5)]}, "--dropout 0.3 --weight-decay 0.1"),
        ({"stopped": "time"}, "--resume RUN"),
        ({"best": 99}, "--epochs 200"),
        ({"roles": ("number",) * 6}, "--ignore COLUMN"),
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
        "nothing",
    ],
)
def test_each_finding_has_its_remedy(run, options):
    assert options in told(**run)
