"""Rows that the doctor looks at: a sample of the training set, and rows that are not trained on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from madaline.doctor.names import InputNames
from madaline.graph.tree import flatten, unflatten
from madaline.kernels.sources import Source
from madaline.nn.network import Network
from madaline.train.data import TrainingData

MAX_ROWS = 2000
"Maximum number of rows of each set."
MAX_NUMBERS = 1 << 23
"Maximum number of input values of each set, for very wide data."
SOME_COLUMNS = 12
"Columns that are compared first to look for repeated rows."
CHUNK = 20_000
"Rows that are read at once to look for repeated ones."
HELD_OUT = 0.25
"Fraction of the rows that is held out if the run has no validation set."
MIN_VALIDATION = 30
"A smaller validation set is not used to compare remedies."


@dataclass(frozen=True)
class Sample:
    """Rows with targets and weights."""

    X: Any
    y: Any
    weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(flatten(self.y)[0][0])

    def take(self, rows: np.ndarray) -> Sample:
        """Some of the rows."""
        leaves, structure = flatten(self.X)
        targets, target_structure = flatten(self.y)
        return Sample(
            unflatten(structure, [leaf[rows] for leaf in leaves]),
            unflatten(target_structure, [leaf[rows] for leaf in targets]),
            None if self.weight is None else self.weight[rows],
        )

    @property
    def matrix(self) -> np.ndarray:
        """All inputs that are numbers, as (rows, columns) in float64; categories are left out."""
        parts = [np.asarray(leaf, dtype=np.float64) for leaf in flatten(self.X)[0] if leaf.dtype.kind == "f"]
        parts = [part.reshape(len(part), -1) for part in parts]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(self), 0))


@dataclass(frozen=True)
class Problem:
    """What is learned: a sample of the training set and held-out rows.

    Attributes
    ----------
    train, held : Sample
    validation : Sample or None
        The validation set of the run. If there is none, ``held`` is split off the training rows.
    targets : array
        All training targets, in the order of the data.
    n_train : int
        Number of training rows.
    names : InputNames
        What an estimator's user calls the columns and classes.
    repeated : array of bool, optional
        Whether each row of the validation set is in the training set as well, also in the part that is not in the
        sample.
    """

    train: Sample
    held: Sample
    validation: Sample | None
    targets: Any
    n_train: int
    names: InputNames = field(default_factory=InputNames)
    repeated: np.ndarray | None = None
    monitored: Sample | None = None
    "What early stopping watches, if the validation set is too small to compare remedies; otherwise ``held``."

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the training set itself."""
        return len(self.train) == self.n_train


