"""Any table as named columns, read without a copy where possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from madaline.data.column import Column
from madaline.data.series import column_of, from_array, from_objects, from_series
from madaline.description import short
from madaline.errors import DtypeError, InputError, ShapeError


class Table:
    """Named columns of equal length. A column is read when it is first used.

    Use :meth:`Table.of` to make one.

    Attributes
    ----------
    names : tuple of str
        Names of the columns in the order of the table.
    n_rows : int
    has_names : bool
        Whether the columns have names of their own; those of an array are named x0, x1 and so on.

    Examples
    --------
    >>> table = Table.of({"city": ["Rome", None], "size": [2.8, 1.3]})
    >>> table.names, table.n_rows, table["size"].kind, table["city"].missing()
    (('city', 'size'), 2, 'number', array([False,  True]))
    """

    def __init__(self, readers: Mapping[str, Callable[[], Column]], n_rows: int, *, has_names: bool = True) -> None:
        self._readers = dict(readers)
        self._columns: dict[str, Column] = {}
        self.names = tuple(self._readers)
        self.n_rows = n_rows
        self.has_names = has_names

    @classmethod
    def of(cls, given: Any) -> Table:
        """A table from any of several kinds of objects.

        Parameters
        ----------
        given : data frame, array, dict or list
            A data frame of pandas, polars, pyarrow or any library that narwhals supports, lazy or not; an array with
            two axes or with named fields; a dict of columns; a list of rows or of dicts.
        """
        if isinstance(given, Table):
            return given
        if isinstance(given, np.ndarray):
            return cls._of_array(given)
        if isinstance(given, Mapping):
            return cls._of_dict(given)
        if isinstance(given, (list, tuple)):
            return cls._of_rows(given)
        if hasattr(given, "tocsr") and hasattr(given, "nnz"):
            raise DtypeError(
                "A sparse matrix is not a table. Pass it to an estimator without data=, or convert it: X.toarray()."
            )
        return cls._of_frame(given)

    @classmethod
    def _of_frame(cls, given: Any) -> Table:
        import narwhals as nw

        try:
            frame = nw.from_native(given)
        except nw.exceptions.DuplicateError:
            _check_names(given.columns)
            raise
        except TypeError:
            if not hasattr(given, "__array__"):
                raise DtypeError(
                    f"{type(given).__name__} is not a table. Pass a data frame, an array, or a dict of columns."
                ) from None
            return cls._of_array(np.asarray(given))
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        _check_names(frame.columns)
        readers = {str(name): partial(_from_frame, frame, name) for name in frame.columns}
        return cls(readers, len(frame))

    @classmethod
    def _of_array(cls, array: np.ndarray) -> Table:
        if array.dtype.names:
            fields = array.dtype.names
            return cls({name: partial(from_array, name, array[name]) for name in fields}, len(array))
        if array.ndim != 2:
            raise ShapeError(
                f"The table has shape {array.shape}, but rows and columns are needed. For one column, pass "
                "X.reshape(-1, 1)."
            )
        names = [f"x{place}" for place in range(array.shape[1])]
        readers = {name: partial(from_array, name, array[:, j]) for j, name in enumerate(names)}
        return cls(readers, len(array), has_names=False)

    @classmethod
    def _of_dict(cls, columns: Mapping[Any, Any]) -> Table:
        _check_names(columns)
        read = {str(name): column_of(str(name), values) for name, values in columns.items()}
        lengths = {name: len(column) for name, column in read.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
            raise ShapeError(f"The columns have different lengths: {shown}. Each needs one value for every row.")
        return cls._of_columns(read.values())

    @classmethod
    def _of_rows(cls, rows: list[Any] | tuple[Any, ...]) -> Table:
        if not rows:
            raise ShapeError("The table has no rows.")
        if all(isinstance(row, Mapping) for row in rows):
            names = dict.fromkeys(name for row in rows for name in row)
            return cls._of_dict({name: [row.get(name) for row in rows] for name in names})
        if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
            if hasattr(rows[0], "columns"):
                raise DtypeError(
                    f"A {type(rows).__name__} is given whose first item is a data frame; pass the data frame alone. "
                    "md.read_table returns it together with what it assumed: frame, assumptions = md.read_table(path)."
                )
            raise ShapeError(f"Row 0 is {short(rows[0])}; a list of rows holds lists, tuples, arrays or dicts.")
        width = len(rows[0])
        for place, row in enumerate(rows):
            if len(row) != width:
                raise ShapeError(f"Row {place} has {len(row)} values, but row 0 has {width}.")
        columns = [from_objects(f"x{j}", list(column)) for j, column in enumerate(zip(*rows, strict=True))]
        return cls._of_columns(columns, has_names=False)

    @classmethod
    def _of_columns(cls, columns: Collection[Column], *, has_names: bool = True) -> Table:
        n_rows = max(map(len, columns), default=0)
        return cls({column.name: partial(_itself, column) for column in columns}, n_rows, has_names=has_names)

    def take(self, rows: np.ndarray) -> Table:
        """Some of the rows, by their numbers. Errors name rows by their numbers in this table."""
        readers = {name: partial(_some, self, name, rows) for name in self.names}
        return Table(readers, len(rows), has_names=self.has_names)

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = self._readers[name]()
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._readers

    def __iter__(self) -> Iterator[Column]:
        return (self[name] for name in self.names)

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows, columns {', '.join(self.names)})"


def _from_frame(frame: Any, name: Any) -> Column:
    return from_series(str(name), frame.get_column(name))


def _some(table: Table, name: str, rows: np.ndarray) -> Column:
    return table[name].take(rows)


def _itself(column: Column) -> Column:
    return column


def _check_names(names: Any) -> None:
    twice = [str(name) for name, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        raise InputError(f"The table has the column {twice[0]!r} more than once. Give every column its own name.")
