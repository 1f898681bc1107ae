"""Weights and temperature of an ensemble, chosen on rows that its members did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

STEPS = 40
"Number of greedy steps; a weight is a multiple of one over this."
SPREAD, MOST = 0.3, 1.6
"Standard deviation of the prior of the logarithm of the temperature, and the largest absolute value of it."


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


def best_temperature(loss_of: Callable[[float], float], n_rows: int) -> float:
    r"""The temperature with the lowest loss, searched over its logarithm.

    The mean loss has a prior, :math:`(\log T)^2 / (2 \cdot 0.3^2\, n)`: where few rows are all predicted correctly,
    the lowest loss alone would make every prediction certain.

    Parameters
    ----------
    loss_of : callable
        The mean loss of the ensemble with a given temperature.
    n_rows : int
        Number of rows of that mean.
    """
    from scipy.optimize import minimize_scalar

    def cost(u: float) -> float:
        return loss_of(float(np.exp(u))) + u * u / (2.0 * SPREAD**2 * n_rows)

    found = minimize_scalar(cost, bounds=(-MOST, MOST), method="bounded")
    return float(np.exp(found.x)) if cost(found.x) < cost(0.0) else 1.0
