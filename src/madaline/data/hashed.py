"""Categories of any number as integers by a hash function, without a list of them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoSeries
    from numpy.typing import ArrayLike, NDArray

_MISSING = np.uint64(0x6D697373696E6721)
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"Shifts and factors of the last steps of SplitMix64 (Steele, Lea & Flood, 2014), which spread 64 bits evenly."


def hash_categories(columns: Mapping[str, ArrayLike | IntoSeries] | IntoDataFrame, buckets: int) -> NDArray[np.int32]:
    """The buckets of categories, one column for each column of a table; each has numbers of its own.

    Column :math:`j` gives integers from ``j * buckets`` to ``(j + 1) * buckets - 1``, for an
    ``Embedding(len(columns) * buckets, width, sparse=True)``. Two categories share a bucket by chance. The result
    depends on the values alone: it is the same in every version and on every machine.

    Parameters
    ----------
    columns : mapping from str to array or series
        Integers, truth values or texts; a missing value is a category, too. A data frame works.
    buckets : int
        Number of different integers of each column.

    Examples
    --------
    >>> from madaline.data import hash_categories
    >>> hash_categories({"city": ["Rome", "Oslo", "Rome"], "shop": [17, 4, 2**40]}, buckets=1000)
    array([[ 273, 1379],
           [ 575, 1978],
           [ 273, 1641]], dtype=int32)
    """
    table: Any = columns  # a data frame and a mapping give a column in the same way
    names = list(getattr(table, "columns", table))
    if buckets < 1 or len(names) * buckets >= 1 << 31:
        raise ConfigError(f"buckets={buckets!r} must be at least 1, and {len(names)} columns need less than 2**31.")
    first = table[names[0]] if names else ()
    found = np.empty((len(first), len(names)), np.int32)
    for number, name in enumerate(names):
        found[:, number] = _spread(_numbers(table[name], name)) % np.uint64(buckets)
        found[:, number] += number * buckets
    return found


def _numbers(column: Any, name: str) -> NDArray[np.uint64]:
    """A 64-bit number for each value."""
    if hasattr(column, "null_count") and hasattr(column, "to_physical"):  # of polars
        import polars as pl

        if column.dtype.is_integer() or column.dtype == pl.Boolean:
            values = column.cast(pl.Int64).fill_null(0).to_numpy().view(np.uint64)
            return np.where(column.is_null().to_numpy(), _MISSING, values) if column.null_count() else values
        if column.dtype in (pl.String, pl.Categorical, pl.Enum):
            codes = column.cast(pl.String).rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
            different = column.cast(pl.String).unique().drop_nulls().sort()
            return np.concatenate([[_MISSING], _of_texts(different.to_list())])[codes]
        raise _wrong(name, str(column.dtype))
    array = np.asarray(column)
    if array.dtype.kind in "iub":
        return array.astype(np.int64).view(np.uint64)
    if array.dtype.kind not in "OUS":
        raise _wrong(name, str(array.dtype))
    values = array.tolist()
    is_missing = np.array([_is_missing(value) for value in values], bool)
    if numbers := [value for value in values if isinstance(value, float) and not _is_missing(value)]:
        raise _wrong(name, f"{array.dtype} with numbers such as {numbers[0]!r}")
    different, codes = np.unique(np.where(is_missing, "", array).astype(str), return_inverse=True)
    return np.where(is_missing, _MISSING, _of_texts(different.tolist())[codes])


def _is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or pandas' NA, which is not imported for it."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def _of_texts(texts: list[str]) -> NDArray[np.uint64]:
    """Two checksums of each text, one after the other."""
    encoded = [text.encode() for text in texts]
    low = np.array([zlib.crc32(text) for text in encoded], np.uint64)
    return (low << np.uint64(32)) | np.array([zlib.adler32(text) for text in encoded], np.uint64)


def _spread(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in _STEPS:
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def _wrong(name: str, kind: str) -> ConfigError:
    return ConfigError(f"Column {name!r} has type {kind}; categories are integers, truth values or texts.")
