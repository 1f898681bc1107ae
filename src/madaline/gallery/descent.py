"""Paths of optimizers on functions that can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import madaline as md


def descend(
    f: Callable[[Any], Any],
    start: Sequence[float],
    rule: md.optim.Optimizer,
    steps: int,
    *,
    gradient: Callable[[Any, int], Any] | None = None,
) -> np.ndarray:
    """The path of an optimizer on a function of a vector, (steps + 1, n); shorter if it diverges.

    Parameters
    ----------
    f : callable
        The function, written with NumPy.
    start : sequence of float
        First point.
    rule : Optimizer
        For example ``md.SGD(0.1)``.
    steps : int
        Number of steps.
    gradient : callable, optional
        A function of point and step that replaces the gradient of ``f``, for example by that of a mini-batch.
    """
    slope = md.compile(md.grad(f))
    path = [np.array(start, dtype=float)]
    slots = rule.state(path[0])
    for t in range(1, steps + 1):
        g = slope(path[-1]) if gradient is None else gradient(path[-1], t)
        w, slots = rule.step(path[-1], g, slots, t=t)
        path.append(np.asarray(w))
        if not np.isfinite(w).all() or np.abs(w).max() > 50:
            break
    return np.array(path)
