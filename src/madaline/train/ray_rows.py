"""Rows of a ``ray.data`` dataset, read by the process that trains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.train.parquet_rows import FILE_ROWS, ChosenColumns


def is_ray_dataset(given: Any) -> bool:
    """Whether it is a dataset of Ray, which is not imported for it."""
    return type(given).__module__.startswith("ray.data.") and hasattr(given, "iter_batches")


class RayRows:
    """The rows of a dataset, in its order or with its blocks in a random order."""

    def __init__(self, dataset: Any, columns: ChosenColumns) -> None:
        self._dataset = dataset
        self.columns = columns.chosen_from(dataset.columns(), type(dataset).__name__)
        self.n_rows = int(dataset.count())

    def chunks(self, rng: np.random.Generator | None) -> Iterator[Any]:
        """All rows in batches of equal size."""
        dataset = self._dataset.select_columns(self.columns.names)
        if rng is not None:
            dataset = dataset.randomize_block_order(seed=int(rng.integers(2**31)))
        dataset.context.execution_options.preserve_order = True  # else as blocks arrive, and no run is like another
        for batch in dataset.iter_batches(batch_size=FILE_ROWS, batch_format="numpy"):
            numbers = [np.asarray(batch[name]) for name in self.columns.features or ()]
            for name, column in zip(self.columns.features or (), numbers, strict=True):
                if column.dtype.kind not in "fiub":
                    raise ConfigError(
                        f"Column {name!r} of the dataset has type {column.dtype}, but a net needs numbers. Leave it "
                        "out: features=[...], or hash it: categories=[...]."
                    )
            n_rows = len(batch[str(self.columns.target)])
            matrix = np.column_stack(numbers) if numbers else np.empty((n_rows, 0), np.float32)
            yield self.columns.chunk(batch, matrix.astype(np.float32) if self.columns.categories else matrix)
