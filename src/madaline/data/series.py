"""Columns from the values of tables: arrays, series of any data frame library, lists of Python objects."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from madaline.data.column import Column
from madaline.data.texts import Texts, written
from madaline.errors import ShapeError


def column_of(name: str, given: Any) -> Column:
    """A column from one value per row: an array, a list, or a series of pandas, polars, pyarrow and others."""
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
    """A column from an array, without a copy where the dtype allows it."""
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
        return Column(name, "text", Texts.of(array.tolist()))
    if array.dtype.kind == "O":
        return from_objects(name, array.tolist())
    return other(name, len(array), f"values of type {array.dtype}")


def from_series(name: str, series: Any) -> Column:
    """A column from a narwhals series.

    Operations that polars runs in its thread pool are avoided: in a forked process they never return.
    """
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        if dtype == nw.Decimal or dtype in (nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64)
        return from_array(name, series.to_numpy())
    if dtype == nw.Boolean:
        gaps = bool(series.null_count())
        return Column(name, "boolean", (series.cast(nw.Float64) if gaps else series).to_numpy())
    if dtype == nw.String:
        return Column(name, "text", Texts.of(series.to_list()))
    if dtype in (nw.Categorical, nw.Enum):
        return Column(name, "category", _categories(series))
    if dtype in (nw.Date, nw.Datetime):
        return Column(name, "date", _wall_clocks(series))
    if dtype == nw.Duration:
        return Column(name, "number", _seconds(series.to_numpy()))
    if dtype in (nw.Object, nw.Time, nw.Unknown):
        return from_objects(name, series.to_list())
    return other(name, len(series), f"values of type {dtype}")


def from_objects(name: str, values: Sequence[Any]) -> Column:
    """A column from Python objects: numbers, booleans or dates if all are, text if all are strings or numbers."""
    values = [None if _is_missing(value) else value for value in values]
    types = {type(value) for value in values} - {type(None)}
    if types == {str}:
        return Column(name, "text", Texts.of(values))
    if all(issubclass(kind, (bool, np.bool_)) for kind in types) and types:
        gaps = [math.nan if value is None else float(value) for value in values]
        return Column(name, "boolean", np.array(gaps if None in values else values))
    if all(issubclass(kind, (int, float, np.number, decimal.Decimal)) and kind is not bool for kind in types):
        try:
            return Column(name, "number", np.array([math.nan if value is None else float(value) for value in values]))
        except OverflowError:
            return _as_text(name, values)
    if all(issubclass(kind, (dt.date, np.datetime64)) for kind in types):
        return Column(name, "date", np.array([_wall_clock(value) for value in values], dtype="datetime64[us]"))
    if all(issubclass(kind, dt.timedelta) for kind in types):
        return Column(name, "number", _seconds(np.array(values, dtype="timedelta64[us]")))
    if all(issubclass(kind, dt.time) for kind in types):
        return Column(name, "number", np.array([math.nan if t is None else _hours(t) for t in values]))
    if all(issubclass(kind, (str, bool, np.bool_, int, float, np.number, decimal.Decimal)) for kind in types):
        return _as_text(name, values)
    return other(name, len(values), f"objects of type {', '.join(sorted(kind.__name__ for kind in types))}")


def other(name: str, n_rows: int, content: str) -> Column:
    """A column that no net can use, with a description of what it holds."""
    return Column(name, "other", np.full(n_rows, content, dtype=object))


def _as_text(name: str, values: Sequence[Any]) -> Column:
    return Column(name, "text", Texts.of([None if value is None else written(value) for value in values]))


def _categories(series: Any) -> Texts:
    """Texts of a declared category, which need not be strings."""
    if series.implementation.is_pandas_like():
        native = series.to_native()
        categories = [value if isinstance(value, str) else written(value) for value in native.cat.categories.tolist()]
        return Texts.of_categories(np.asarray(native.cat.codes).astype(np.int64), categories)
    return Texts.of(series.to_list())


def _wall_clocks(series: Any) -> np.ndarray:
    """Dates and times as a clock in their time zone shows them."""
    name = getattr(series.dtype, "time_zone", None)
    zone = _zone(name) if name is not None and series.implementation.is_polars() else None
    if name is not None and zone is None:
        series = series.dt.replace_time_zone(None)
    dates: np.ndarray = series.to_numpy().astype("datetime64[us]")  # in UTC, if there is a zone
    if zone is not None:
        given = ~np.isnat(dates)
        # Offsets from UTC change on a quarter of an hour, so each quarter is looked up once.
        seconds = dates[given].astype("datetime64[s]").astype(np.int64)
        quarters, places = np.unique(seconds // 900, return_inverse=True)
        offsets = [_offset(zone, 900 * quarter) for quarter in quarters.tolist()]
        dates[given] += np.array(offsets, dtype="timedelta64[s]")[places]
    return dates


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _offset(zone: ZoneInfo, seconds: int) -> int:
    """Seconds that the clocks of a zone are ahead of UTC."""
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)
        ahead = moment.astimezone(zone).utcoffset()
    except OverflowError:  # outside the years 1 to 9999
        return 0
    return 0 if ahead is None else int(ahead.total_seconds())


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or the NA of pandas, which is not equal even to itself."""
    if value is None or isinstance(value, str):
        return value is None
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.generic)) and not bool(value == value)  # noqa: PLR0124 - NaN and NaT


def _wall_clock(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value


def _hours(time: dt.time) -> float:
    """A time of day as hours, as :mod:`madaline.data.reading` reads text."""
    return time.hour + time.minute / 60.0 + (time.second + time.microsecond * 1e-6) / 3600.0


def _seconds(durations: np.ndarray) -> np.ndarray:
    return durations / np.timedelta64(1, "s")
