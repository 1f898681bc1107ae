"""Sources of mini-batches: all rows of arrays, or the consecutive blocks of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from madaline.errors import ConfigError, MadalineError, ShapeError
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.optim.optimizer import Optimizer
from madaline.train.ahead import ahead
from madaline.train.data import TrainingData, check_categories, read
from madaline.train.options import FitOptions
from madaline.train.recipe import Recipe
from madaline.train.sampling import Batches, CustomSampler, InOrder, Sampler, Shuffled, epoch_batches, n_steps
from madaline.train.stream import Chunk, Stream
from madaline.train.weights import counts_rows

if TYPE_CHECKING:
    from madaline.data.data_types import ClassWeights


@dataclass(frozen=True)
class Block:
    """Rows in memory and the batches that they are divided into."""

    data: TrainingData
    batches: Batches
    is_last: bool = False
    "Whether the epoch is known to end with it."


class BlockSource(Protocol):
    """The training data of a session.

    Attributes
    ----------
    data : TrainingData
        All rows, or the first ones of a stream: what they are like.
    epoch_rows : int or None
        Rows in memory that an epoch takes; None for a stream.
    epoch_steps : int or None
        Number of steps of an epoch, if known.
    steps_are_equal : bool
        Whether every epoch has this number of steps.
    """

    data: TrainingData
    epoch_rows: int | None
    epoch_steps: int | None
    steps_are_equal: bool

    def blocks(self, epoch: int) -> Iterator[Block]:
        """The blocks of an epoch, in a new order for each epoch."""

    def blocks_again(self, epoch: int) -> Iterator[Block]:
        """Blocks to look at after training: those of the epoch, or those that are still there."""

    def steps_of(self, epoch: int) -> int | None:
        """Number of steps of one epoch, if known."""

    def digest(self) -> str | None:
        """A checksum by which a checkpoint recognises the data; None if they may differ every time."""

    def describe(self) -> dict[str, Any]:
        """Further values that must match those of a checkpoint."""


class ArrayBlocks:
    """All rows, or those that were chosen (``is_chosen``), as one block."""

    def __init__(
        self,
        data: TrainingData,
        rows: np.ndarray,
        *,
        batch_size: int,
        sampler: Sampler,
        drop_last: bool,
        min_rows: int,
        seed: int,
        is_chosen: bool = False,
    ) -> None:
        self.data, self.rows, self._is_chosen = data, rows, is_chosen
        self.epoch_rows: int | None = len(rows)
        self._batches = partial(
            epoch_batches,
            rows,
            data.targets,
            batch_size=batch_size,
            sampler=sampler,
            seed=seed,
            drop_last=drop_last,
            min_rows=min_rows,
        )
        self.steps_are_equal = not isinstance(sampler, CustomSampler)
        n_rows = sampler.n_rows(len(rows), seed=seed) if isinstance(sampler, CustomSampler) else len(rows)
        self.epoch_steps: int | None = n_steps(n_rows, batch_size, drop_last, min_rows)

    def batches(self, epoch: int) -> Batches:
        """The batches of an epoch."""
        return self._batches(epoch=epoch)

    def blocks(self, epoch: int) -> Iterator[Block]:
        """The only block."""
        yield Block(self.data, self.batches(epoch), is_last=True)

    blocks_again = blocks

    def steps_of(self, epoch: int) -> int | None:
        """Number of steps of one epoch."""
        return self.epoch_steps if self.steps_are_equal else len(self.batches(epoch))

    def digest(self) -> str | None:
        """A checksum of some rows, and of the choice of rows if it was given."""
        return self.data.digest(self.rows if self._is_chosen else None)

    def describe(self) -> dict[str, Any]:
        """Numbers of rows."""
        sources = (*self.data.x, *self.data.y)
        return {"rows": len(self.rows), "shapes": [[source.n_rows, list(source.row_shape)] for source in sources]}


class StreamBlocks:
    """The blocks of a stream, each checked when it arrives.

    Parameters
    ----------
    stream : Stream
        Source of the rows.
    data : TrainingData
        The first chunk, which the others must resemble.
    model, recipe : Model, Recipe
        Purpose of the rows.
    class_weight : dict or array, optional
        Weights of classes, for every block.
    """

    def __init__(
        self,
        stream: Stream,
        data: TrainingData,
        model: Model,
        recipe: Recipe,
        *,
        class_weight: ClassWeights | None,
        batch_size: int,
        shuffle: bool,
        drop_last: bool,
        seed: int,
        min_rows: int,
    ) -> None:
        self.stream, self.data = stream, data
        self._model, self._loss, self.class_weight = model, recipe.loss, class_weight
        self.batch_size, self.shuffle, self.drop_last, self.seed = batch_size, shuffle, drop_last, seed
        self._min_rows = min_rows
        self._last: Block | None = None
        self.epoch_rows: int | None = None
        count = stream.n_rows
        self.epoch_steps = None if count is None else n_steps(count, batch_size, drop_last, self._min_rows)
        self.steps_are_equal = count is not None

    def blocks(self, epoch: int) -> Iterator[Block]:
        """The blocks of an epoch; those of stored rows are read ahead."""
        return ahead(self._blocks(epoch)) if self.stream.is_stored else self._blocks(epoch)

    def _blocks(self, epoch: int) -> Iterator[Block]:
        """The blocks of an epoch; an error if there are other than ``n_rows`` rows."""
        rows = steps = 0
        stream, size = self.stream, self.batch_size
        for chunk in stream.blocks(batch_size=size, seed=self.seed, epoch=epoch, shuffle=self.shuffle):
            data = self.read_rows(chunk, rows)
            batches = epoch_batches(
                np.arange(data.n_rows),
                None,
                batch_size=size,
                sampler=InOrder(),  # the stream has shuffled them
                seed=self.seed,
                epoch=epoch,
                drop_last=self.drop_last,
                min_rows=self._min_rows,
            )
            rows, steps = rows + data.n_rows, steps + len(batches)
            self._last = Block(data, batches)
            yield self._last
        if stream.n_rows is not None and stream.n_rows != rows:
            raise ConfigError(
                f"n_rows={stream.n_rows}, but the stream gave {rows} rows. Give the right number, or leave it out."
            )
        self.epoch_steps = steps

    def blocks_again(self, epoch: int) -> Iterator[Block]:
        """All blocks again; of an iterator, which cannot be restarted, the last one."""
        if self.stream.is_for_one_epoch:
            return iter([] if self._last is None else [self._last])
        return self.blocks(epoch)

    def steps_of(self, epoch: int) -> int | None:
        """Number of steps of one epoch, if known."""
        return self.epoch_steps

    def digest(self) -> str | None:
        """A checksum of the first rows of a file; a function may give other rows every time."""
        return self.data.digest() if self.stream.is_stored else None

    def describe(self) -> dict[str, Any]:
        """The shapes of rows, and the size of the shuffle buffer."""
        sources = (*self.data.x, *self.data.y)
        shapes = [[None, list(source.row_shape)] for source in sources]
        return {"rows": "stream", "shapes": shapes, "buffer": self.stream.buffer}

    def read_rows(self, chunk: Chunk, rows: int) -> TrainingData:
        """A chunk, checked; ``rows`` is the number of rows before it."""
        try:
            return read_chunk(chunk, self._model, self._loss, self.class_weight, self.data)
        except MadalineError as error:
            where = f" (in the stream, counted in the block after row {rows})"
            raise type(error)(f"{error}{where}") from None


def read_chunk(
    chunk: Chunk,
    model: Model,
    loss: Loss | dict[str, Loss],
    class_weight: ClassWeights | None,
    first: TrainingData,
) -> TrainingData:
    """A chunk of a stream, checked for its purpose; it must resemble the ``first`` one."""
    X, y, weight = chunk
    data = read(model.network, loss, X, y, sample_weight=weight, class_weight=class_weight, may_weigh_nothing=True)
    check_categories(model, data.x)
    if data.target_specs != first.target_specs or (data.weight is None) != (first.weight is None):
        raise ShapeError("The targets of the stream change their type or shape, or only some have weights.")
    return data


def check_stream(stream: Stream, y: Any, options: FitOptions, recipe: Recipe) -> None:
    """Raise an error for options that need all rows, which a stream does not provide."""
    sampler = options.row_sampler
    for name, value in {"y": y, "sample_weight": options.sample_weight}.items():
        if value is not None:
            raise ConfigError(f"{name} cannot be given with a stream, whose chunks are (X, y) or (X, y, weight).")
    if not isinstance(recipe.optimizer, Optimizer):
        raise ConfigError(f"{recipe.optimizer!r} needs all rows at once, which a stream does not provide.")
    if options.batch_size is None:
        raise ConfigError("batch_size=None needs all rows at once, which a stream does not provide. Give a number.")
    if counts_rows(options.class_weight):
        raise ConfigError(
            f"class_weight={options.class_weight!r} needs the counts of all rows, which a stream does not provide. "
            "Pass numbers."
        )
    if isinstance(options.validation, float):
        raise ConfigError(
            f"validation={options.validation!r}: a fraction of a stream cannot be split off. Pass separate data: "
            "(X, y)."
        )
    if not isinstance(sampler, (Shuffled, InOrder)):
        raise ConfigError(f"sampler={sampler!r} needs all rows at once, which a stream does not provide.")
    if stream.is_for_one_epoch and options.epochs > 1:
        raise ConfigError(
            f"epochs={options.epochs}: the stream was given as an iterator, which can be read only once. Pass a "
            "function that makes one: Stream(lambda: chunks)."
        )
    if stream.is_for_one_epoch and options.resume is not None:
        raise ConfigError("resume needs a stream that can be read again: Stream(lambda: chunks).")
