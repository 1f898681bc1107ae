"""Placement of buffers in an arena, which reuses memory after the end of a lifetime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Lifetime:
    """A buffer's size in bytes and the first and last instruction that needs it."""

    size: int
    first: int
    last: int


def place(lifetimes: Sequence[Lifetime], alignment: int) -> tuple[list[int], int]:
    """An offset for each buffer, and the size of the arena. Buffers alive at the same time never overlap.

    A linear scan over time with a list of free gaps; each buffer takes the smallest gap that holds it.
    """
    offsets = [0] * len(lifetimes)
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for index, life in enumerate(lifetimes):
        begins.setdefault(life.first, []).append(index)
        ends.setdefault(life.last, []).append(index)
    gaps: list[tuple[int, int]] = []
    top = 0
    for time in sorted({*begins, *ends}):
        for index in begins.get(time, ()):
            size = _aligned(lifetimes[index].size, alignment)
            fitting = [(gap[1] - gap[0], position) for position, gap in enumerate(gaps) if gap[1] - gap[0] >= size]
            if fitting:
                _, position = min(fitting)
                start, stop = gaps.pop(position)
                if stop - start > size:
                    gaps.insert(position, (start + size, stop))
            elif gaps and gaps[-1][1] == top:
                start, _ = gaps.pop()
                top = start + size
            else:
                start, top = top, top + size
            offsets[index] = start
        for index in ends.get(time, ()):
            size = _aligned(lifetimes[index].size, alignment)
            if size:
                _release(gaps, offsets[index], offsets[index] + size)
    return offsets, top


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _release(gaps: list[tuple[int, int]], start: int, stop: int) -> None:
    """Return memory to the list of gaps, merged with adjacent gaps."""
    position = next((i for i, gap in enumerate(gaps) if gap[0] >= stop), len(gaps))
    if position < len(gaps) and gaps[position][0] == stop:
        stop = gaps.pop(position)[1]
    if position and gaps[position - 1][1] == start:
        position -= 1
        start = gaps.pop(position)[0]
    gaps.insert(position, (start, stop))
