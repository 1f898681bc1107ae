"""Tables that were uploaded or given on the command line, kept in memory by their checksum."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.data.datasets import DATASETS
from madaline.data.encode import NUMBERS, TablePlan
from madaline.data.reading.table_file import open_table, read_table
from madaline.data.target import CLASS_TASKS, TargetReader
from madaline.errors import ConfigError, InputError

if TYPE_CHECKING:
    import polars as pl

MOST_TABLES = 6
MOST_ROWS = 20_000
"Rows of a table that are used; of a longer one a random sample."
MOST_CLASSES, MOST_INPUTS, MOST_CATEGORIES = 100, 1000, 32
DIGEST = 12
"Characters of a checksum in links."


@dataclass(frozen=True)
class StoredTable:
    """A table.

    Attributes
    ----------
    name : str
        Name of the file, or of the data set.
    digest : str
        Beginning of the SHA-256 of the file; for a data set empty.
    frame : polars data frame
    notes : tuple of str
        What was assumed about the file.
    """

    name: str
    digest: str
    frame: pl.DataFrame
    notes: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """What the page is told about it."""
        return {
            "name": self.name,
            "digest": self.digest,
            "rows": self.frame.height,
            "columns": self.frame.columns,
            "notes": list(self.notes),
        }


class TableStore:
    """The tables of a server. The one that was not used for the longest time is dropped when there are too many."""

    def __init__(self) -> None:
        self._tables: OrderedDict[str, StoredTable] = OrderedDict()
        self._lock = threading.Lock()

    def add_file(self, path: Path) -> StoredTable:
        """Read a file, or the data set of that name."""
        if not path.exists():
            frame, assumptions = read_table(str(path))
            return self._keep(StoredTable(str(path), "", frame, tuple(map(str, assumptions))))
        return self.add(path.name, path.read_bytes())

    def add(self, name: str, content: bytes) -> StoredTable:
        """Read the content of a file; an error says what is wrong with it."""
        digest = hashlib.sha256(content).hexdigest()[:DIGEST]
        shown = Path(name).name[:80] or "table"
        if not content:
            raise ConfigError(f"{shown} is empty.")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "table"
            file.write_bytes(content)
            with open_table(file, name=shown) as table:
                frame, assumptions = table.frame(), table.assumptions
        if frame.width < 2:
            raise ConfigError(f"{shown} has one column. A table needs a target and at least one other column.")
        return self._keep(StoredTable(shown, digest, frame, tuple(each.text for each in assumptions)))

    def _keep(self, table: StoredTable) -> StoredTable:
        with self._lock:
            self._tables[table.digest or table.name] = table
            self._tables.move_to_end(table.digest or table.name)
            while len(self._tables) > MOST_TABLES:
                self._tables.popitem(last=False)
        return table

    def get(self, name: str, digest: str) -> StoredTable:
        """A table by its checksum, or a data set by its name; an error that asks for it if it is not there."""
        with self._lock:
            found = self._tables.get(digest or name)
            if found is not None:
                self._tables.move_to_end(digest or name)
                return found
        if not digest and name in DATASETS:
            return self._keep(StoredTable(name, "", DATASETS[name].table(), ()))
        raise MissingTableError(name, digest)


class MissingTableError(ConfigError):
    """The table of a link, which the server does not have."""

    def __init__(self, name: str, digest: str) -> None:
        known = f" (SHA-256 {digest[:DIGEST]}...)" if digest else ""
        named = f"the table {name[:80]!r}{known}" if name else "a CSV or Parquet file"
        super().__init__(f"Open {named} below Data, or drop it on the page.")
        self.name, self.digest = name, digest


@dataclass(frozen=True)
class TableInputs:
    """The rows of a table as a net takes them, in random order, the training set first."""

    X: np.ndarray
    y: np.ndarray
    n_training: int
    inputs: tuple[str, ...]
    classes: tuple[str, ...]
    sources: tuple[str, ...]
    "The feature column that each input comes from."
    target: str
    notes: tuple[str, ...]


def encoded_rows(
    table: StoredTable, *, target: str, columns: Sequence[str], test: float, seed: int, scaling: str = "standard"
) -> TableInputs:
    """Encode a table: shuffled rows, columns scaled by the training rows, classes as numbers."""
    frame = table.frame
    target = target or frame.columns[-1]
    if target not in frame.columns:
        raise ConfigError(f"{table.name} has no column {target[:60]!r}. Columns: {', '.join(frame.columns[:20])}.")
    wanted = list(columns) or [name for name in frame.columns if name != target]
    if unknown := [name for name in wanted if name not in frame.columns or name == target]:
        raise ConfigError(f"{unknown[0][:60]!r} is not a feature column of {table.name}.")
    frame = frame.drop_nulls(target)
    if frame.height < 10:
        rows = "1 row" if frame.height == 1 else f"{frame.height} rows"
        raise ConfigError(f"{table.name} has {rows} with a value of {target!r}. At least 10 are needed.")
    order = np.random.default_rng(seed).permutation(frame.height)[:MOST_ROWS]
    frame = frame[order.tolist()]
    n = frame.height - max(1, round(test * frame.height))
    try:
        y, classes = _target(frame, target, n)
        plan = TablePlan.fit(frame[:n].select(wanted), one_hot=MOST_CATEGORIES, scaling=scaling)
        encoded = plan.encode(frame.select(wanted))
    except InputError as error:
        raise ConfigError(str(error)) from None
    n_inputs = encoded[NUMBERS].shape[1] if NUMBERS in encoded else 0
    if not n_inputs:
        raise ConfigError(f"The columns of {table.name} give no inputs: all are empty, constant or free text.")
    if n_inputs > MOST_INPUTS:
        raise ConfigError(
            f"The columns of {table.name} give {n_inputs:,} inputs; the playground takes at most {MOST_INPUTS:,}. "
            "Choose fewer columns."
        )
    left_out = [role.column for role in plan.roles() if role.column not in {used.column for used in plan.used()}]
    left_out += list(plan.inputs())
    notes = (*table.notes, *([f"Left out: {_first(left_out)}."] if left_out else []))
    sources = tuple(each.column for each in plan.columns for _ in each.features())
    return TableInputs(encoded[NUMBERS], y, n, plan.features(), classes, sources, target, notes)


def _first(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _target(frame: pl.DataFrame, target: str, n: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Classes as whole numbers from 0, or numbers scaled by the training rows."""
    reader = TargetReader.fit(frame.select(target))
    values = reader.values(frame.select(target))
    if reader.task in CLASS_TASKS:
        classes, y = np.unique(values, return_inverse=True)
        if len(classes) > MOST_CLASSES:
            raise ConfigError(
                f"{target!r} has {len(classes):,} classes; the playground takes at most {MOST_CLASSES}. "
                "Choose another target."
            )
        return y, tuple(map(str, classes))
    numbers = np.asarray(values, dtype=np.float64).ravel()
    scale = float(numbers[:n].std()) or 1.0
    return (numbers - numbers[:n].mean()) / scale, ()
