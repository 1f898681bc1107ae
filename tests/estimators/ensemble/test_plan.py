"""How many members an ensemble has."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.estimators.ensemble.plan import FEWEST_EPOCHS, FEWEST_ROWS, EnsemblePlan


@pytest.mark.parametrize("n_rows", [4, 300, 3_000, 30_000, 300_000])
def test_a_plan_never_needs_more_than_the_time_allows(n_rows):
    full = EnsemblePlan.of(n_rows, 100)
    assert full.within(1e9, n_rows) == full
    for epochs in (10, 50, 100, 200, 400, 900, 2_000):
        plan = full.within(epochs, n_rows)
        total = plan.folds * plan.repeats * plan.epochs * min(plan.rows, n_rows) / n_rows
        assert total <= epochs or (plan.epochs == FEWEST_EPOCHS and min(plan.rows, n_rows) <= FEWEST_ROWS)
        assert plan.folds <= full.folds
        assert plan.repeats <= full.repeats
        assert plan.epochs <= full.epochs


def test_folds_are_given_up_before_epochs():
    assert EnsemblePlan(8, 2, 100).within(800, 500) == EnsemblePlan(8, 1, 100)
    assert EnsemblePlan(8, 2, 100).within(350, 500) == EnsemblePlan(3, 1, 100)
    assert EnsemblePlan(8, 2, 100).within(100, 500) == EnsemblePlan(2, 1, 50)


def test_a_short_time_for_many_rows_trains_on_a_sample_of_them():
    plan = EnsemblePlan.of(100_000, 20).within(1.0, 100_000)
    assert (plan.folds, plan.epochs, plan.rows) == (2, FEWEST_EPOCHS, 10_000)
    assert EnsemblePlan.of(100_000, 20).within(1e-3, 100_000).rows == FEWEST_ROWS


def test_the_folds_of_a_sample_have_only_its_rows():
    halves = np.arange(50), np.arange(50, 100)
    folds = EnsemblePlan(2, 1, 5, rows=20).sampled([halves, halves[::-1]], 100, seed=0)
    assert [len(train) + len(held) for train, held in folds] == [20, 20]
    np.testing.assert_array_equal(folds[0][0], folds[1][1])
    assert np.isin(folds[0][0], halves[0]).all()
