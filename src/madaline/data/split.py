"""Rows split into training, validation and test sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError

WAYS = ("random", "stratified", "group", "time")
"Ways to split rows."


@dataclass(frozen=True)
class Split:
    """Row numbers in increasing order, each in exactly one of three sets.

    Attributes
    ----------
    train, validation, test : array of int
    way : str
        One of ``WAYS``.
    by : array, optional
        The classes, groups or times of all rows by which they were split.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    way: str
    by: np.ndarray | None = None

    def parts(self) -> dict[str, np.ndarray]:
        """The row numbers by the name of the set."""
        return {"train": self.train, "validation": self.validation, "test": self.test}


def check_options(way: str, test: float, validation: float) -> None:
    """Raise an error if rows cannot be split in this way."""
    if way not in WAYS:
        raise ConfigError(f"--split {way} is not known. Choose one of {', '.join(WAYS)}.")
    for name, share in (("test", test), ("validation", validation)):
        if not 0.0 < share < 1.0:
            raise ConfigError(f"--{name} {share} must be a fraction of the rows between 0 and 1, for example 0.2.")


def split_rows(
    n_rows: int,
    *,
    way: str = "random",
    by: Any = None,
    test: float = 0.2,
    validation: float = 0.15,
    seed: int = 0,
) -> Split:
    """Split rows into training, validation and test sets.

    Parameters
    ----------
    n_rows : int
    way : {"random", "stratified", "group", "time"}
        "random" draws rows at random; "stratified" draws the same share of each class; "group" keeps rows of a group
        together, so that the test set has only new groups; "time" takes the latest rows for the test set, and those
        just before for the validation set.
    by : array of shape (n_rows,), optional
        Classes, groups or times; not needed for "random".
    test, validation : float
        Share of all rows in the test set, and share of the others in the validation set.
    seed : int
        Random seed.

    Examples
    --------
    >>> split = split_rows(10, way="time", by=np.arange(10)[::-1], test=0.2, validation=0.25)
    >>> split.test.tolist(), split.validation.tolist()
    ([0, 1], [2, 3])
    """
    check_options(way, test, validation)
    if n_rows < 5:
        raise ConfigError(
            f"The table has {n_rows} rows, but at least 5 are needed for training, validation and test sets."
        )
    keys = _keys(n_rows, way, by, np.random.default_rng(seed))
    ranks = np.argsort(keys, kind="stable")
    together = np.unique(np.asarray(by), return_inverse=True)[1] if way in ("group", "time") else np.arange(n_rows)
    parts = []
    for share in (test, validation):
        chosen = _last(ranks, together, share)
        parts.append(np.sort(chosen))
        ranks = ranks[~np.isin(ranks, chosen)]
        if not len(ranks):
            count = len(np.unique(together))
            raise ConfigError(f"--split {way} leaves no rows for training: {count} different values are too few.")
    return Split(np.sort(ranks), parts[1], parts[0], way, None if by is None else np.asarray(by))


def _keys(n_rows: int, way: str, by: Any, rng: np.random.Generator) -> np.ndarray:
    """Numbers to sort the rows by; the last ones are for the test set."""
    if way == "time":
        return np.unique(np.asarray(by), return_inverse=True)[1].astype(np.float64)
    if way == "group":
        _, group = np.unique(np.asarray(by), return_inverse=True)
        return rng.permutation(group.max() + 1)[group].astype(np.float64)
    drawn = rng.permutation(n_rows)
    if way == "random":
        return drawn.astype(np.float64)
    # Rows of a class are spread evenly over 0 to 1, so that any interval has the same share of each class.
    _, label = np.unique(np.asarray(by), return_inverse=True)
    keys = np.empty(n_rows)
    for each in range(label.max() + 1):
        rows = np.flatnonzero(label == each)
        places = (np.arange(len(rows)) + rng.uniform(0.0, 1.0)) / len(rows)
        keys[rows[np.argsort(drawn[rows])]] = places
    return keys


def _last(ranks: np.ndarray, together: np.ndarray, share: float) -> np.ndarray:
    """About this share of rows from the end of the order, without dividing a group."""
    count = min(max(1, round(share * len(ranks))), len(ranks) - 1)
    start = len(ranks) - count
    kinds = together[ranks]
    starts = np.flatnonzero(np.append(True, kinds[1:] != kinds[:-1]))
    starts = starts[1:] if len(starts) > 1 else starts
    return ranks[starts[np.argmin(np.abs(starts - start))] :]
