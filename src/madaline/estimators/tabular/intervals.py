"""How far answers are from the truth, told from rows that training did not see: split conformal intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from madaline.data.target import TargetPlan

SHARES = np.round(np.arange(0.0, 1.0, 0.005), 3)
"Shares of held-out errors that are kept, for intervals."
SPREADS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "same": np.ones_like,
    "root": lambda answers: np.sqrt(np.maximum(answers, 0.0) + 1.0),
}
"""How large errors are beside each other, by the answers. Counts of rate m vary by the root of m; the 1 keeps those of
the smallest rates, which are 0 or 1, from counting more than all others."""


def spread_of(target: TargetPlan) -> str:
    """How the errors of a target grow with its answers."""
    return "root" if target.task == "count" else "same"


def error_sizes(truth: np.ndarray, prediction: np.ndarray, spread: str = "same") -> np.ndarray:
    """What errors are at most in each share of ``SHARES``, by target: see :meth:`Learned.learn_errors`."""
    errors = np.abs(truth - prediction) / SPREADS[spread](prediction)
    sizes = np.sort(errors.reshape(len(truth), -1), axis=0)
    places = np.clip(np.ceil((len(sizes) + 1) * SHARES).astype(int) - 1, 0, len(sizes) - 1)
    return np.asarray(sizes[places])


def covered(
    truth: np.ndarray, prediction: np.ndarray, share: float, *, spread: str = "same", seed: int = 0
) -> np.ndarray:
    """Whether the truth of each row is in its interval, told from the errors of other rows: each half by the other."""
    order = np.random.default_rng(seed).permutation(len(truth))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    found = np.zeros(truth.shape, dtype=bool)
    for rows, others in (halves, halves[::-1]):
        margins = margins_of(error_sizes(truth[others], prediction[others], spread), share)
        found[rows] = np.abs(truth[rows] - prediction[rows]) <= margins * SPREADS[spread](prediction[rows])
    return found


def margins_of(errors: np.ndarray, share: float) -> np.ndarray:
    """The size of errors that a ``share`` of them does not exceed, one for each target."""
    return np.array([np.interp(share, SHARES, column) for column in errors.T])
