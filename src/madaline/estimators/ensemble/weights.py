"""Weights and temperature of an ensemble, chosen on rows that its members did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

STEPS = 40
"Number of greedy steps; a weight is a multiple of one over this."
SAMPLES, STEPS_OF_SAMPLE = 16, 20
"Number of bootstrap samples of the rows over which greedy weights are averaged, and the greedy steps for each."
MANY_ROWS = 1_000
"With more rows there are fewer samples: the weights depend less on chance, and each sample takes longer."
SMALLEST_WEIGHT = 0.02
"Members with a smaller share of the largest weight are left out."
SPREAD, MOST = 0.3, 1.6
"Standard deviation of the prior of the logarithm of the temperature, and the largest absolute value of it."


def greedy_weights(
    n_members: int, loss_of: Callable[[Sequence[float]], float], *, steps: int = STEPS
) -> list[float]:
    """Weights by greedy selection with replacement: Caruana et al. 2004.

    Start with the best member; in each step add the member (again) that lowers the loss of the mean most. The weights
    with the lowest loss are returned.

    Parameters
    ----------
    n_members : int
    loss_of : callable
        The loss of the ensemble with given weights, which sum to 1.
    steps : int, default 40
        Number of greedy steps; a weight is a multiple of one over this or a smaller number.
    """
    counts = np.zeros(n_members)
    best, lowest = counts, np.inf
    for step in range(1, (steps if n_members > 1 else 1) + 1):
        trials = counts + np.eye(n_members)
        losses = [loss_of((trial / step).tolist()) for trial in trials]
        counts = trials[int(np.argmin(losses))]
        if min(losses) < lowest:
            best, lowest = counts / step, min(losses)
    return best.tolist()


def bagged_weights(
    n_members: int, losses_of: Callable[[Sequence[float]], np.ndarray], weight: np.ndarray | None = None
) -> list[float]:
    """The mean of greedy weights over bootstrap samples of the rows.

    On few rows, which member is best is partly chance; greedy weights of one sample take it for granted. Their mean
    over samples is nearer to equal weights where members are equally good.

    Parameters
    ----------
    n_members : int
    losses_of : callable
        The loss of every row for the ensemble with given weights, which sum to 1.
    weight : array of shape (n_rows,), optional
        Sample weights.
    """
    if n_members == 1:
        return [1.0]
    rng = np.random.default_rng(0)
    n_rows = len(losses_of([1.0 / n_members] * n_members))
    own = np.ones(n_rows) if weight is None else weight
    n_samples = max(SAMPLES * MANY_ROWS // max(n_rows, MANY_ROWS), 4)
    total = np.zeros(n_members)
    for _ in range(n_samples):
        drawn = own * np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
        share = (drawn if drawn.any() else own) / (drawn if drawn.any() else own).sum()
        total += greedy_weights(n_members, _weighted(losses_of, share), steps=STEPS_OF_SAMPLE)
    return _without_small((total / n_samples).tolist())


def _weighted(
    losses_of: Callable[[Sequence[float]], np.ndarray], share: np.ndarray
) -> Callable[[Sequence[float]], float]:
    return lambda weights: float(share @ losses_of(weights))


def _without_small(weights: list[float]) -> list[float]:
    """The weights without those that are too small to be worth the time of a member."""
    kept = np.array([each if each >= SMALLEST_WEIGHT * max(weights) else 0.0 for each in weights])
    return (kept / kept.sum()).tolist()


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
