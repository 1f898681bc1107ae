"""One named column, whatever kind of table it came from, and how it is read as numbers, texts, dates or codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from madaline.description import short
from madaline.errors import InputError

if TYPE_CHECKING:
    import polars as pl

KINDS = ("number", "boolean", "category", "text", "date", "other")
"What a column can hold. A category is text that the table itself declares to be one; other has no place in a net."

DATE_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S%.f", "%Y/%m/%d")
"How text may write dates; one of them must fit every value of a column."

TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
"How text may say whether something is so, in small letters."

UNSEEN, MISSING = -1, -2
"The codes of a text that is in no list of categories, and of none."


@dataclass(frozen=True, eq=False)
class Column:
    """Values under a name.

    Parameters
    ----------
    name : str
        As messages and models call it.
    kind : str
        One of :data:`KINDS`.
    values : array or polars.Series
        Numbers as they came, missing ones NaN; booleans as bool, or as 0, 1 and NaN; dates as ``datetime64[us]`` with
        NaT; text and categories as a polars series of strings with nulls, blank text being none. For the kind other,
        words for what is held.
    taken : (Column, array of int), optional
        Of some rows of a longer column: that one, and which rows.
    """

    name: str
    kind: str
    values: Any
    taken: tuple[Column, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> Column:
        """Some of the rows; messages go on calling them by their places in the whole column."""
        return Column(self.name, self.kind, self.values[rows], (self, rows))

    @property
    def whole(self) -> Column:
        """The column that this one was taken from, or itself."""
        return self if self.taken is None else self.taken[0].whole

    def row(self, place: int) -> int:
        """The row that users know a value by."""
        return place if self.taken is None else self.taken[0].row(int(self.taken[1][place]))

    def missing(self) -> np.ndarray:
        """Where there is no value, as booleans."""
        found: np.ndarray = np.zeros(len(self), dtype=bool)
        if self.kind in ("text", "category"):
            found = self.values.is_null().to_numpy()
        elif self.values.dtype.kind in "fM":
            found = np.isnat(self.values) if self.kind == "date" else np.isnan(self.values)
        return found

    def numbers(self) -> np.ndarray:
        """The values as numbers of whatever type, NaN for missing ones; text must read as numbers."""
        if self.kind in ("number", "boolean"):
            values: np.ndarray = self.values
            return values
        if self.kind not in ("text", "category"):
            self._refuse("numbers")
        import polars as pl

        return self._parsed(self.values.str.strip_chars().cast(pl.Float64, strict=False), "a number")

    def booleans(self) -> np.ndarray:
        """The values as 0, 1 and NaN; numbers must be 0 or 1, text one of :data:`TRUTH`."""
        if self.kind in ("text", "category"):
            import polars as pl

            lower = self.values.str.strip_chars().str.to_lowercase()
            return self._parsed(lower.replace_strict(TRUTH, default=None, return_dtype=pl.Float64), "true or false")
        if self.kind not in ("number", "boolean"):
            self._refuse("true and false")
        values: np.ndarray = self.values.astype(np.float64)
        wrong = np.flatnonzero(~np.isnan(values) & (values != 0.0) & (values != 1.0))
        if len(wrong):
            self._say(int(wrong[0]), values[wrong[0]].item(), len(wrong), "true or false")
        return values

    def dates(self) -> np.ndarray:
        """The values as ``datetime64[us]``; text must be written as one of :data:`DATE_FORMATS`."""
        if self.kind == "date":
            found: np.ndarray = self.values
            return found
        if self.missing().all():  # of nothing nobody can tell that it is no date
            return np.full(len(self), "NaT", dtype="datetime64[us]")
        if self.kind not in ("text", "category"):
            self._refuse("dates")
        best = max(
            (self.parsed_dates(pattern) for pattern in DATE_FORMATS), key=lambda parsed: len(parsed.drop_nulls())
        )
        return self._parsed(best, "a date, as 2024-01-31")

    def parsed_dates(self, pattern: str) -> pl.Series:
        """Text read as dates of one format; null where it is not."""
        import polars as pl

        found: pl.Series = self.values.str.strip_chars().str.to_datetime(pattern, time_unit="us", strict=False)
        return found.cast(pl.Datetime("us"))

    def texts(self) -> pl.Series:
        """The values as strings, missing ones null: a number that is whole without its point, 3.0 as 3."""
        import polars as pl

        if self.kind in ("text", "category"):
            found: pl.Series = self.values
            return found
        if self.kind == "other":
            self._refuse("categories")
        if self.kind == "boolean":
            series = pl.Series(self.name, self.booleans(), nan_to_null=True)
            return series.cast(pl.Boolean).cast(pl.String)
        series = pl.Series(self.name, np.ascontiguousarray(self.values), nan_to_null=True).cast(pl.String)
        return series.str.strip_suffix(".0") if self.kind == "number" else series

    def codes(self, categories: tuple[str, ...]) -> np.ndarray:
        """The place of each value among the categories; :data:`UNSEEN` and :data:`MISSING` for others and none."""
        import polars as pl

        texts = self.texts()
        places = texts.cast(pl.Enum(categories), strict=False).to_physical().cast(pl.Int64).fill_null(UNSEEN)
        codes = places.to_numpy(writable=True)
        if texts.null_count():
            codes[texts.is_null().to_numpy()] = MISSING
        return codes

    def _parsed(self, parsed: pl.Series, needed: str) -> np.ndarray:
        """Parsed text as an array, or an error that names what could not be parsed."""
        if parsed.null_count() > self.values.null_count():
            wrong = np.flatnonzero((parsed.is_null() & self.values.is_not_null()).to_numpy())
            self._say(int(wrong[0]), self.values[int(wrong[0])], len(wrong), needed)
        found: np.ndarray = parsed.to_numpy()
        return found

    def _say(self, row: int, value: Any, count: int, needed: str) -> NoReturn:
        others = f" ({count} such rows)" if count > 1 else ""
        raise InputError(
            f"Column {self.name!r}: row {self.row(row)} holds {short(value)}, which is not {needed}{others}. Correct "
            f"the value, leave it empty, or leave the column out: ignore=[{self.name!r}]."
        )

    def _refuse(self, needed: str) -> NoReturn:
        held = {
            "number": "numbers",
            "boolean": "true and false",
            "date": "dates",
            "other": next(iter(self.values), "nothing"),
        }
        raise InputError(
            f"Column {self.name!r} holds {held.get(self.kind, self.kind)}, and {needed} are needed. Convert it, or "
            f"leave it out: ignore=[{self.name!r}]."
        )
