"""What happened in training: a table with a row for every epoch, and others of steps and probes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from madaline.errors import UnknownNameError
from madaline.extras import require

SHOWN_ROWS = 12
"Maximum number of rows that are printed; of a longer history the first and last ones."


class HistoryTable(Mapping[str, np.ndarray]):
    """Named columns of numbers or strings, filled row by row; missing values are NaN.

    Examples
    --------
    >>> table = HistoryTable()
    >>> table.add(epoch=1, loss=0.5)
    >>> table.add(epoch=2, loss=0.25, accuracy=1.0)
    >>> table["loss"], table.n_rows
    (array([0.5 , 0.25]), 2)
    >>> print(table)
    epoch  loss  accuracy
        1   0.5
        2  0.25         1
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]] | None = None) -> None:
        self._columns: dict[str, list[Any]] = {name: list(values) for name, values in (columns or {}).items()}
        self.n_rows = max((len(values) for values in self._columns.values()), default=0)

    def add(self, **row: Any) -> None:
        """Append a row."""
        self._open(row)
        for name, values in self._columns.items():
            values.append(row.get(name, math.nan))
        self.n_rows += 1

    def add_columns(self, columns: Mapping[str, np.ndarray]) -> None:
        """Append several rows at once."""
        count = len(next(iter(columns.values()))) if columns else 0
        self._open(columns)
        for name, values in self._columns.items():
            values.extend(columns[name].tolist() if name in columns else [math.nan] * count)
        self.n_rows += count

    def _open(self, names: Iterable[str]) -> None:
        """Add columns of these names, if they are new, with NaN in the existing rows."""
        for name in names:
            if name not in self._columns:
                self._columns[name] = [math.nan] * self.n_rows

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            raise UnknownNameError(f"{name!r} is not a column. Columns: {', '.join(self._columns) or 'none'}")
        return np.array(self._columns[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def row(self, index: int) -> dict[str, Any]:
        """One row."""
        return {name: values[index] for name, values in self._columns.items()}

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return {name: list(values) for name, values in self._columns.items()}

    def frame(self) -> Any:
        """The table as a polars data frame."""
        require("polars", "history.frame()")
        import polars as pl  # imported only when needed

        return pl.DataFrame({name: self[name] for name in self})

    def __str__(self) -> str:
        names = list(self._columns)
        texts = {name: _texts(values) for name, values in self._columns.items()}
        widths = {name: max(len(name), *(len(text) for text in texts[name]), 0) for name in names if texts[name]}
        lines = ["  ".join(name.rjust(widths.get(name, len(name))) for name in names)]
        rows = range(self.n_rows)
        left_out = self.n_rows - SHOWN_ROWS
        for index in rows:
            if left_out > 1 and SHOWN_ROWS // 2 <= index < SHOWN_ROWS // 2 + left_out:
                if index == SHOWN_ROWS // 2:
                    lines.append(f"... {left_out} more")
                continue
            lines.append("  ".join(texts[name][index].rjust(widths[name]) for name in names).rstrip())
        return "\n".join(lines)


class History(HistoryTable):
    """The history of a run: a row for every epoch.

    Attributes
    ----------
    steps : HistoryTable
        A row for every step, if ``record_steps`` was set.
    probes : HistoryTable
        A row for every sample of every probed layer: ``step``, ``layer`` (its path), ``mean``, ``std``, ``zero`` and
        ``saturated`` (fractions) of its output, ``dead`` and ``saturated_units`` (fractions of the units of an
        activation that were 0 for every row, or saturated for more than 90 % of the rows, of the last 1,000 rows or
        10 samples; NaN before 5 samples with 100 rows), ``gradient_norm``, ``weight_norm``, ``update_ratio`` of its
        parameters.
    stopped : str
        Why training ended: ``"finished"``, ``"early stopping"``, ``"interrupted"``, ``"time"``, ``"callback"``,
        ``"diverged"``, or ``"error"`` if an exception ended it.
    best_epoch : int or None
        The epoch whose parameters early stopping kept.
    converged : bool or None
        Whether L-BFGS converged; None for other optimizers.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]] | None = None) -> None:
        super().__init__(columns)
        self.steps = HistoryTable()
        self.probes = HistoryTable()
        self.stopped = ""
        self.best_epoch: int | None = None
        self.converged: bool | None = None

    @property
    def epochs(self) -> int:
        """Number of completed epochs."""
        return self.n_rows

    def __repr__(self) -> str:
        if not self.n_rows:
            return "History(no epochs)"
        last = ", ".join(f"{name}={value:.6g}" for name, value in self.row(-1).items() if name != "epoch")
        return f"History({self.n_rows} epochs, {self.stopped or 'running'}; last: {last})"


def _texts(values: Sequence[Any]) -> list[str]:
    if any(isinstance(value, str) for value in values):
        return [value if isinstance(value, str) else "" for value in values]
    known = [value for value in values if not math.isnan(value)]
    if all(float(value).is_integer() and abs(value) < 1e15 for value in known):
        return ["" if math.isnan(value) else str(int(value)) for value in values]
    return ["" if math.isnan(value) else f"{value:.4g}" for value in values]
