"""The rows of each mini-batch: a function of the random seed and the epoch, so that training can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.errors import ConfigError, DtypeError
from madaline.nn.initializers import stream
from madaline.registry import Registry

SAMPLERS: Registry[type[Sampler]] = Registry("sampler")

Rows = np.ndarray[Any, np.dtype[np.int64]]


@description
class Sampler(Description):
    """A rule for the order of the rows in an epoch: ``order(rows, target, rng)`` returns them."""

    registry: ClassVar[Registry[Any]] = SAMPLERS

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        """Row numbers of an epoch, chosen from ``rows``; ``target`` holds their targets, if the rule needs them."""
        raise NotImplementedError


@description
class Shuffled(Sampler):
    """Every row once, in a new order every epoch (sampling without replacement). Lecture row A9."""

    name: ClassVar[str] = "shuffled"

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        return rng.permutation(rows)


@description
class InOrder(Sampler):
    """Every row once, in the given order."""

    name: ClassVar[str] = "in_order"

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        return rows


@description
class WithReplacement(Sampler):
    """Rows drawn at random with replacement. Lecture row A9."""

    name: ClassVar[str] = "with_replacement"

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        return rows[rng.integers(len(rows), size=len(rows))]


@description
class Balanced(Sampler):
    """Rows drawn at random so that all classes are equally likely, and all rows of a class."""

    name: ClassVar[str] = "balanced"

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        labels = np.asarray(target)
        if labels.ndim != 1 or labels.dtype.kind not in "iub":
            raise DtypeError(
                f"sampler='balanced' needs one class index for each row, but the targets are {labels.dtype} of shape "
                f"{labels.shape}. Use sampler='shuffled'."
            )
        _, classes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        chance = 1.0 / (len(counts) * counts[classes])
        return rows[rng.choice(len(rows), size=len(rows), p=chance / chance.sum())]


@description
class CustomSampler(Sampler):
    """A custom function ``(n_rows, rng) -> positions``."""

    function: Callable[[int, np.random.Generator], Any]

    def n_rows(self, n_rows: int, *, seed: int) -> int:
        """Number of positions in the first epoch; schedules assume the same number in the others."""
        return len(self.order(np.arange(n_rows), None, _random(seed, 0)))

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        n_rows = len(rows)
        found = np.asarray(self.function(n_rows, rng))
        if (
            found.ndim != 1
            or found.dtype.kind not in "iu"
            or (found.size and not 0 <= found.min() <= found.max() < n_rows)
        ):
            raise ConfigError(f"sampler returned {found!r}; it must return positions from 0 to {n_rows - 1}.")
        if not found.size:
            raise ConfigError(f"sampler returned no rows; it must return some of the {n_rows}.")
        return rows[found.astype(np.int64)]


SamplerLike = str | Sampler | type[Sampler] | Callable[..., Any]
"A sampler: its name, an object, or a function that gives the order of the rows."


def as_sampler(what: SamplerLike | None, *, shuffle: bool = True) -> Sampler:
    """A sampler from a name, a sampler, a function, or ``shuffle``."""
    if what is None:
        return Shuffled() if shuffle else InOrder()
    if callable(what) and not isinstance(what, (type, Sampler)):
        return CustomSampler(what)
    return Sampler.of(what)


@dataclass(frozen=True)
class Batches:
    """The batches of an epoch: batch ``k`` is ``order[starts[k] : starts[k + 1]]``."""

    order: Rows
    starts: Rows

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, start: int, stop: int) -> Batches:
        """Some of the batches."""
        first, last = self.starts[start], self.starts[stop]
        return Batches(self.order[first:last], self.starts[start : stop + 1] - first)

    @staticmethod
    def joined(parts: list[Batches]) -> Batches:
        """The batches of several epochs, concatenated."""
        if len(parts) == 1:
            return parts[0]
        sizes = np.cumsum([0, *(len(part.order) for part in parts)])
        starts = [part.starts[:-1] + size for part, size in zip(parts, sizes[:-1], strict=True)]
        return Batches(np.concatenate([part.order for part in parts]), np.concatenate([*starts, sizes[-1:]]))


def epoch_batches(
    rows: Rows,
    target: Any,
    *,
    batch_size: int,
    sampler: Sampler,
    seed: int,
    epoch: int,
    drop_last: bool = False,
    min_rows: int = 1,
) -> Batches:
    """The batches of one epoch.

    Parameters
    ----------
    rows : array of int
        The rows of the data that may be used.
    target : array
        Targets of all rows of the data; only some samplers need them.
    batch_size : int
        Mini-batch size. A smaller last batch is kept, unless ``drop_last``; one of fewer than ``min_rows`` rows is
        merged into the one before.
    sampler : Sampler
        The rule.
    seed, epoch : int
        Further values that the order depends on.
    """
    if isinstance(sampler, Shuffled) and batch_size >= len(rows):
        sampler = InOrder()  # the order within one batch does not matter, and rows in order need not be gathered
    if isinstance(sampler, Balanced) and isinstance(target, dict):
        raise ConfigError("sampler='balanced' needs one class for each row, but the net has several outputs.")
    wanted = target[rows] if isinstance(sampler, Balanced) else None
    order = sampler.order(rows, wanted, _random(seed, epoch))
    if not len(order):
        return Batches(order, np.zeros(1, np.int64))
    count = n_steps(len(order), batch_size, drop_last, min_rows)
    stop = min(len(order), count * batch_size) if drop_last else len(order)
    starts = np.arange(0, (count + 1) * batch_size, batch_size, dtype=np.int64)
    starts[-1] = stop
    return Batches(np.ascontiguousarray(order[:stop], dtype=np.int64), starts)


def _random(seed: int, epoch: int) -> np.random.Generator:
    return stream(seed, "rows", f"epoch {epoch}")


def n_steps(n_rows: int, batch_size: int, drop_last: bool = False, min_rows: int = 1) -> int:
    """Number of batches that :func:`epoch_batches` makes of this many rows."""
    leaves_out = drop_last or n_rows % batch_size < min_rows
    return max(n_rows // batch_size, 1) if leaves_out else -(-n_rows // batch_size)


def split_rows(n_rows: int, fraction: float, *, seed: int, target: Any = None) -> tuple[Rows, Rows]:
    """Split rows at random into a training set and a validation set, stratified by class if targets are given."""
    if not 0.0 < fraction < 1.0:
        raise ConfigError(f"validation={fraction!r} must be a fraction between 0 and 1, or data: validation=(X, y).")
    rng = stream(seed, "rows", "validation")
    order = rng.permutation(n_rows)
    n_validation = max(1, round(fraction * n_rows))
    if n_validation >= n_rows:
        raise ConfigError(f"validation={fraction!r} of {n_rows} rows leaves no rows to train on.")
    if target is None:
        validation = order[:n_validation]
    else:
        # The rows of each class are spread evenly over 0 .. 1, so the first part of all has the same fraction of each.
        labels = np.asarray(target)[order]
        by_class = np.argsort(labels, kind="stable")
        _, first, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
        place = (np.arange(n_rows) - np.repeat(first, counts) + 0.5) / np.repeat(counts, counts)
        validation = order[by_class[np.argsort(place, kind="stable")[:n_validation]]]
    is_validation = np.zeros(n_rows, dtype=bool)
    is_validation[validation] = True
    return np.flatnonzero(~is_validation), np.flatnonzero(is_validation)
