"""A training run over a stream: block after block of rows, each trained on as it comes."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from madaline.errors import ConfigError, MadalineError, ShapeError
from madaline.optim.optimizer import Optimizer
from madaline.train.data import Data, check_categories, read
from madaline.train.recipe import Recipe
from madaline.train.run import Run
from madaline.train.sampling import Batches, InOrder, Sampler, Shuffled, epoch_batches
from madaline.train.stream import Chunk, Stream
from madaline.train.weights import counts_rows


def check_stream(
    stream: Stream,
    recipe: Recipe,
    given: Mapping[str, Any],
    epochs: int | None,
    batch_size: int | None,
    class_weight: Any,
    validation: Any,
    sampler: Sampler,
) -> None:
    """An error for what a stream cannot do, as nobody knows all its rows."""
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"{name} cannot be given with a stream, whose chunks are (X, y) or (X, y, weight).")
    if not isinstance(recipe.optimizer, Optimizer):
        raise ConfigError(f"{recipe.optimizer!r} takes all rows at once, and a stream never has them.")
    if batch_size is None:
        raise ConfigError("batch_size=None takes all rows at once, and a stream never has them. Give a number.")
    if counts_rows(class_weight):
        raise ConfigError(f"class_weight={class_weight!r} counts all rows, and a stream never has them. Give numbers.")
    if isinstance(validation, float):
        raise ConfigError(f"validation={validation!r} of a stream cannot be held back. Give other data: (X, y).")
    if not isinstance(sampler, (Shuffled, InOrder)):
        raise ConfigError(f"sampler={sampler!r} chooses among all rows, and a stream never has them.")
    if stream.is_for_one_epoch and epochs is not None and epochs > 1:
        raise ConfigError(
            f"epochs={epochs}: the stream was given as an iterator, which can be gone through once. Give a function "
            "that makes one: Stream(lambda: chunks)."
        )


class StreamRun(Run):
    """A run whose data are those of the block it is at.

    Parameters
    ----------
    stream : Stream
        Where rows come from.
    class_weight : dict or array, optional
        Weights of classes, for every block.
    *args, **options
        As of :class:`Run`; the data are the first chunk.
    """

    def __init__(self, stream: Stream, class_weight: Any, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.stream, self.class_weight = stream, class_weight
        self._specs = self.data.target_specs
        self._is_weighted = self.data.weight is not None

    @functools.cached_property
    def digest(self) -> str | None:
        """Of the first rows of a file; what a function gives may be made anew every time."""
        return self.data.digest() if self.stream.is_at_rest else None

    def batches(self, epoch: int) -> Batches:
        """The batches of the block that is there, in its order: it is shuffled already."""
        settings = self.settings
        return epoch_batches(
            np.arange(self.data.n_rows),
            None,
            batch_size=settings.batch_size,
            sampler=InOrder(),
            seed=settings.seed,
            epoch=epoch,
            drop_last=settings.drop_last,
            min_rows=self.model.network.min_rows,
        )

    def all_batches(self) -> Iterator[Batches]:
        """The batches of the epoch that is going on, block by block, whose rows are the data meanwhile."""
        rows = 0
        for block in self.stream.blocks(
            batch_size=self.settings.batch_size,
            seed=self.settings.seed,
            epoch=self.progress.epoch,
            shuffle=isinstance(self.settings.sampler, Shuffled),
        ):
            self.data = self._read(block, rows)
            rows += self.data.n_rows
            yield self.batches(self.progress.epoch)

    def once_more(self) -> Iterator[Batches]:
        """All blocks again; of an iterator, which cannot be gone through again, the last one."""
        if self.stream.is_for_one_epoch:
            yield self.batches(self.progress.epoch)
        else:
            yield from self.all_batches()

    def _run_next(self, left: int) -> None:
        """The next epoch. One that was interrupted goes through the stream from its start, and past what was done."""
        done = rows = 0
        for batches in self.all_batches():
            self._run_batches(batches, before=done)
            if self.stop_reason:
                return
            done += len(batches)
            rows += self.data.n_rows
        expected = self.stream.n_rows
        if expected is not None and expected != rows:
            raise ConfigError(f"n_rows={expected}, and the stream gave {rows} rows. Say what it has, or leave it out.")
        if self.progress.step < done or not done:
            raise ShapeError(f"The stream gave {rows} rows, too few for what was done of this epoch before.")
        self.steps_an_epoch = done
        self.end_epoch()

    def tick(self) -> None:
        """An epoch over a stream may be long: the time is looked at within it, too."""
        super().tick()
        self.look_at_clock()

    def _read(self, block: Chunk, rows: int) -> Data:
        X, y, weight = block
        try:
            data = read(
                self.model.network,
                self.recipe.loss,
                X,
                y,
                sample_weight=weight,
                class_weight=self.class_weight,
                may_weigh_nothing=True,
            )
            check_categories(self.model, data.x)
            if data.target_specs != self._specs or (data.weight is not None) != self._is_weighted:
                raise ShapeError("The targets of the stream change their type or shape, or only some have weights.")
        except MadalineError as error:
            where = f" (in the stream, counted in the block after row {rows})"
            raise type(error)(f"{error}{where}") from None
        return data
