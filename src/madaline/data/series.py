"""Columns from what tables hold: arrays, series of any data frame library, lists of Python objects."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.data.column import Column
from madaline.errors import ShapeError


def column_of(name: str, given: Any) -> Column:
    """A column from anything with one value a row: array, list, or a series of pandas, polars, pyarrow and others."""
    if isinstance(given, Column):
        return Column(name, given.kind, given.values)
    if isinstance(given, np.ndarray):
        return from_array(name, given)
    if isinstance(given, (list, tuple)):
        return from_objects(name, given)
    import narwhals as nw

    try:
        series = nw.from_native(given, series_only=True)
    except TypeError:
        return from_array(name, np.asarray(given))
    return from_series(name, series)


def from_array(name: str, array: np.ndarray) -> Column:
    """A column that is a view of an array, where its type allows."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ShapeError(f"Column {name!r} has shape {array.shape}; a column has one value for each row.")
    if array.dtype.kind in "fiu":
        return Column(name, "number", array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))
    if array.dtype.kind == "b":
        return Column(name, "boolean", array)
    if array.dtype.kind == "M":
        return Column(name, "date", array.astype("datetime64[us]"))
    if array.dtype.kind == "m":
        return Column(name, "number", _seconds(array))
    if array.dtype.kind == "U":
        return text(name, array.tolist())
    if array.dtype.kind == "O":
        return from_objects(name, array.tolist())
    return other(name, len(array), f"values of type {array.dtype}")


def from_series(name: str, series: Any) -> Column:
    """A column from a narwhals series."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        if dtype == nw.Decimal or dtype in (nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64)
        return from_array(name, series.to_numpy())
    if dtype == nw.Boolean:
        gaps = bool(series.null_count())
        return Column(name, "boolean", (series.cast(nw.Float64) if gaps else series).to_numpy())
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        kind = "text" if dtype == nw.String else "category"
        series = series.cast(nw.String)
        if series.implementation.is_polars():
            return Column(name, kind, _without_blanks(series.to_native().alias(name)))
        return text(name, [None if gap else value for value, gap in zip(series, series.is_null(), strict=True)], kind)
    if dtype in (nw.Date, nw.Datetime):
        if dtype == nw.Datetime and dtype.time_zone is not None:
            series = series.dt.replace_time_zone(None)  # the hour on the clock there is what has a meaning
        return Column(name, "date", series.to_numpy().astype("datetime64[us]"))
    if dtype == nw.Duration:
        return Column(name, "number", _seconds(series.to_numpy()))
    if dtype in (nw.Object, nw.Time, nw.Unknown):
        return from_objects(name, series.to_list())
    return other(name, len(series), f"values of type {dtype}")


def from_objects(name: str, values: Sequence[Any]) -> Column:
    """A column from Python objects: numbers, booleans or dates if all are, text if all are texts or numbers."""
    values = [None if _is_missing(value) else value for value in values]
    types = {type(value) for value in values} - {type(None)}
    if all(issubclass(kind, (bool, np.bool_)) for kind in types) and types:
        gaps = [math.nan if value is None else float(value) for value in values]
        return Column(name, "boolean", np.array(gaps if None in values else values))
    if all(issubclass(kind, (int, float, np.number, decimal.Decimal)) and kind is not bool for kind in types):
        try:
            return Column(name, "number", np.array([math.nan if value is None else float(value) for value in values]))
        except OverflowError:
            return text(name, [None if value is None else _written(value) for value in values])
    if all(issubclass(kind, (dt.date, np.datetime64)) for kind in types):
        return Column(name, "date", np.array([_wall_clock(value) for value in values], dtype="datetime64[us]"))
    if all(issubclass(kind, dt.timedelta) for kind in types):
        return Column(name, "number", _seconds(np.array(values, dtype="timedelta64[us]")))
    if all(issubclass(kind, dt.time) for kind in types):
        return Column(name, "number", np.array([math.nan if t is None else _of_day(t) for t in values]))
    if all(issubclass(kind, (str, bool, np.bool_, int, float, np.number, decimal.Decimal)) for kind in types):
        return text(name, [None if value is None else _written(value) for value in values])
    return other(name, len(values), f"objects of type {', '.join(sorted(kind.__name__ for kind in types))}")


def text(name: str, values: Sequence[str | None], kind: str = "text") -> Column:
    """A column of text; None is missing."""
    import polars as pl

    return Column(name, kind, _without_blanks(pl.Series(name, values, dtype=pl.String)))


def other(name: str, n_rows: int, held: str) -> Column:
    """A column that no net can use; it says what it holds."""
    return Column(name, "other", np.full(n_rows, held, dtype=object))


def _without_blanks(series: Any) -> Any:
    import polars as pl

    blank = (series.str.len_bytes() < 32) & (series.str.strip_chars() == "")
    return series.set(blank, None) if pl.Series.any(blank) else series


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA, which is equal to nothing, itself included."""
    if value is None or isinstance(value, str):
        return value is None
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.generic)) and not bool(value == value)  # noqa: PLR0124


def _written(value: Any) -> str:
    """A value as text: a whole number without its point, as :meth:`Column.texts` writes it."""
    return str(value).removesuffix(".0") if isinstance(value, (float, np.floating)) else str(value)


def _wall_clock(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value


def _of_day(time: dt.time) -> float:
    return time.hour * 3600.0 + time.minute * 60.0 + time.second + time.microsecond * 1e-6


def _seconds(durations: np.ndarray) -> np.ndarray:
    return durations / np.timedelta64(1, "s")