def problem_of(
    network: Network,
    data: TrainingData,
    rows: np.ndarray,
    validation: tuple[TrainingData, np.ndarray] | None,
    *,
    seed: int = 0,
) -> Problem:
    """Sample the rows of a training set and of its validation set."""
    rng = np.random.default_rng(seed)
    width = sum(math.prod(spec.shape) for spec in flatten(network.inputs)[0])
    most = max(min(MAX_ROWS, MAX_NUMBERS // max(width, 1)), 1)
    train = gathered(network, data, _some(rows, rng, most))
    held = None if validation is None else gathered(network, validation[0], _some(validation[1], rng, most))
    validation_set = held
    repeated = None
    if held is not None:
        known = _some(rows, rng, max(MAX_NUMBERS // max(width, 1), most))
        parts = [known[start : start + CHUNK] for start in range(0, len(known), CHUNK)]
        repeated = _repeated(held, (gathered(network, data, part) for part in parts))
    monitored = None
    if held is None or len(held) < MIN_VALIDATION:
        monitored = held
        train, held = _parts(train, rng)
    targets = data.take(rows)[0]
    return Problem(train, held, validation_set, targets, len(rows), repeated=repeated, monitored=monitored)


def split_off(problem: Problem) -> Problem:
    """The same with held-out rows that are split off the training rows, if the validation set cannot be used."""
    train, held = _parts(problem.train, np.random.default_rng(0))
    return replace(problem, train=train, held=held)


def on_new_rows(problem: Problem, is_shared: np.ndarray, fewest: int) -> Problem | None:
    """The same with held-out rows that are not among the training rows; None if there are not enough.

    These are the other validation rows or, if they are too few, part of the training rows, each of them once.
    """
    held = problem.validation
    if held is not None and np.sum(~is_shared) >= fewest:
        return replace(problem, held=held.take(np.flatnonzero(~is_shared)))
    first = np.sort(np.unique(row_keys(problem.train), return_index=True)[1])
    return split_off(replace(problem, train=problem.train.take(first))) if len(first) >= fewest / HELD_OUT else None


def _parts(train: Sample, rng: np.random.Generator) -> tuple[Sample, Sample]:
    """Rows to train on and rows to hold out."""
    order = rng.permutation(len(train))
    n_held = max(int(HELD_OUT * len(train)), 1)
    return train.take(np.sort(order[n_held:])), train.take(np.sort(order[:n_held]))


def _repeated(sample: Sample, others: Iterable[Sample]) -> np.ndarray:
    """Whether each row of a sample is among the others: first by some columns, then rows that agree there by all."""
    some, whole = row_keys(sample, SOME_COLUMNS), row_keys(sample)
    found = np.zeros(len(sample), dtype=bool)
    for other in others:
        near = np.flatnonzero(np.isin(row_keys(other, SOME_COLUMNS), some))
        found |= np.isin(whole, row_keys(other.take(near)))
    return found


def row_keys(sample: Sample, most: int | None = None) -> np.ndarray:
    """A number for each row, made of all inputs, or of at most some columns of each, and the target.

    Equal rows have equal numbers.
    """
    leaves = [*flatten(sample.X)[0], *flatten(sample.y)[0]]
    found = np.zeros(len(sample), dtype=np.uint64)
    rng = np.random.default_rng(0)
    for leaf in leaves:
        columns = leaf.reshape(len(sample), math.prod(leaf.shape[1:]))
        if most is not None and columns.shape[1] > most:
            columns = columns[:, np.sort(np.random.default_rng(1).choice(columns.shape[1], most, replace=False))]
        columns = np.asarray(columns, dtype=np.float64)
        keys = rng.integers(1, 1 << 63, columns.shape[1], dtype=np.uint64) | np.uint64(1)
        bits = np.ascontiguousarray(columns + 0.0).view(np.uint64)
        found += ((bits ^ (bits >> np.uint64(29))) * keys).sum(axis=1, dtype=np.uint64)
    return found


def more_splits(problem: Problem, count: int) -> list[Problem]:
    """Other splits of all rows into training and held-out rows, of the same sizes."""
    whole = joined(problem.train, problem.held)
    n_held = max(len(problem.held), int(HELD_OUT * len(whole)))
    found = []
    for number in range(count):
        order = np.random.default_rng(number + 1).permutation(len(whole))
        train, held = whole.take(np.sort(order[n_held:])), whole.take(np.sort(order[:n_held]))
        found.append(replace(problem, train=train, held=held))
    return found


def joined(first: Sample, second: Sample) -> Sample:
    """The rows of two samples."""

    def both(a: Any, b: Any) -> Any:
        leaves, structure = flatten(a)
        return unflatten(structure, [np.concatenate(pair) for pair in zip(leaves, flatten(b)[0], strict=True)])

    weights = [np.ones(len(each)) if each.weight is None else each.weight for each in (first, second)]
    is_weighted = first.weight is not None
    return Sample(both(first.X, second.X), both(first.y, second.y), np.concatenate(weights) if is_weighted else None)


def gathered(network: Network, data: TrainingData, rows: np.ndarray) -> Sample:
    """Rows of data, in the types that the net takes."""
    specs, structure = flatten(network.inputs)
    sources: Sequence[Source] = data.x
    leaves = [source.take(rows, spec.dtype) for source, spec in zip(sources, specs, strict=True)]
    y, weight = data.take(rows)
    return Sample(unflatten(structure, leaves), y, weight)


def _some(rows: np.ndarray, rng: np.random.Generator, most: int) -> np.ndarray:
    """Some of the rows, in their order."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
