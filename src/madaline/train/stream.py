"""Data in chunks: made by a function or read from a file, and shuffled in a buffer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np

from madaline.errors import ConfigError, ShapeError
from madaline.graph.shapes import show
from madaline.graph.tree import flatten, tree_map
from madaline.nn.initializers import stream as random_stream
from madaline.train.data import as_csr, check_mask, is_sparse
from madaline.train.parquet_rows import ChosenColumns, ParquetRows, is_paths
from madaline.train.ray_rows import RayRows, is_ray_dataset

Chunk = tuple[Any, Any, Any]
"Rows, targets, weights (or None)."


@runtime_checkable
class RowSource(Protocol):
    """Stored rows that can be read in any order."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def chunks(self, rng: np.random.Generator | None) -> Iterable[Any]:
        """All rows as ``(X, y)`` or ``(X, y, weight)``; in a random order if there is an ``rng``."""


class Stream:
    """Chunks of training rows, read again every epoch.

    Rows are shuffled in a buffer: when it is full, it is shuffled, half of it is used for training, and it is filled
    again. The order depends only on the random seed and the epoch, so that training can be resumed. Layers and
    initializers that learn from the data before training use the first chunk.

    Parameters
    ----------
    chunks : callable, iterable, path, dataset of Ray or RowSource
        A function that returns an iterator of ``(X, y)`` or ``(X, y, weight)``; a list of them; an iterator, which is
        enough for one epoch; a Parquet file, a folder or pattern (``"day/*.parquet"``) of them or a list of paths, of
        which only a part is in memory; a ``ray.data`` dataset; or an object with ``n_rows`` and ``chunks(rng)``, which
        returns them in a new order for every ``rng``. Stored rows are read by another thread, ahead of training.
    target, weight : str, optional
        Target column and weight column of the files.
    features : sequence of str, optional
        Feature columns of the files that hold numbers; by default all others.
    categories : sequence of str, optional
        Feature columns of the files that hold categories, as integers or texts, of any number. They become integers by
        :func:`madaline.data.hash_categories`; the inputs of the net are then ``{"numbers": ..., "categories": ...}``.
    buckets : int, default 2**18
        Number of integers for each column of categories.
    buffer : int, default 65536
        Number of rows that are shuffled together.
    n_rows : int, optional
        Total number of rows, for schedules that depend on the number of steps. It is known for a file.

    Examples
    --------
    >>> import madaline as md
    >>> def chunks():
    ...     for k in range(10):
    ...         X = np.random.default_rng(k).normal(size=(100, 3))
    ...         yield X, X @ [[1.0], [2.0], [3.0]]
    >>> trainer = md.Trainer(md.Linear(1), optimizer=md.SGD(0.1))
    >>> history = trainer.fit(md.Stream(chunks, buffer=500), epochs=3)
    >>> trainer.model.params["W"][:, 0].round(3)
    array([1., 2., 3.], dtype=float32)
    """

    def __init__(
        self,
        chunks: Callable[[], Iterable[Any]] | Iterable[Any] | str | os.PathLike[str] | RowSource,
        *,
        target: str | None = None,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        categories: Sequence[str] = (),
        buckets: int = 1 << 18,
        buffer: int = 1 << 16,
        n_rows: int | None = None,
    ) -> None:
        for name, count in (("buffer", buffer), ("n_rows", n_rows)):
            if count is not None and (not isinstance(count, (int, np.integer)) or count < 1):
                raise ConfigError(f"{name}={count!r} must be a number of rows, at least 1.")
        self.buffer, self.n_rows = buffer, n_rows
        self._file: RowSource | None = None
        self._chunks: Any = chunks
        columns = ChosenColumns(target, weight, features, categories, buckets)
        if is_paths(chunks):
            self._file = ParquetRows(chunks, columns)
        elif is_ray_dataset(chunks):
            self._file = RayRows(chunks, columns)
        elif isinstance(chunks, RowSource):
            self._file = chunks
        elif target is not None or weight is not None or features is not None or categories:
            raise ConfigError(
                "target, weight, features and categories are columns of a file; chunks are (X, y) or (X, y, weight)."
            )
        elif not callable(chunks) and not isinstance(chunks, Iterable):
            raise ConfigError(f"chunks={chunks!r} must be a function that returns chunks, a list of them, or a file.")
        if self._file is not None:
            self.n_rows = self._file.n_rows
        self._once = chunks if isinstance(chunks, Iterator) else None
        self._first: Chunk | None = None

    @property
    def is_for_one_epoch(self) -> bool:
        """Whether it was given as an iterator, which cannot be read again."""
        return self._once is not None

    @property
    def is_stored(self) -> bool:
        """Whether its rows are stored, so that they are the same every time they are read."""
        return self._file is not None

    @property
    def stored(self) -> ParquetRows | None:
        """The files that its rows are in, if every computer with the same paths can read them."""
        return self._file if isinstance(self._file, ParquetRows) else None

    def first(self) -> Chunk:
        """The first chunk, as an example of the rows."""
        if self._first is None:
            source = self._once if self._once is not None else self._given(np.random.default_rng(0))
            for chunk in map(_as_chunk, source):
                if _n_rows(chunk):
                    self._first = chunk
                    return chunk
            raise ShapeError("The stream has no chunks: there is nothing to learn from.")
        return self._first

    def blocks(self, *, batch_size: int, seed: int, epoch: int, shuffle: bool) -> Iterator[Chunk]:
        """The rows of an epoch in blocks of full mini-batches, except for the last block."""
        rng = random_stream(seed, "rows", f"epoch {epoch}")
        room = max(self.buffer, 2 * batch_size)
        waiting: list[Chunk] = []
        count = 0
        for chunk in self._all(rng if shuffle else None):
            waiting.append(chunk)
            count += _n_rows(chunk)
            if count < room:
                continue
            whole = _mixed(waiting, rng if shuffle else None)
            # Keep at least one batch, so that the last block is never a row or two.
            kept = max(count // 2 if shuffle else 0, batch_size)
            used = (count - kept) // batch_size * batch_size
            yield _part(whole, slice(None, used))
            waiting, count = [_part(whole, slice(used, None))], count - used
        if count:
            yield _mixed(waiting, rng if shuffle else None)

    def _all(self, rng: np.random.Generator | None) -> Iterator[Chunk]:
        if self._once is None:
            return map(_as_chunk, self._given(rng))
        first, self._first = self._first, None
        return chain([] if first is None else [first], map(_as_chunk, self._once))

    def _given(self, rng: np.random.Generator | None) -> Iterable[Any]:
        if self._file is not None:
            return self._file.chunks(rng)
        found: Iterable[Any] = self._chunks() if callable(self._chunks) else self._chunks
        return found


def _as_chunk(item: Any) -> Chunk:
    if not isinstance(item, tuple) or len(item) not in (2, 3):
        raise ConfigError(f"A chunk of the stream is {type(item).__name__}; it must be (X, y) or (X, y, weight).")
    X, y, weight = (*item, None) if len(item) == 2 else item
    chunk = (_arrays(X), _arrays(X if y is None else y), None if weight is None else np.asarray(weight))
    counts = {np.shape(leaf)[0] for leaf in flatten(chunk)[0] if leaf is not None}
    if len(counts) != 1:
        raise ShapeError(f"A chunk of the stream has {sorted(counts)} rows of inputs, targets and weights.")
    return chunk


def _arrays(given: Any) -> Any:
    """Arrays or CSR matrices, in the given nesting."""
    if is_sparse(given):
        return as_csr(given, "A chunk of the stream")
    if isinstance(given, dict):
        return {name: _arrays(item) for name, item in given.items()}
    if isinstance(given, tuple):
        return tuple(map(_arrays, given))
    check_mask(given, "A chunk of the stream")
    return np.atleast_1d(np.asarray(given))


def _n_rows(chunk: Chunk) -> int:
    return int(np.shape(flatten(chunk)[0][0])[0])


def _part(chunk: Chunk, rows: Any) -> Chunk:
    found: Chunk = tree_map(lambda leaf: None if leaf is None else leaf[rows], chunk)
    return found


def _mixed(chunks: list[Chunk], rng: np.random.Generator | None) -> Chunk:
    """Concatenated chunks; their rows are in a random order if there is an ``rng``."""
    structures = {str(flatten(chunk)[1]) for chunk in chunks}
    if len(structures) > 1 or len({chunk[2] is None for chunk in chunks}) > 1:
        raise ShapeError("The chunks have different names of inputs or targets, or only some of them have weights.")
    joined: Chunk = tree_map(lambda *leaves: _joined(leaves), *chunks)
    return joined if rng is None else _part(joined, rng.permutation(_n_rows(joined)))


def joined_chunks(chunks: Sequence[Any]) -> Chunk:
    """Several chunks as one, in their order."""
    return _mixed(list(map(_as_chunk, chunks)), None)


def _joined(leaves: Sequence[Any]) -> Any:
    """Concatenated rows; None stays None."""
    if leaves[0] is None:
        return None
    for leaf in leaves:
        if leaf.shape[1:] != leaves[0].shape[1:]:
            raise ShapeError(
                f"A chunk of the stream has rows of shape {show(leaf.shape[1:])}, others of "
                f"{show(leaves[0].shape[1:])}."
            )
    if any(map(is_sparse, leaves)):
        from scipy.sparse import vstack  # imported only with sparse matrices

        return vstack(leaves, format="csr")
    return np.concatenate(leaves)
