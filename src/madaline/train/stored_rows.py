"""Rows of files that every replica reads for itself, where it runs; the process that trains never sees them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import MadalineError
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.nn.initializers import stream as random_stream
from madaline.train.blocks import Block, StreamBlocks, read_chunk
from madaline.train.data import TrainingData
from madaline.train.parquet_rows import ChosenColumns, FilePart, ParquetRows, read_part
from madaline.train.sampling import Batches
from madaline.train.stream import joined_chunks

if TYPE_CHECKING:
    from madaline.data.data_types import ClassWeights

_read: dict[Any, TrainingData] = {}
"Rows that this process has read for the replicas of the current block."


@dataclass(frozen=True)
class StoredRows(TrainingData):
    """The rows of a block, which are read when batches of them are needed.

    ``x``, ``y``, ``weight`` and ``targets`` hold one row, as an example.
    """

    columns: ChosenColumns
    parts: tuple[FilePart, ...]
    bounds: tuple[int, ...]
    "The rows of replica ``r`` are those from ``bounds[r]`` to ``bounds[r + 1]``."
    class_weight: ClassWeights | None
    block: tuple[Any, ...]
    "Identifies the block."

    def for_batches(
        self, batches: Batches, model: Model, loss: Loss | dict[str, Loss]
    ) -> tuple[TrainingData, Batches, int]:
        """The rows of the replica that the batches belong to, the batches of these rows, and the first row's number."""
        if not len(batches.order):
            return self, batches, 0
        replica = int(np.searchsorted(self.bounds, batches.order[0], side="right")) - 1
        first, stop = self.bounds[replica], self.bounds[replica + 1]
        if batches.order.max() >= stop:  # of several replicas, to explain an error
            first, stop = int(batches.order.min()), int(batches.order.max()) + 1
        return self._rows(first, stop, model, loss), Batches(batches.order - first, batches.starts), first

    def _rows(self, first: int, stop: int, model: Model, loss: Loss | dict[str, Loss]) -> TrainingData:
        key = (self.block, first, stop)
        if key not in _read:
            for other in [known for known in _read if known[0] != self.block]:
                del _read[other]
            chunk = joined_chunks([read_part(self.columns, part) for part in _cut(self.parts, first, stop)])
            example = replace(self, n_rows=1)
            try:
                _read[key] = read_chunk(chunk, model, loss, self.class_weight, example)
            except MadalineError as error:
                named = self.parts[0].file
                raise type(error)(f"{error} (In rows that a replica read, in or after {named!r}.)") from None
        return _read[key]


class StoredBlocks(StreamBlocks):
    """The blocks of files for several replicas.

    The parts of the files are put in a new order in every epoch, and a block takes consecutive ones. Each replica gets
    consecutive rows of the block, which it reads and takes in a random order. Which rows these are depends on the
    random seed and the number of replicas alone.
    """

    def __init__(self, *args: Any, replicas: int, local_steps: int, **options: Any) -> None:
        super().__init__(*args, **options)
        stored = self.stream.stored
        assert stored is not None
        self._files: ParquetRows = stored
        self._replicas, self._id = replicas, uuid.uuid4().hex
        own = max(1, self.batch_size // replicas)
        rounds = max(1, -(-self.stream.buffer // (own * local_steps)))
        self._block_steps = rounds * local_steps
        X, y, weight = self.stream.first()
        self._example = self.read_rows((_head(X), _head(y), None if weight is None else weight[:1]), 0)

    def blocks(self, epoch: int) -> Iterator[Block]:
        """The blocks of an epoch; nothing is read."""
        rng = random_stream(self.seed, "rows", f"epoch {epoch}")
        parts = self._files.parts
        if self.shuffle:
            parts = [parts[number] for number in rng.permutation(len(parts))]
        n_steps, size = self.epoch_steps or 0, self.batch_size
        end = n_steps * size if self.drop_last else self._files.n_rows
        for first in range(0, n_steps, self._block_steps):
            last = min(first + self._block_steps, n_steps)
            start, stop = first * size, end if last == n_steps else last * size
            starts = np.append(np.arange(0, (last - first) * size, size, dtype=np.int64), stop - start)
            order, bounds = self._dealt(starts, rng)
            data = StoredRows(
                **{name: getattr(self._example, name) for name in ("x", "y", "weight", "targets", "target_specs")},
                n_rows=stop - start,
                columns=self._files.columns,
                parts=tuple(_cut(parts, start, stop)),
                bounds=bounds,
                class_weight=self.class_weight,
                block=(self._id, epoch, first),
            )
            yield Block(data, Batches(order, starts), is_last=last == n_steps)

    def blocks_again(self, epoch: int) -> Iterator[Block]:
        """All rows, read by this process."""
        return super().blocks(epoch)

    def _dealt(self, starts: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, ...]]:
        """Rows of the batches so that replica ``r``, which takes every so many-th row, gets consecutive ones."""
        count = self._replicas
        order = np.empty(int(starts[-1]), np.int64)
        places = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))  # of each row in its batch
        bounds = [0]
        for replica in range(count):
            own = np.flatnonzero(places % count == replica)
            order[own] = bounds[-1] + (rng.permutation(len(own)) if self.shuffle else np.arange(len(own)))
            bounds.append(bounds[-1] + len(own))
        return order, tuple(bounds)


def _cut(parts: Any, first: int, stop: int) -> Iterator[FilePart]:
    """The parts, or pieces of them, that hold the rows from ``first`` to ``stop``."""
    at = 0
    for part in parts:
        low, high = max(first - at, 0), min(stop - at, part.n_rows)
        if low < high:
            yield FilePart(part.file, part.start + low, high - low)
        at += part.n_rows


def _head(given: Any) -> Any:
    return {name: item[:1] for name, item in given.items()} if isinstance(given, dict) else given[:1]
