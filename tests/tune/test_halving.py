"""Which trials are trained longer."""

from __future__ import annotations

from madaline.tune.halving import epochs_of, n_rungs, promoted
from madaline.tune.plan import SearchPlan


def test_a_third_of_a_first_round_is_promoted():
    assert promoted({k: float(k) for k in range(9)}, []) == [0, 1, 2]


def test_trials_of_earlier_rounds_are_compared_with():
    """A round of bad trials has none to promote, a round of good ones several."""
    assert promoted({9: 0.8, 10: 0.9}, [0.1, 0.2, 0.3, 0.4]) == []
    assert promoted({9: 0.1, 10: 0.2}, [0.8, 0.9, 1.0, 1.1]) == [9, 10]
    assert promoted({}, []) == []


def test_rungs_have_three_times_as_many_epochs_each():
    assert [[epochs_of(rung, n_rungs(n), n) for rung in range(n_rungs(n))] for n in (150, 45, 20, 8, 1)] == [
        [17, 50, 150],
        [5, 15, 45],
        [7, 20],
        [8],
        [1],
    ]


def test_a_short_time_means_fewer_folds_and_then_fewer_epochs():
    full = SearchPlan.of(1_000, 150)
    assert full == SearchPlan(5, 150)
    assert full.within(750) == full
    assert full.within(749) == SearchPlan(3, 150)
    assert full.within(200) == SearchPlan(1, 150)
    assert full.within(60) == SearchPlan(1, 60)
    assert full.within(0) == SearchPlan(1, 5)
    assert SearchPlan.of(10_000, 60).folds == 3
    assert SearchPlan.of(100_000, 20).folds == 1
