"""Successive halving: which trials of a round are trained longer.

Every rung trains a net from the start, with a schedule that ends at its last epoch, so that annealed nets are compared
with annealed nets. With three times as many epochs from rung to rung, this costs a third more than continuing would,
and the last rung is exactly the training of the estimator with these hyperparameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

ETA = 3
"A third of the trials of a rung is trained on the next one, for three times as many epochs."
MOST_RUNGS = 3
FEWEST_EPOCHS = 5
"Number of epochs of the first rung at least."


def n_rungs(epochs: int) -> int:
    """The number of rungs for nets that train for this many epochs.

    Examples
    --------
    >>> n_rungs(150), n_rungs(20), n_rungs(8)
    (3, 2, 1)
    """
    count = 1
    while count < MOST_RUNGS and epochs // ETA**count >= FEWEST_EPOCHS:
        count += 1
    return count


def epochs_of(rung: int, rungs: int, epochs: int) -> int:
    """Number of epochs of a rung, counted from 0.

    Examples
    --------
    >>> [epochs_of(rung, 3, 150) for rung in range(3)]
    [17, 50, 150]
    """
    return max(int(epochs / ETA ** (rungs - 1 - rung) + 0.5), 1)


def promoted(values: Mapping[int, float], earlier: Sequence[float]) -> list[int]:
    """The trials of a round that go on to the next rung: those in the best third of all losses at this rung so far.

    Parameters
    ----------
    values : mapping of int to float
        Losses of the trials of this round, by number.
    earlier : sequence of float
        Losses of trials of earlier rounds at the same rung.

    Examples
    --------
    >>> promoted({0: 0.5, 1: 0.2, 2: 0.4}, [0.3, 0.6, 0.7])
    [1]
    """
    every = sorted([*values.values(), *earlier])
    limit = every[math.ceil(len(every) / ETA) - 1] if every else -math.inf
    return [number for number, value in values.items() if value <= limit]
