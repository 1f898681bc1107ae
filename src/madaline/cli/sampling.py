"""The rows of a table that are in memory during training: all, or a random sample of a large table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from madaline.cli import memory
from madaline.cli.config import RunConfig
from madaline.data.reading.assumption import Assumption
from madaline.data.reading.table_file import TableFile
from madaline.data.split import Split
from madaline.data.times import times_of

if TYPE_CHECKING:
    import polars as pl

SAMPLE_ROWS = 200_000
"Maximum number of rows of a streamed table in memory: they show what columns hold, validate and test."
LEAST_ROWS = 1000
SAMPLE_SHARE = 0.25
"Fraction of the memory for the table that the sample may take."
MOST_VALUES = 100_000
"Maximum number of different values of a target that are kept, to infer the task."


@dataclass
class SampledTable:
    """Rows in memory.

    Attributes
    ----------
    frame : data frame
        All rows, or a random sample of them, in the order of the table.
    n_rows : int
        Number of rows of the table.
    n_gaps : int
        For a sample, the number of rows of the table without a target.
    places : array of int, optional
        For a sample, the numbers of its rows in the table.
    different : dict of series
        For a sample, the different values of each target in the whole table.
    numbers : array of int
        Numbers of the rows in the table, from 1.
    """

    frame: pl.DataFrame
    n_rows: int
    n_gaps: int = 0
    places: np.ndarray | None = None
    different: dict[str, pl.Series] = field(default_factory=dict)
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def is_sample(self) -> bool:
        """Whether the table has more rows than are in memory."""
        return self.places is not None

    def leave_out_gaps(self, targets: Sequence[str]) -> int:
        """Leave out rows without a target; returns their number in the table."""
        import polars as pl

        has_target = self.frame.select(pl.all_horizontal(pl.col(list(targets)).is_not_null())).to_series()
        gone = int((~has_target).sum()) if self.places is None else self.n_gaps
        self.frame, self.n_rows = self.frame.filter(has_target), self.n_rows - gone
        self.numbers = self.numbers[has_target.to_numpy()]
        if self.places is not None:
            self.places = self.places[has_target.to_numpy()]
        return gone

    def leave_out_duplicates(self, ignored: Sequence[str]) -> int:
        """Leave out rows that are equal to an earlier one in every other column; returns their number."""
        import polars as pl

        is_first = self.frame.select(pl.struct(pl.exclude(list(ignored))).is_first_distinct()).to_series()
        gone = int((~is_first).sum())
        self.frame, self.n_rows = self.frame.filter(is_first), self.n_rows - gone
        self.numbers = self.numbers[is_first.to_numpy()]
        return gone

    def target_values(self) -> pl.DataFrame:
        """The targets, with all classes that any row of the table has."""
        import polars as pl

        if not self.is_sample:
            return self.frame
        columns = {name: self.frame[name].append(values) for name, values in self.different.items()}
        longest = max(map(len, columns.values()))
        return pl.DataFrame({n: c.extend_constant(c[0], longest - len(c)) for n, c in columns.items()})


def sample(table: TableFile, settings: RunConfig, targets: Sequence[str]) -> SampledTable:
    """The rows to keep in memory; their number is noted in the settings, so that every machine does the same."""
    data, seed = settings.data, settings.training.seed
    if data.rows is not None and data.rows < table.n_rows:
        text = f"{data.rows:,} of {table.n_rows:,} rows are used, a random sample."
        table.assumptions.append(Assumption(text, "--rows"))
        data.sample = 0
        found = _sample(table, data.rows, seed, ())
        return SampledTable(found.frame, len(found.frame), numbers=found.numbers)
    if data.sample is None:
        _decide(table, settings)
    if not data.sample:
        return SampledTable(table.frame(), table.n_rows, numbers=np.arange(1, table.n_rows + 1))
    table.assumptions.append(
        Assumption(
            f"The table is streamed from disk: in memory it would take {memory.shown(memory.needed(table))}. "
            f"A random sample of {min(data.sample, table.n_rows):,} rows shows what columns hold and is used to test.",
            "--memory, --rows",
        )
    )
    return _sample(table, data.sample, seed, targets)


def _decide(table: TableFile, settings: RunConfig) -> None:
    """Decide how many rows to keep in memory; 0 for all of them."""
    given = settings.data.memory
    room = memory.SHARE * memory.free() if given is None else memory.size(given)
    need = memory.needed(table)
    settings.data.sample = 0
    if need > room:
        fits = int(SAMPLE_SHARE * room / need * table.n_rows)
        settings.data.sample = max(LEAST_ROWS, min(SAMPLE_ROWS, fits))


def _sample(table: TableFile, most: int, seed: int, targets: Sequence[str]) -> SampledTable:
    """A random sample of rows, in their order, and the different values of ``targets`` in all rows."""
    import polars as pl

    count = min(most, table.n_rows)
    chosen = np.sort(np.random.default_rng(seed).choice(table.n_rows, count, replace=False))
    parts, start, n_gaps = [], 0, 0
    different: dict[str, pl.Series] = {}
    for batch in table.batches():
        low, high = np.searchsorted(chosen, [start, start + len(batch)])
        # Texts are copied: a few rows of a part would otherwise keep the texts of all its rows in memory.
        parts.append(batch[chosen[low:high] - start].with_columns(pl.col(pl.String) + ""))
        for name in targets:
            different[name] = _different(batch[name], different.get(name))
        n_gaps += len(batch) - len(batch.select(targets).drop_nulls()) if targets else 0
        start += len(batch)
    return SampledTable(pl.concat(parts, rechunk=True), table.n_rows, n_gaps, chosen, different, chosen + 1)


def _different(column: pl.Series, before: pl.Series | None) -> pl.Series:
    """The different values of a column and of earlier parts; if very many, those that decide the task."""
    import polars as pl

    found = column.drop_nulls().unique(maintain_order=True)
    found = found if before is None else pl.concat([before, found]).unique(maintain_order=True)
    if len(found) <= MOST_VALUES:
        return found + "" if found.dtype == pl.String else found
    if not found.dtype.is_numeric():
        return found[:MOST_VALUES]
    broken = found.filter(found != found.floor())[:1]
    return pl.concat([found.sort()[[0, -1]], broken]).unique(maintain_order=True)


def training_parts(
    table: TableFile,
    sampled: SampledTable,
    split: Split,
    by: str | None,
    targets: Sequence[str],
    *,
    order: str | None = None,
) -> Iterator[pl.DataFrame]:
    """The training rows of a table, part by part: those with a target that are not in the validation or test set.

    These sets were drawn from the sample, and their rows are left out by number. With a column to split ``by``, all
    rows of their groups are left out, or all rows from their earliest time on; ``order`` is that of day and month.
    """
    assert sampled.places is not None
    held_out = np.concatenate([split.validation, split.test])
    places = np.sort(sampled.places[held_out])
    values = None if by is None else sampled.frame[by][held_out]
    earliest = times_of(values, by, order=order).min() if by is not None and split.way == "time" else -np.inf
    start = 0
    for batch in table.batches():
        if values is not None and by is not None:
            column = batch[by]
            if split.way == "group":
                is_kept = (~column.is_in(values.unique().implode(), nulls_equal=True)).to_numpy()
            else:
                is_kept = times_of(column, by, order=order) < earliest
        else:
            is_kept = np.ones(len(batch), dtype=bool)
            low, high = np.searchsorted(places, [start, start + len(batch)])
            is_kept[places[low:high] - start] = False
        start += len(batch)
        part = batch.filter(is_kept).drop_nulls(list(targets))
        if len(part):
            yield part
