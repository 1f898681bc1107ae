"""The table of a command: read, cut to size, with the target found."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from madaline.cli.config import RunConfig
from madaline.data.datasets import DATASETS
from madaline.data.reading.assumption import Assumption, counted, listed, named
from madaline.data.reading.format import TableFormat
from madaline.data.reading.table_file import TableFile, open_table
from madaline.errors import ConfigError, TargetError


def read(settings: RunConfig) -> tuple[Any, list[Assumption], TableFormat]:
    """The table to train on, what was assumed, and how its texts were read."""
    data = settings.data
    reading = replace(settings.reading, numeric=data.numeric, categorical=data.categorical)
    with open_table(data.source, reading) as table:
        frame = cut(table, data.rows, settings.training.seed)
        return frame, table.assumptions, table.format


def cut(table: TableFile, most: int, seed: int) -> Any:
    """The rows of a table, or so many of them by chance, in their order."""
    import polars as pl

    if table.n_rows <= most:
        return table.frame()
    chosen = np.sort(np.random.default_rng(seed).choice(table.n_rows, most, replace=False))
    table.assumptions.append(Assumption(f"{most:,} of {table.n_rows:,} rows are used, drawn by chance.", "--rows"))
    parts, start = [], 0
    for batch in table.batches():
        low, high = np.searchsorted(chosen, [start, start + len(batch)])
        parts.append(batch[chosen[low:high] - start])
        start += len(batch)
    return pl.concat(parts, rechunk=True)


def targets_of(settings: RunConfig, names: Sequence[str]) -> tuple[str, ...]:
    """The columns to learn: those that were told, or that of a data set."""
    told = settings.data.target
    if not told and settings.data.source in DATASETS:
        told = (DATASETS[settings.data.source].target,)
    if not told:
        raise ConfigError(f"Say which column to learn: --target COLUMN. Columns: {listed(names)}.")
    found = tuple(find_column(name, names, "--target") for name in told)
    if len(found) == len(names):
        raise ConfigError("All columns are targets: there is nothing left to learn from.")
    return found


def find_column(given: str, names: Sequence[str], flag: str) -> str:
    """A column by its name, or by its number from 1 if none is called that; -1 is the last.

    Examples
    --------
    >>> find_column("age", ["age", "fare"], "--target"), find_column("-1", ["age", "fare"], "--target")
    ('age', 'fare')
    """
    if given in names:
        return given
    if given.lstrip("-").isdecimal() and 1 <= abs(int(given)) <= len(names):
        number = int(given)
        return names[number - 1 if number > 0 else number]
    if near := [name for name in names if name.casefold() == given.casefold()]:
        return near[0]
    close = difflib.get_close_matches(given, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ConfigError(f"{flag} {given}: there is no such column.{hint} Columns: {listed(names)}.")


def without_gaps(frame: Any, targets: Sequence[str], assumptions: list[Assumption]) -> Any:
    """The rows that have a target."""
    whole = frame.drop_nulls(list(targets))
    gone = len(frame) - len(whole)
    if not len(whole):
        raise TargetError(f"{named(list(targets))} has no values: there is nothing to learn. Choose another --target.")
    if gone:
        text = (
            f"{counted(gone, 'row')} without a value in {named(list(targets))} {'is' if gone == 1 else 'are'} left out."
        )
        assumptions.append(Assumption(text, "--target"))
    return whole
