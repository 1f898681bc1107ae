"""The probability from which on a class is predicted, chosen on rows that training did not see."""

from __future__ import annotations

import numpy as np

from madaline.errors import ConfigError

METRICS = ("accuracy", "balanced_accuracy", "f1")
"Metrics that a threshold can be chosen for."


def best_threshold(
    p: np.ndarray,
    is_positive: np.ndarray,
    weight: np.ndarray,
    *,
    metric: str | None = None,
    cost: tuple[float, float] | None = None,
    precision: float | None = None,
) -> float:
    """The threshold that is best by one of three rules; a row is predicted as positive if its probability is above it.

    Parameters
    ----------
    p, is_positive, weight : arrays of shape (n_rows,)
        Probability of the positive class, whether the row is of that class, and its weight.
    metric : {"accuracy", "balanced_accuracy", "f1"}, optional
        The metric to maximise.
    cost : (float, float), optional
        The costs of a false positive and of a false negative, whose sum is minimised.
    precision : float, optional
        The smallest precision; the largest recall that has it is chosen.
    """
    if sum(rule is not None for rule in (metric, cost, precision)) != 1:
        raise ConfigError("Choose the threshold by one of metric=, cost= and precision=.")
    order = np.argsort(-p, kind="stable")
    # Entry k: the k rows with the largest probabilities are predicted as positive.
    hits = np.concatenate([[0.0], np.cumsum((weight * is_positive)[order])])
    alarms = np.concatenate([[0.0], np.cumsum((weight * ~is_positive)[order])])
    ranked = p[order]
    possible = np.flatnonzero(np.concatenate([[True], ranked[1:] < ranked[:-1], [True]]))  # equal ones go together
    hits, alarms = hits[possible], alarms[possible]
    n_positive, n_negative = hits[-1], alarms[-1]
    if n_positive <= 0.0 or n_negative <= 0.0:
        raise ConfigError("The threshold needs rows of both classes.")
    if cost is not None:
        gain = -(cost[0] * alarms + cost[1] * (n_positive - hits))
    elif precision is not None:
        reached = hits / np.maximum(hits + alarms, 1e-300)
        gain = np.where((reached >= precision) & (possible > 0), hits, -1.0)
        if gain.max() < 0.0:
            raise ConfigError(f"precision={precision!r} is not reached; the largest precision is {reached.max():.3g}.")
    elif metric == "f1":
        gain = 2.0 * hits / (hits + alarms + n_positive)
    elif metric == "accuracy":
        gain = hits - alarms
    elif metric == "balanced_accuracy":
        gain = hits / n_positive - alarms / n_negative
    else:
        raise ConfigError(f"metric={metric!r} is not known. Known: {', '.join(METRICS)}.")
    place = int(possible[int(np.argmax(gain))])
    above = ranked[place - 1] if place else 1.0
    below = ranked[place] if place < len(ranked) else 0.0
    return float((above + below) / 2.0)  # between two rows, so that it does not matter which side it belongs to
