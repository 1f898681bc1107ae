"""Weights and temperature of an ensemble, chosen on rows that its members did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

STEPS = 40
"Number of greedy steps; a weight is a multiple of one over this."


def greedy_weights(n_members: int, loss_of: Callable[[Sequence[float]], float]) -> list[float]:
    """Weights by greedy selection with replacement: Caruana et al. 2004.

    Start with the best member; in each step add the member (again) that lowers the loss of the mean most. The weights
    with the lowest loss are returned.

    Parameters
    ----------
    n_members : int
    loss_of : callable
        The loss of the ensemble with given weights, which sum to 1.
    """
    counts = np.zeros(n_members)
    best, lowest = counts, np.inf
    for step in range(1, (STEPS if n_members > 1 else 1) + 1):
        trials = counts + np.eye(n_members)
        losses = [loss_of((trial / step).tolist()) for trial in trials]
        counts = trials[int(np.argmin(losses))]
        if min(losses) < lowest:
            best, lowest = counts / step, min(losses)
    return best.tolist()


def best_temperature(loss_of: Callable[[float], float], *, low: float = 0.2, high: float = 5.0) -> float:
    """The temperature with the lowest loss, searched over its logarithm."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda u: loss_of(float(np.exp(u))),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    temperature = float(np.exp(found.x))
    return temperature if loss_of(temperature) < loss_of(1.0) else 1.0
