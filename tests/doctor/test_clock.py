"""The limit of trials: work, and time only as a safety net."""

from __future__ import annotations

import pytest

from madaline.doctor import clock as clocks


def test_work_counts_and_time_does_not(monkeypatch):
    clock = clocks.Clock(10.0)
    clock.spend(4.0)
    now = clocks.time.monotonic()
    monkeypatch.setattr(clocks.time, "monotonic", lambda: now + 70.0)  # a busy machine
    assert clock.left == 6.0
    assert not clock.is_over_time


def test_far_more_time_than_planned_ends_the_trials(monkeypatch):
    clock = clocks.Clock(10.0)
    now = clocks.time.monotonic()
    monkeypatch.setattr(clocks.time, "monotonic", lambda: now + 81.0)
    assert clock.left == 0.0
    assert clock.is_over_time


def test_work_depends_on_shapes():
    small, large = clocks.run_seconds(100, 32, 1000), clocks.run_seconds(100, 32, 100_000)
    assert large > 10 * (small - clocks.RUN_SECONDS)
    assert clocks.run_seconds(200, 32, 1000) - clocks.RUN_SECONDS == pytest.approx(2 * (small - clocks.RUN_SECONDS))
