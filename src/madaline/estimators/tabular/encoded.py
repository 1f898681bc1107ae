"""Rows of a table as a net takes them, in a file of records: tables larger than memory are trained on from it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from madaline import container
from madaline.data.encode import NUMBERS, TablePlan
from madaline.data.target import NumberTarget, TargetPlan
from madaline.errors import MadalineError
from madaline.train.stream import Stream

PIECE_BYTES = 1 << 17
"Bytes of rows that lie and stay together: few enough to mix well, enough to be read fast."
BUFFER_BYTES = 1 << 25
"Bytes of rows that are shuffled together."
BUFFER_ROWS = 1 << 17
"Rows that are shuffled together at most."


class EncodedRows:
    """A file of records, each with the inputs and the target of a row.

    It is read in pieces from anywhere in it, so that rows which lie together in the table come apart in training, be
    the table sorted or not; only the pieces of a buffer are in memory at a time.

    Parameters
    ----------
    path : path
        The file, as :func:`encode_rows` writes it.
    record : numpy dtype
        A field ``x`` with one for each input of the net, and a field ``y`` for the target.
    """

    def __init__(self, path: str | os.PathLike[str], record: np.dtype[Any]) -> None:
        self.path, self.record = Path(path), record
        self.n_rows = self.path.stat().st_size // record.itemsize

    @property
    def piece_rows(self) -> int:
        """Rows of a piece."""
        return max(1, PIECE_BYTES // self.record.itemsize)

    @property
    def buffer_rows(self) -> int:
        """Rows to shuffle together; of the records' size alone, so that another machine trains the same."""
        return max(1, min(BUFFER_ROWS, BUFFER_BYTES // self.record.itemsize))

    def stream(self) -> Stream:
        """The rows as training takes them."""
        return Stream(self, buffer=self.buffer_rows)

    def chunks(self, rng: np.random.Generator | None) -> Iterator[tuple[Any, Any]]:
        """All rows, in chunks of several pieces each; the pieces in a random order if there is an ``rng``."""
        starts = np.arange(0, self.n_rows, self.piece_rows)
        starts = starts if rng is None else rng.permutation(starts)
        together = max(1, self.buffer_rows // (8 * self.piece_rows))
        with self.path.open("rb") as file:
            for first in range(0, len(starts), together):
                pieces = [self._piece(file, int(start)) for start in starts[first : first + together]]
                rows = np.concatenate(pieces)
                yield {name: rows["x"][name] for name in self.record["x"].names or ()}, rows["y"]

    def _piece(self, file: Any, start: int) -> np.ndarray:
        file.seek(start * self.record.itemsize)
        return np.fromfile(file, self.record, min(self.piece_rows, self.n_rows - start))


def record_of(table: TablePlan, target: TargetPlan) -> np.dtype[Any]:
    """What a row is written as: float32 numbers, the numbers of embedded categories, the target."""
    width = len(table.features())
    inputs: list[Any] = [(NUMBERS, np.float32, (width,))] if width else []
    inputs += [(name, np.int32) for name in table.inputs().values()]
    is_number = isinstance(target, NumberTarget)
    shape = (target.n_outputs,) if is_number or target.task == "multilabel" else ()
    return np.dtype([("x", inputs), ("y", np.float32 if shape else np.int64, shape)])


def encode_rows(
    folder: str | os.PathLike[str],
    batches: Iterable[Any],
    table: TablePlan,
    target: TargetPlan,
    targets: Sequence[str],
    *,
    n_rows: int,
) -> EncodedRows:
    """Write rows as a net takes them; a file of the same rows and plans that is there already is taken as it is.

    Parameters
    ----------
    folder : path
        Where; the file is named after what is in it, and is there when it is whole.
    batches : iterable of polars data frames
        The rows, part by part, none without a target.
    table, target : TablePlan, TargetPlan
        How they are encoded.
    targets : sequence of str
        The columns to learn.
    n_rows : int
        How many there are at most, to see whether the disk has room.
    """
    plans = json.dumps([table.to_dict(), target.to_dict(), list(targets)], sort_keys=True)
    path = Path(folder) / f"rows-{hashlib.sha256(plans.encode()).hexdigest()[:16]}.bin"
    record = record_of(table, target)
    if path.exists():
        return EncodedRows(path, record)
    needed, free = n_rows * record.itemsize, shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            f"The rows take {needed / 1e9:.1f} GB in {os.fspath(folder)!r} as the net takes them, and the disk has "
            f"{free / 1e9:.1f} GB free. Choose another --out, or draw some of them: --rows."
        )
    container.remove_unfinished(path)
    done = 0
    with container.replacing(path) as file:
        for batch in batches:
            try:
                _records(batch, table, target, targets, record).tofile(file)
            except MadalineError as error:
                raise type(error)(f"{error} (Rows are counted from row {done:,} of those to train on.)") from None
            done += len(batch)
    return EncodedRows(path, record)


def _records(
    batch: Any, table: TablePlan, target: TargetPlan, targets: Sequence[str], record: np.dtype[Any]
) -> np.ndarray:
    rows = np.empty(len(batch), record)
    for name, column in table.encode(batch.drop(targets)).items():
        rows["x"][name] = column
    encoded = target.encode(batch[targets[0]] if len(targets) == 1 else batch.select(targets))
    rows["y"] = encoded.reshape(rows["y"].shape)
    return rows
