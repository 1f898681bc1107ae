"""A file of a table, read in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from madaline.data.reading.assumption import Assumption
from madaline.data.reading.dialect import Dialect
from madaline.data.reading.format import TableFormat

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 50_000
"Number of rows of a batch, for a table with few columns."
BATCH_VALUES = 2_000_000
"Number of values of a batch."


class Part:
    """A file of a table.

    Attributes
    ----------
    name : str
        The name in messages.
    names : tuple of str
        Names of the columns.
    unnamed : frozenset of str
        Columns without a name in the file.
    assumptions : tuple of Assumption
    dialect : Dialect, optional
        The dialect of a text file; None if values have types, as in Parquet.
    n_rows : int
        Number of rows; for a text, of records that may be rows.
    """

    def __init__(self, name: str, names: Sequence[str], n_rows: int) -> None:
        self.name, self.names, self.n_rows = name, tuple(names), n_rows
        self.unnamed: frozenset[str] = frozenset()
        self.assumptions: tuple[Assumption, ...] = ()
        self.dialect: Dialect | None = None

    @property
    def is_text(self) -> bool:
        """Whether values are texts, to be read in a format."""
        return self.dialect is not None

    def text_names(self) -> tuple[str, ...]:
        """Columns of text in a file with types."""
        return ()

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Columns of text in batches, each with the number of its first record."""
        raise NotImplementedError

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Rows in batches, read in a format."""
        raise NotImplementedError


def stripped(names: Sequence[str]) -> pl.Expr:
    """Texts without outer blanks; null if nothing is left."""
    import polars as pl

    text = pl.col(names).str.strip_chars()
    return pl.when(text != "").then(text)
