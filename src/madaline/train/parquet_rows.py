"""Rows of Parquet files: numbers, hashed categories, target and weight, read in parts that follow the row groups."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from madaline.data.hashed import hash_categories
from madaline.data.reading.panics import readable
from madaline.data.reading.parquet_check import contradiction, row_groups
from madaline.data.reading.table_file import pattern_files
from madaline.errors import ConfigError, FileFormatError
from madaline.extras import require

FILE_ROWS = 1 << 16
"Number of rows of a file that are read at a time."
DAMAGED = "a damaged Parquet file"
NUMBERS, CATEGORIES = "numbers", "categories"
"Names of the inputs of a net for numbers and categories."


def is_paths(given: Any) -> bool:
    """Whether it is a path, or a list of paths."""
    if isinstance(given, (list, tuple)):
        return bool(given) and all(isinstance(item, (str, os.PathLike)) for item in given)
    return isinstance(given, (str, os.PathLike))


@dataclass(frozen=True)
class ChosenColumns:
    """Which columns of a table are used, and how."""

    target: str | None = None
    weight: str | None = None
    features: Sequence[str] | None = None
    categories: Sequence[str] = ()
    buckets: int = 1 << 18

    def chosen_from(self, names: Sequence[str], source: str) -> ChosenColumns:
        """The same with the list of features; an error if a column is missing."""
        if self.target is None:
            raise ConfigError(f"Stream({source!r}) needs to know what to learn: target='...'.")
        used = (self.target, self.weight, *self.categories)
        features = tuple(name for name in names if name not in used) if self.features is None else tuple(self.features)
        found = ChosenColumns(self.target, self.weight, features, tuple(self.categories), self.buckets)
        for name in found.names:
            if name not in names:
                raise ConfigError(f"{name!r} is not a column of {source!r}. Columns: {', '.join(names)}.")
        if twice := [name for name in found.categories if name in features]:
            raise ConfigError(f"{twice[0]!r} is one of features and of categories. Leave it out of one of them.")
        return found

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        some = [name for name in (self.target, self.weight) if name is not None]
        return [*some, *(self.features or ()), *self.categories]

    def chunk(self, part: Mapping[str, Any], numbers: np.ndarray) -> tuple[Any, ...]:
        """Rows, targets and weights; ``numbers`` is the matrix of the features."""
        x: Any = numbers
        if self.categories:
            x = {CATEGORIES: hash_categories({name: part[name] for name in self.categories}, self.buckets)}
            x |= {NUMBERS: numbers} if numbers.shape[1] else {}
        return x, np.asarray(part[str(self.target)]), None if self.weight is None else np.asarray(part[self.weight])


@dataclass(frozen=True)
class FilePart:
    """Consecutive rows of a file."""

    file: str
    start: int
    n_rows: int


class ParquetRows:
    """The rows of Parquet files, read in parts. It holds no open files, so that it can be sent to other computers.

    Parameters
    ----------
    paths : path or list of paths
        Files, folders, or patterns such as ``"day/*.parquet"``; files are sorted by name.
    columns : ChosenColumns
        Columns to read.
    """

    def __init__(self, paths: Any, columns: ChosenColumns) -> None:
        require("polars", "A Stream from a Parquet file")
        given = list(paths) if isinstance(paths, (list, tuple)) else [paths]
        self.files = [os.fspath(file) for path in given for file in _files(path)]
        self._parts: list[FilePart] = []
        schema: Any = None
        for file in self.files:
            with readable(file, DAMAGED):
                if wrong := contradiction(Path(file)):
                    raise OSError(wrong)
                own = _scan(file).collect_schema()
                self._parts += _parts(file, row_groups(Path(file)))
            if schema is None:
                schema = own
                self.columns = columns.chosen_from(own.names(), file)
                _check_types(own, self.columns, file)
            elif missing := [name for name in self.columns.names if own.get(name) != schema[name]]:
                raise ConfigError(
                    f"Column {missing[0]!r} of {file!r} has type {own.get(missing[0])}, in {self.files[0]!r} "
                    f"{schema[missing[0]]}. All files need the same columns."
                )
        self.n_rows = sum(part.n_rows for part in self._parts)

    @property
    def parts(self) -> list[FilePart]:
        """The parts in the order of the files; row groups are not divided unless they are large."""
        return list(self._parts)

    def chunks(self, rng: np.random.Generator | None) -> Iterator[Any]:
        """All rows in parts; the parts are in a random order if there is an ``rng``."""
        numbers = np.arange(len(self._parts))
        for number in numbers if rng is None else rng.permutation(numbers):
            yield read_part(self.columns, self._parts[number])


def read_part(columns: ChosenColumns, part: FilePart) -> tuple[Any, ...]:
    """The rows of a part, its targets and weights."""
    import polars as pl

    with readable(part.file, DAMAGED):
        rows = _scan(part.file).select(columns.names).slice(part.start, part.n_rows).collect()
    if len(rows) != part.n_rows:  # polars may stop without an error
        raise FileFormatError(
            f"{part.file} is {DAMAGED}: {len(rows):,} of {part.n_rows:,} rows after row {part.start:,} can be "
            "read. Download or copy it again."
        )
    numbers = rows.select(columns.features or [])
    if columns.categories:
        numbers = numbers.cast(pl.Float32)
    matrix = numbers.to_numpy() if numbers.width else np.empty((len(rows), 0), np.float32)
    return columns.chunk({name: rows[name] for name in rows.columns}, matrix)


def _scan(file: str) -> Any:
    import polars as pl  # those who read files wait for it

    return pl.scan_parquet(Path(file), glob=False)


def _files(path: Any) -> list[str]:
    """The files of a path, a folder or a pattern."""
    text = os.fspath(path)
    if Path(text).is_dir():
        found = sorted(os.fspath(file) for file in Path(text).rglob("*.parquet"))
        if not found:
            raise FileNotFoundError(f"The folder {text!r} has no files *.parquet.")
        return found
    if Path(text).exists():
        return [text]
    found = [os.fspath(file) for file in pattern_files(Path(text))]
    if not found:
        raise FileNotFoundError(f"There is no file {text!r}.")
    return found


def _parts(file: str, groups: Sequence[int]) -> Iterator[FilePart]:
    """Small row groups together, large ones divided; each part has at most FILE_ROWS rows."""
    start = waiting = 0
    for n_rows in groups:
        if waiting and waiting + n_rows > FILE_ROWS:
            yield FilePart(file, start, waiting)
            start, waiting = start + waiting, 0
        waiting += n_rows
        while waiting > FILE_ROWS:
            yield FilePart(file, start, FILE_ROWS)
            start, waiting = start + FILE_ROWS, waiting - FILE_ROWS
    if waiting:
        yield FilePart(file, start, waiting)


def _check_types(schema: Any, columns: ChosenColumns, file: str) -> None:
    import polars as pl

    for name in columns.names:
        if name not in columns.categories and not (schema[name].is_numeric() or schema[name] == pl.Boolean):
            raise ConfigError(
                f"Column {name!r} of {file!r} has type {schema[name]}, but a net needs numbers. Encode it first, leave "
                "it out: features=[...], or hash it: categories=[...]."
            )
