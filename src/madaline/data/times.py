"""Columns of any kind as points in time that can be sorted: dates, years, seconds since 1970."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.data.date_formats import ORDERS
from madaline.data.series import column_of
from madaline.data.text_kind import text_kind
from madaline.description import short
from madaline.errors import InputError


def times_of(values: Any, name: str, *, order: str | None = None, option: str = "--when") -> np.ndarray:
    """A column as numbers that increase with time.

    Dates and dates as text become microseconds since 1970, numbers stay as they are. Missing values become -inf, so
    that they come first.

    Parameters
    ----------
    values : series, array or list
        One value per row.
    name : str
        The name of the column in messages.
    order : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in text. By default it is inferred from the texts.
    option : str
        The option that names the column, for messages.

    Raises
    ------
    InputError
        If the column has anything but dates or numbers, if it has no values, or if day and month in its texts could be
        exchanged. The message names the first row that cannot be read.

    Examples
    --------
    >>> times_of(["31/12/2020", "01/02/2021", None], "day").argsort()
    array([2, 0, 1])
    """
    column = column_of(name, values)
    if column.kind in ("boolean", "other"):
        content = "true and false" if column.kind == "boolean" else next(iter(column.values), "nothing")
        raise InputError(f"{option} {name}: the column holds {content}, but dates or numbers are needed.")
    missing = column.missing()
    if missing.all():
        raise InputError(f"{option} {name}: the column has no values. Choose a column of dates or numbers.")
    if column.kind == "number":
        return np.where(missing, -np.inf, column.values.astype(np.float64))
    if column.kind == "date":
        return _micros(column.values)
    found = text_kind(column.values, order=order)
    if found.kind == "number":
        return np.where(missing, -np.inf, column.numbers())
    if found.kind == "text":
        row = found.first_odd if found.pattern else int(np.flatnonzero(~missing)[0])
        raise InputError(
            f"{option} {name}: row {row} holds {short(column.values[row])}, which is neither a date nor a number. "
            "Correct such values or leave them empty, write dates as 2024-01-31, or choose another column."
        )
    if found.is_assumed:
        raise InputError(
            f"{option} {name}: no value shows whether the day or the month comes first, as in "
            f"{short(column.values.distinct[0])}. Pass --dates {' or --dates '.join(list(ORDERS)[1:])}."
        )
    return _micros(column.dates(found.pattern))


def _micros(dates: np.ndarray) -> np.ndarray:
    return np.where(np.isnat(dates), -np.inf, dates.astype("datetime64[us]").astype(np.int64).astype(np.float64))
