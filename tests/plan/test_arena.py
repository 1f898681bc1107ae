"""Placing buffers: never two at one place at one time, and not much more memory than there must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from madaline.plan.arena import Lifetime, place
from steps import steps

lifetimes = st.lists(
    st.tuples(st.integers(0, 2000), st.integers(0, 30), st.integers(0, 12)).map(
        lambda t: Lifetime(size=t[0], first=t[1], last=t[1] + t[2])
    ),
    max_size=40,
)


def aligned(size, alignment):
    return -(-size // alignment) * alignment


def lower_bound(lives, alignment):
    """The most that is alive at one time: no placing can do with less."""
    times = {life.first for life in lives}
    return max((sum(aligned(x.size, alignment) for x in lives if x.first <= t <= x.last) for t in times), default=0)


@settings(max_examples=300)
@given(lifetimes, st.sampled_from([1, 4, 64]))
def test_buffers_alive_at_one_time_never_overlap(lives, alignment):
    offsets, size = place(lives, alignment)
    for i, (a, start) in enumerate(zip(lives, offsets, strict=True)):
        assert start % alignment == 0
        assert start >= 0
        assert start + a.size <= size
        for b, other in zip(lives[:i], offsets[:i], strict=True):
            together = a.first <= b.last and b.first <= a.last and a.size and b.size
            assert not together or start + a.size <= other or other + b.size <= start


@settings(max_examples=200)
@given(lifetimes)
def test_the_arena_is_close_to_the_least_possible(lives):
    _, size = place(lives, 64)
    least = lower_bound(lives, 64)
    assert size >= least
    assert size <= 2.5 * least


def test_a_chain_of_values_needs_only_two_places():
    lives = [Lifetime(640, t, t + 1) for t in range(100)]
    assert place(lives, 64)[1] == 2 * 640


def test_a_freed_gap_is_used_again_and_the_tightest_one_first():
    lives = [Lifetime(1024, 0, 1), Lifetime(64, 0, 9), Lifetime(128, 0, 1), Lifetime(64, 0, 9), Lifetime(128, 2, 9)]
    offsets, size = place(lives, 64)
    assert offsets[4] == offsets[2]
    assert size == 1024 + 64 + 128 + 64


def test_neighbouring_gaps_join():
    lives = [Lifetime(64, 0, 1), Lifetime(64, 0, 2), Lifetime(64, 0, 9), Lifetime(128, 3, 9)]
    offsets, size = place(lives, 64)
    assert offsets[3] == 0
    assert size == 192


def test_nothing_takes_no_memory():
    assert place([], 64) == ([], 0)
    assert place([Lifetime(0, 0, 5), Lifetime(0, 2, 3)], 64)[1] == 0


@pytest.mark.parametrize("overlap", [2, 200])
def test_work_grows_linearly_with_the_number_of_buffers(overlap):
    """Of buffers alive at one time there may be many, but not so many as of buffers."""
    rng = np.random.default_rng(0)

    def work(count):
        lives = [Lifetime(int(rng.integers(1, 5000)), t, t + int(rng.integers(overlap))) for t in range(count)]
        return steps(lambda: place(lives, 64))

    assert work(8_000) < 6 * work(2_000)
