"""Schedules against their closed forms, and how they are put together. Against PyTorch's: tests/oracles."""

from __future__ import annotations

import json

import numpy as np
import pytest

from madaline.errors import ConfigError, UnknownNameError
from madaline.optim.annealing import (
    Cosine,
    CosineRestarts,
    CosineWarmup,
    Coslog4,
    LinearWarmup,
    OneCycle,
    Polynomial,
)
from madaline.optim.plateau import ReduceOnPlateau
from madaline.optim.schedules import (
    SCHEDULES,
    Constant,
    Exponential,
    ExponentialSteps,
    InverseRoot,
    InverseScaling,
    InverseTime,
    Multistep,
    Schedule,
    Step,
    as_schedule,
)

T = np.arange(1, 61)
every_kind = pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name) for kind in SCHEDULES])


def cosine(progress):
    return (1 + np.cos(np.pi * progress)) / 2


CLOSED_FORMS = [
    (Constant(), np.ones(60)),
    (Constant(0.3), np.full(60, 0.3)),
    (ExponentialSteps(0.1, 7), np.exp(-0.1 * np.ceil(T / 7))),  # A13
    (InverseTime(0.2), 1 / (1 + 0.2 * T)),  # A13
    (InverseRoot(0.2), 1 / np.sqrt(1 + 0.2 * T)),  # A13
    (InverseScaling(0.3), T**-0.3),
    (Step(10, gamma=0.5), np.repeat(0.5 ** np.arange(6.0), 10)),
    (Multistep((10, 40), gamma=0.5), np.repeat([1.0, 0.5, 0.25], [10, 30, 20])),
    (Exponential(0.9), 0.9 ** (T - 1.0)),
    (Polynomial(), 1 - (T - 1) / 60),
    (Polynomial(2.0, steps=30, end=0.1), 0.1 + 0.9 * np.maximum(1 - (T - 1) / 30, 0) ** 2),
    (Cosine(), cosine((T - 1) / 60)),
    (Cosine(steps=20, end=0.5), np.where(T <= 20, 0.5 + 0.5 * cosine((T - 1) / 20), 0.5)),
    (CosineRestarts(20), cosine((T - 1) % 20 / 20)),
    (LinearWarmup(20), np.minimum(T / 20, 1)),
    (LinearWarmup(20, start=0.5), np.minimum(0.5 + T / 40, 1)),
    (CosineWarmup(20), np.where(T < 20, 1 - cosine(T / 20), 1)),
    (Coslog4(), 0.5 * (1 - np.cos(2 * np.pi * np.log2(1 + 15 * (T - 1) / 60)))),
    (LinearWarmup(20) * Cosine(), np.minimum(T / 20, 1) * cosine((T - 1) / 60)),
    (
        LinearWarmup(20).then(Cosine(), after=20),
        np.where(T <= 20, np.minimum(T / 20, 1), cosine(np.maximum(T - 21, 0) / 40)),
    ),
    (
        Constant(1.0).then(Constant(0.5), after=10).then(Polynomial(), after=30),
        np.where(T <= 10, 1.0, np.where(T <= 30, 0.5, 1 - (T - 31) / 30)),
    ),
    (as_schedule(lambda t: 1.0 / t if t > 5 else 1.0), np.where(T > 5, 1 / T, 1.0)),
]


@pytest.mark.parametrize(("schedule", "expected"), CLOSED_FORMS, ids=lambda x: getattr(x, "name", None))
def test_the_table_is_the_closed_form(schedule, expected):  # A13
    np.testing.assert_allclose(schedule.table(60), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "schedule", [schedule for schedule, _ in CLOSED_FORMS] + [OneCycle()], ids=lambda s: type(s).__name__
)
def test_the_rate_of_one_step_is_its_place_in_the_table(schedule):
    table = schedule.table(60)
    for t in (1, 2, 19, 20, 21, 60):
        assert float(schedule.rate(t, 60)) == pytest.approx(table[t - 1], rel=1e-14, abs=1e-15)


def test_the_names_are_known():
    expected = """constant cosine cosine_restarts cosine_warmup coslog4 exponential exponential_steps inverse_root
        inverse_scaling inverse_time linear_warmup multistep one_cycle polynomial product reduce_on_plateau sequence
        step"""
    assert SCHEDULES.names() == tuple(expected.split())


