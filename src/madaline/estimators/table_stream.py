"""Tables larger than memory: encoded once to a file of records, from which the net is trained."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from madaline import container
from madaline.checksum import PieceReader, PieceWriter
from madaline.data.data_types import TableLike, Targets
from madaline.data.table import Table
from madaline.errors import ConfigError, MadalineError
from madaline.estimators.parameters import NetParameters
from madaline.estimators.row_set import RowSet
from madaline.train.stream import Stream

PIECE_BYTES = 1 << 17
"Bytes of rows that stay together: few enough to mix well, enough to be read fast."
BUFFER_BYTES = 1 << 25
"Bytes of rows that are shuffled together."
BUFFER_ROWS = 1 << 17
"Maximum number of rows that are shuffled together."
TablePart = tuple[TableLike | Table, Targets]
"Rows and their targets."
MATRIX = "matrix"
"Name of the input of a net that takes a single matrix."


class TableStream:
    """A table that does not fit in memory, for ``fit`` of an estimator with ``data`` or ``preset``.

    The rows are encoded once, part by part, to a file of records; training reads the file in random order.

    Parameters
    ----------
    parts : callable
        Returns an iterator over the table, each part ``(X, y)``.
    sample : (X, y), optional
        Rows in memory that show what each column holds; the first part by default.
    n_rows : int, optional
        Number of rows, used to check that the disk has enough space.
    folder : path, optional
        Where the file is written. It is kept there, and reused by a resumed run. By default a temporary folder.

    Examples
    --------
    >>> import madaline as md
    >>> def parts():
    ...     for k in range(3):
    ...         x = np.random.default_rng(k).normal(size=200)
    ...         yield {"x": x, "weekday": np.arange(200) % 7}, x > 0
    >>> X, y = next(parts())
    >>> clf = md.MLPClassifier(preset="auto", max_iter=5, random_state=0)
    >>> clf.fit(md.data.TableStream(parts), validation=(X, y)).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        parts: Callable[[], Iterable[TablePart]],
        *,
        sample: TablePart | None = None,
        n_rows: int | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if not callable(parts):
            raise ConfigError("TableStream needs a function that returns an iterator over parts (X, y).")
        self.parts, self.n_rows = parts, n_rows
        self._sample = sample
        self._folder = None if folder is None else Path(folder)

    @property
    def folder(self) -> Path:
        """Where the file is written; a temporary folder is removed with the stream."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp())
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    @property
    def sample(self) -> TablePart:
        """Rows that show what each column holds."""
        if self._sample is None:
            self._sample = next(iter(self.parts()))
        return self._sample

    def check(self, settings: NetParameters, y: object, sample_weight: object, validation: object) -> TablePart:
        """The sample, after a check that an estimator can be fitted to a stream."""
        if y is not None or sample_weight is not None:
            raise ConfigError("A TableStream brings its own targets: leave out y and sample_weight.")
        if settings.data is None:
            raise ConfigError('A TableStream needs data="auto" or preset="auto".')
        if validation is None and settings.validation is None and (settings.early_stopping or settings.preset):
            raise ConfigError("A TableStream needs separate validation data: fit(stream, validation=(X, y)).")
        return self.sample


class EncodedRows:
    """A file of records, each with the inputs, the target and the weight of a row.

    The file is read in pieces in random order, so that rows that are neighbours in the table are apart in training;
    only the pieces of one buffer are in memory at a time.

    Parameters
    ----------
    path : path
        The file, as :func:`encode_stream` writes it.
    record : numpy dtype
        A field ``x`` with one field for each input of the net, ``y`` for the target and optionally ``weight``.
    """

    def __init__(self, path: str | os.PathLike[str], record: np.dtype[Any]) -> None:
        self.path, self.record = Path(path), record
        self._file = PieceReader(self.path, record, piece_bytes(record))
        self.n_rows = self._file.n_rows

    @property
    def buffer_rows(self) -> int:
        """Number of rows to shuffle together; it depends only on the records, so every machine trains the same."""
        return max(1, min(BUFFER_ROWS, BUFFER_BYTES // self.record.itemsize))

    def stream(self) -> Stream:
        """The rows as a trainer takes them."""
        return Stream(self, buffer=self.buffer_rows)

    def chunks(self, rng: np.random.Generator | None) -> Iterator[tuple[Any, ...]]:
        """All rows, in chunks of several pieces each; the pieces in random order with ``rng``."""
        piece_rows = piece_bytes(self.record) // self.record.itemsize
        numbers = np.arange(-(-self.n_rows // piece_rows))
        numbers = numbers if rng is None else rng.permutation(numbers)
        together = max(1, self.buffer_rows // (8 * piece_rows))
        for first in range(0, len(numbers), together):
            rows = np.concatenate(list(self._file.pieces(numbers[first : first + together])))
            names = self.record["x"].names or ()
            x = rows["x"][MATRIX] if names == (MATRIX,) else {name: rows["x"][name] for name in names}
            yield (x, rows["y"]) + ((rows["weight"],) if "weight" in (self.record.names or ()) else ())


def piece_bytes(record: np.dtype[Any]) -> int:
    """Number of bytes of a piece: whole records."""
    return max(1, PIECE_BYTES // record.itemsize) * record.itemsize


def encode_stream(stream: TableStream, encode: Callable[[Any, Any], RowSet], *, key: Any) -> EncodedRows:
    """Write the rows of a table as a net takes them; an existing file of the same rows and plans is reused.

    Parameters
    ----------
    stream : TableStream
    encode : callable
        Turns a part of the table and its targets into the arrays of the net.
    key : plain data
        What the encoding depends on; it names the file.
    """
    record = record_of(encode(*stream.sample))
    named = hashlib.sha256(json.dumps([key, str(record)], sort_keys=True, default=str).encode()).hexdigest()[:16]
    path = stream.folder / f"rows-{named}.bin"
    if path.exists():
        return EncodedRows(path, record)
    needed, free = (stream.n_rows or 0) * record.itemsize, shutil.disk_usage(stream.folder).free
    if needed > free:
        raise OSError(
            f"The encoded rows need {needed / 1e9:.1f} GB in {os.fspath(stream.folder)!r}, and the disk has "
            f"{free / 1e9:.1f} GB free. Use another folder, or train on a random sample of the rows."
        )
    container.remove_unfinished(path)
    done = 0
    with container.replacing(path) as file:
        writer = PieceWriter(file, piece_bytes(record))
        for X, y in stream.parts():
            try:
                rows = _records(encode(X, y), record)
            except MadalineError as error:
                raise type(error)(f"{error} (Rows are counted from training row {done:,}.)") from None
            writer.write(rows)
            done += len(rows)
        writer.finish()
    return EncodedRows(path, record)


def record_of(rows: RowSet) -> np.dtype[Any]:
    """The record of a row: float32 numbers, int32 categories, the target, and the weight if there is one."""
    inputs = rows.X if isinstance(rows.X, dict) else {MATRIX: rows.X}
    fields: list[Any] = [
        (name, np.int32 if array.dtype.kind == "i" else np.float32, array.shape[1:]) for name, array in inputs.items()
    ]
    target = (np.int64 if rows.y.dtype.kind in "iu" and rows.y.ndim == 1 else np.float32, rows.y.shape[1:])
    weight = [] if rows.weight is None else [("weight", np.float32)]
    return np.dtype([("x", fields), ("y", *target), *weight])


def _records(rows: RowSet, record: np.dtype[Any]) -> np.ndarray:
    found = np.empty(len(rows), record)
    inputs = rows.X if isinstance(rows.X, dict) else {MATRIX: rows.X}
    for name, array in inputs.items():
        found["x"][name] = array
    found["y"] = rows.y
    if rows.weight is not None:
        found["weight"] = rows.weight
    return found
