"""How many members an ensemble has."""

from __future__ import annotations

import pytest

from madaline.estimators.ensemble.plan import FEWEST_EPOCHS, Plan


@pytest.mark.parametrize("n_rows", [4, 300, 3_000, 30_000, 300_000])
def test_a_plan_never_needs_more_than_the_time_allows(n_rows):
    full = Plan.of(n_rows, 100)
    assert full.within(1e9) == full
    for epochs in (10, 50, 100, 200, 400, 900, 2_000):
        plan = full.within(epochs)
        total = plan.folds * plan.repeats * plan.epochs
        assert total <= epochs or (plan.epochs == FEWEST_EPOCHS and plan.repeats == 1)
        assert plan.folds <= full.folds
        assert plan.repeats <= full.repeats
        assert plan.epochs <= full.epochs


def test_folds_are_given_up_before_epochs():
    assert Plan(8, 2, 100).within(800) == Plan(8, 1, 100)
    assert Plan(8, 2, 100).within(350) == Plan(3, 1, 100)
    assert Plan(8, 2, 100).within(100) == Plan(2, 1, 50)