@every_kind
def test_every_name_alone_makes_a_schedule_that_can_be_plotted(kind):
    for n_steps in (1, 2, 3, 5000):
        table = as_schedule(kind.name).table(n_steps)
        assert table.shape == (n_steps,)
        assert table.dtype == np.float64
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        assert (table <= 1 + 1e-12).all()


@every_kind
def test_descriptions_survive_json(kind):
    schedule = kind() * kind().then(kind(), after=5)
    again = Schedule.from_dict(json.loads(json.dumps(schedule.to_dict())))
    assert again == schedule
    assert hash(again) == hash(schedule)
    np.testing.assert_array_equal(again.table(30), schedule.table(30))


@pytest.mark.parametrize("schedule", [Cosine(), Polynomial(), OneCycle(), Coslog4()], ids=lambda s: s.name)
def test_a_schedule_with_an_end_must_know_the_number_of_steps(schedule):
    message = rf"schedule='{schedule.name}' needs the number of steps. Pass steps=, or total="
    with pytest.raises(ConfigError, match=message):
        schedule.rate(3)


def test_one_cycle_begins_low_rises_to_the_full_rate_and_ends_lower():
    table = OneCycle().table(100)
    assert table[0] == pytest.approx(0.04)
    assert table.argmax() == 29
    assert table[29] == pytest.approx(1.0)
    assert table[-1] == pytest.approx(4e-6)


def test_restarts_grow_longer():
    starts = np.flatnonzero(CosineRestarts(5, longer=2).table(100) == 1.0) + 1
    assert starts.tolist() == [1, 6, 16, 36, 76]


def test_coslog4_has_four_waves_each_twice_as_long():
    table = Coslog4().table(15_000)
    zeros = np.flatnonzero((table[1:-1] < table[:-2]) & (table[1:-1] <= table[2:])) + 1
    np.testing.assert_allclose(zeros, [1000, 3000, 7000], atol=1)
    assert table[0] == 0.0


def test_warmup_wastes_no_step_at_rate_zero():
    assert LinearWarmup(10).table(10)[0] == pytest.approx(0.1)
    assert CosineWarmup(10).table(10)[0] > 0


def test_wrong_parameters_are_reported_all_at_once():
    with pytest.raises(ConfigError, match=r"Step: every=0 must be a number in \[1, inf\); gamma=-1 must be"):
        Step(0, gamma=-1)
    with pytest.raises(ConfigError, match=r"milestones=\(5, 3\) must increase"):
        Multistep((5, 3))
    with pytest.raises(ConfigError, match="mode='up' must be 'min' or 'max'"):
        ReduceOnPlateau(mode="up")


def test_schedules_are_found_by_name():
    assert as_schedule("cosine") == Cosine()
    assert as_schedule(None) == Constant()
    assert as_schedule(schedule := Step(5)) is schedule
    assert as_schedule(Multistep([3, 5]).to_dict()) == Multistep((3, 5))
    with pytest.raises(UnknownNameError, match=r"schedule='cosin' is not a known schedule. Did you mean 'cosine'\?"):
        as_schedule("cosin")
    with pytest.raises(ConfigError, match=r"schedule=0\.5 must be a name"):
        as_schedule(0.5)


# Reduce on plateau


def test_a_plateau_lowers_the_rate_after_more_than_patience_observations():
    plateau = ReduceOnPlateau(0.5, patience=2).start()
    seen = [plateau.observe(metric) for metric in (3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0)]
    assert seen == [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]


def test_a_metric_that_is_not_a_number_is_never_better():
    plateau = ReduceOnPlateau(0.5, patience=1).start()
    assert [plateau.observe(metric) for metric in (np.nan, np.nan, 1.0, np.nan, np.nan)] == [1, 0.5, 0.5, 0.5, 0.25]
    assert plateau.best == 1.0


def test_a_better_metric_resets_patience_in_either_direction():
    up = ReduceOnPlateau(0.5, patience=1, mode="max").start()
    assert [up.observe(metric) for metric in (0.1, 0.05, 0.2, 0.1, 0.3, 0.2, 0.1)] == [1, 1, 1, 1, 1, 1, 0.5]
