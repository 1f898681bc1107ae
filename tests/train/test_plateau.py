"""Rates that fall when a metric stops getting better, alone and put together with other schedules."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError


def rates(schedule, *, epochs=5, **options):
    """The last rate of every epoch of two steps, in a run in which nothing is learned."""
    trainer = md.Trainer(md.Linear(1), optimizer=md.SGD(1.0), schedule=schedule, groups={"*": {"rate": 0.0}})
    return trainer.fit(np.ones((8, 2)), np.ones((8, 1)), epochs=epochs, batch_size=4, **options)["learning_rate"]


def test_the_rate_falls_while_nothing_gets_better():
    np.testing.assert_allclose(rates(md.optim.schedules.ReduceOnPlateau(0.5, patience=0)), [1.0, 1.0, 0.5, 0.25, 0.125])


def test_a_product_falls_as_its_factor_that_watches():
    """A factor of one schedule, and one of what was seen."""
    fall = md.optim.schedules.ReduceOnPlateau(0.5, patience=0)
    expected = [0.5, 1.0, 0.5, 0.25, 0.125]
    np.testing.assert_allclose(rates(md.optim.schedules.LinearWarmup(4) * fall), expected)
    np.testing.assert_allclose(rates(fall * md.optim.schedules.LinearWarmup(4)), expected)
    np.testing.assert_allclose(
        rates(md.optim.schedules.LinearWarmup(4) * (fall * md.optim.schedules.Constant(0.5))), np.divide(expected, 2)
    )


def test_what_comes_after_another_schedule_watches_from_then_on():
    fall = md.optim.schedules.ReduceOnPlateau(0.5, patience=0)
    np.testing.assert_allclose(rates(md.optim.schedules.LinearWarmup(4).then(fall, after=4)), [0.5, 1.0, 1.0, 1.0, 0.5])


def test_any_column_of_the_history_can_be_watched():
    grows, falls = (
        md.optim.schedules.ReduceOnPlateau(0.5, patience=0, metric="epoch", mode=mode) for mode in ("max", "min")
    )
    np.testing.assert_allclose(rates(grows), 1.0)
    np.testing.assert_allclose(rates(falls), [1.0, 1.0, 0.5, 0.25, 0.125])


def test_what_cannot_be_watched_is_said():
    fall = md.optim.schedules.ReduceOnPlateau()
    with pytest.raises(ConfigError, match=r"metric='val_loss' is not a column of the history. Columns: epoch, loss"):
        rates(md.optim.schedules.ReduceOnPlateau(metric="val_loss"))
    with pytest.raises(ConfigError, match="schedule has 2 parts that watch a metric"):
        rates(fall * fall)
    with pytest.raises(ConfigError, match="ReduceOnPlateau cannot be followed by another schedule"):
        rates(fall.then(md.optim.schedules.Constant(), after=4))
