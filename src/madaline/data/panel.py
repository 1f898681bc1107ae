"""Panel data: tables in which the same things, such as countries, are observed at several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.data.column import Column
from madaline.data.row_numbers import YEAR_NAME
from madaline.data.table import Table
from madaline.data.text_kind import text_kind
from madaline.data.texts import Texts

FEWEST_GROUPS, FEWEST_TIMES = 3, 3
"Number of groups, and of different times, that a panel has at least."
COVERED = 0.5
"Share of all pairs of a group and a time that must occur."
ONCE = 0.99
"Share of rows whose pair of group and time must be different from those of all other rows."
MOST_GROUPS = 0.5
"Number of groups as a share of the number of rows, at most: each is observed twice or more."


@dataclass(frozen=True)
class Panel:
    """The columns that make a table a panel.

    Attributes
    ----------
    group : str
        The column that says what is observed, such as a country.
    time : str
        The column that says when.
    n_groups, n_times : int
        Number of distinct values of each.
    """

    group: str
    time: str
    n_groups: int
    n_times: int

    def hint(self) -> str:
        """A sentence about what to do, for the command line."""
        return (
            f"Each of {self.n_groups:,} values of {self.group!r} occurs with up to {self.n_times:,} values of "
            f"{self.time!r}. Rows of one {self.group!r} are alike, so a random test set is too easy. To test on values "
            f"of {self.group!r} that training has not seen, pass --group {_quoted(self.group)}; to test on the latest "
            f"rows, --when {_quoted(self.time)}."
        )


def find_panel(table: Any, *, ignore: tuple[str, ...] = ()) -> Panel | None:
    """The group and time columns of a panel, or None.

    A panel has a column of text whose values repeat, and a column of dates or years, such that nearly every pair of
    them occurs once and at least half of all pairs occur. If several columns fit, the one with the fewest groups is
    chosen.

    Parameters
    ----------
    table : data frame, dict of columns ...
        Anything that :meth:`Table.of` takes.
    ignore : tuple of str
        Columns that are neither group nor time, such as the target.

    Examples
    --------
    >>> rows = [(country, year) for country in ("Chad", "Cuba", "Fiji") for year in range(2000, 2010)]
    >>> panel = find_panel({"Country": [c for c, _ in rows], "Year": [y for _, y in rows], "gdp": list(range(30))})
    >>> panel.group, panel.time
    ('Country', 'Year')
    """
    table = Table.of(table)
    columns = [table[name] for name in table.names if name not in ignore]
    times = [(column, codes) for column in columns if (codes := _times(column)) is not None]
    if not times:
        return None
    groups = [column for column in columns if column.is_text and column.name not in {time.name for time, _ in times}]
    found = [
        panel
        for column in groups
        for time, codes in times
        if (panel := _panel(column.name, column.values, time.name, codes)) is not None
    ]
    return min(found, key=lambda panel: panel.n_groups, default=None)


def _times(column: Column) -> np.ndarray | None:
    """Codes of dates or years, -1 if missing; None for a column without them."""
    if column.kind == "text" and text_kind(column.values).kind == "date":
        codes: np.ndarray = column.values.codes
        return codes
    missing = column.missing() if column.kind != "other" else np.ones(0, dtype=bool)
    if column.kind not in ("date", "number") or missing.all():
        return None
    if column.kind == "number":
        values = column.values[~missing]
        is_year = bool(((values >= 1000) & (values < 3000) & (values == np.floor(values))).all())
        if not is_year or not (YEAR_NAME.search(column.name) or np.ptp(values) <= 300):
            return None
    codes = np.unique(column.values, return_inverse=True)[1]
    return np.where(missing, -1, codes)


def _panel(group: str, texts: Texts, time: str, codes: np.ndarray) -> Panel | None:
    given = (texts.codes >= 0) & (codes >= 0)
    n_rows = int(given.sum())
    groups, moments = texts.codes[given], codes[given]
    n_groups, n_times = len(np.unique(groups)), len(np.unique(moments))
    if n_groups < FEWEST_GROUPS or n_times < FEWEST_TIMES or n_groups > MOST_GROUPS * n_rows:
        return None
    n_pairs = len(np.unique(groups * (int(moments.max()) + 1) + moments))
    if n_pairs < ONCE * n_rows or n_pairs < COVERED * n_groups * n_times:
        return None
    return Panel(group, time, n_groups, n_times)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else repr(name)
