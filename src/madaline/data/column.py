"""One named column of any kind of table, and how it is read as numbers, booleans, dates, texts or codes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from madaline.data.date_formats import described
from madaline.data.dates import read_dates, recognise
from madaline.data.texts import Texts, numbers_in, written
from madaline.description import short
from madaline.errors import InputError

KINDS = ("number", "boolean", "category", "text", "date", "other")
"What a column can hold. A category is text that the table itself declares to be one; other cannot be used by a net."

ISO = "%Y-%m-%d|%Y-%m-%d %H:%M|%Y-%m-%d %H:%M:%S|%Y-%m-%dT%H:%M:%S|%Y-%m-%dT%H:%M:%S%#z|%Y-%m-%d %H:%M:%S%.f"
"Formats of dates with one meaning only. They are read whatever the format of the training table was."

TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
"Texts that are read as true and false, in lower case."

MOST_DIGITS = 20
"Codes with fewer digits can be read as 64-bit numbers."

UNSEEN, MISSING = -1, -2
"Codes of a text that is not in the list of categories, and of a missing value."


def category_places(categories: Sequence[str]) -> dict[str | int, int]:
    """The position of each category by its text, and by the value that a data frame library makes of such a text.

    pandas and polars read the texts True and False as booleans, and codes such as 007 as numbers. A value that stands
    for several categories is left out.

    Examples
    --------
    >>> category_places(["True", "False"])[False], category_places(["007", "012"])[12]
    (1, 1)
    >>> category_places(["07", "007"]).get(7) is None
    True
    """
    found: dict[str | int, int] = dict(zip(categories, range(len(categories)), strict=True))
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(categories):
        if text.lower() in ("true", "false"):
            places[text.lower() == "true"].append(place)
        elif text[:1] == "0" and len(text) < MOST_DIGITS and text.isascii() and text.isdigit():
            places[int(text)].append(place)
    return found | {value: each[0] for value, each in places.items() if len(each) == 1}


def _truth(text: str) -> bool:
    return text == "true"


def _whole(text: str) -> int | str:
    return int(text) if text.isdigit() else text


VALUE_OF: dict[str, Callable[[str], str | int]] = {"boolean": _truth, "number": _whole}
"The value that was written as a text, by the kind of column."


@dataclass(frozen=True, eq=False)
class Column:
    """Values with a name.

    Parameters
    ----------
    name : str
        The name in messages and models.
    kind : str
        One of :data:`KINDS`.
    values : array or Texts
        Numbers as given, NaN if missing; booleans as bool, or as 0, 1 and NaN; dates as ``datetime64[us]``, NaT if
        missing; text and categories as :class:`Texts`, where blank text is missing. For the kind other, a description
        of what the column holds.
    taken : (Column, array of int), optional
        For some rows of a longer column: that column, and the row numbers.
    """

    name: str
    kind: str
    values: Any
    taken: tuple[Column, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> Column:
        """Some of the rows. Messages name them by their position in the whole column."""
        return Column(self.name, self.kind, self.values[rows], (self, rows))

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, declared as categories or not."""
        return self.kind in ("text", "category")

    @property
    def whole(self) -> Column:
        """The column that this one was taken from, or itself."""
        return self if self.taken is None else self.taken[0].whole

    def row(self, place: int) -> int:
        """The number of a row in the whole column."""
        return place if self.taken is None else self.taken[0].row(int(self.taken[1][place]))

    def missing(self) -> np.ndarray:
        """Whether each value is missing."""
        found: np.ndarray = np.zeros(len(self), dtype=bool)
        if self.is_text:
            found = self.values.is_missing()
        elif self.values.dtype.kind in "fM":
            found = np.isnat(self.values) if self.kind == "date" else np.isnan(self.values)
        return found

    def numbers(self) -> np.ndarray:
        """The values as numbers of any dtype, NaN if missing. Text must be numbers."""
        if self.kind in ("number", "boolean"):
            values: np.ndarray = self.values
            return values
        if not self.is_text:
            self._refuse("numbers")
        return self._spread(*numbers_in(self.values.distinct), np.nan, "a number")

    def booleans(self) -> np.ndarray:
        """The values as 0, 1 and NaN. Numbers must be 0 or 1, text one of :data:`TRUTH`."""
        if self.is_text:
            found = np.array([TRUTH.get(text.strip().lower(), np.nan) for text in self.values.distinct], dtype=float)
            return self._spread(found, ~np.isnan(found), np.nan, "true or false")
        if self.kind not in ("number", "boolean"):
            self._refuse("true and false")
        values: np.ndarray = self.values.astype(np.float64)
        wrong = np.flatnonzero(~np.isnan(values) & (values != 0.0) & (values != 1.0))
        if len(wrong):
            self._raise_wrong_value(int(wrong[0]), values[wrong[0]].item(), len(wrong), "true or false")
        return values

    def dates(self, pattern: str = "") -> np.ndarray:
        """The values as ``datetime64[us]``.

        Parameters
        ----------
        pattern : str
            The format of text, as :func:`~madaline.data.dates.read_dates` takes it. By default the format is
            recognised, and text in which day and month could be exchanged is refused.
        """
        if self.kind == "date":
            found: np.ndarray = self.values
            return found
        if self.missing().all():  # nothing that could be something else
            return np.full(len(self), "NaT", dtype="datetime64[us]")
        if not self.is_text:
            self._refuse("dates")
        texts = self._stripped()
        if pattern:
            dates = read_dates(texts, f"{pattern}|{ISO}")
            needed = f"a date in the format of the training table ({described(pattern)})"
            return self._spread(dates, ~np.isnat(dates), "NaT", needed)
        recognised = recognise(texts)
        if recognised.is_assumed:
            place = int(np.flatnonzero(self.values.codes >= 0)[0])
            raise InputError(
                f"Column {self.name!r}: row {self.row(place)} holds {short(self.values[place])}, and no value shows "
                "whether the day or the month comes first. Write dates as 2024-01-31.",
                column=self.name,
                row=self.row(place),
            )
        return self._spread(recognised.dates, ~np.isnat(recognised.dates), "NaT", "a date such as 2024-01-31")

    def texts(self) -> Texts:
        """The values as strings. A whole number has no decimal point: 3.0 is "3"."""
        if self.is_text:
            found: Texts = self.values
            return found
        if self.kind == "other":
            self._refuse("categories")
        missing = self.missing()
        if self.kind == "boolean":
            return Texts.of_categories(np.where(missing, -1, self.booleans()).astype(np.int64), ["false", "true"])
        distinct, codes = np.unique(self.values, return_inverse=True)
        return Texts.of_categories(np.where(missing, -1, codes), [written(value) for value in distinct])

    def codes(self, categories: tuple[str, ...]) -> np.ndarray:
        """The position of each value in the categories, or :data:`UNSEEN` or :data:`MISSING`."""
        texts = self.texts()
        places = category_places(categories)
        value_of = VALUE_OF.get(self.kind, str)
        found = [places.get(text, places.get(value_of(text), UNSEEN)) for text in texts.distinct]
        return texts.spread(np.array(found, dtype=np.int64), MISSING)

    def _stripped(self) -> list[str]:
        return [text.strip() for text in self.values.distinct]

    def _spread(self, values: np.ndarray, is_read: np.ndarray, missing: Any, needed: str) -> np.ndarray:
        """Values of distinct texts for all rows, or an error that names the first text that cannot be read."""
        if not is_read.all():
            wrong = np.flatnonzero(~self.values.spread(is_read, missing=True))
            if len(wrong):
                self._raise_wrong_value(int(wrong[0]), self.values[int(wrong[0])], len(wrong), needed)
        found: np.ndarray = self.values.spread(values, missing)
        return found

    def _raise_wrong_value(self, row: int, value: Any, count: int, needed: str) -> NoReturn:
        others = f" ({count} such rows)" if count > 1 else ""
        is_written_number = needed == "a number" and isinstance(value, str) and any(map(str.isdigit, value))
        hint = (
            " md.read_table reads such files as madaline train does, with units, separators and times."
            * is_written_number
        )
        raise InputError(
            f"Column {self.name!r}: row {self.row(row)} holds {short(value)}, which is not {needed}{others}.",
            advice=f"Correct the value, leave it empty, or leave the column out: ignore=[{self.name!r}].{hint}",
            column=self.name,
            row=self.row(row),
        )

    def _refuse(self, needed: str) -> NoReturn:
        content = {
            "number": "numbers",
            "boolean": "true and false",
            "date": "dates",
            "other": next(iter(self.values), "nothing"),
        }
        raise InputError(
            f"Column {self.name!r} holds {content.get(self.kind, self.kind)}, but {needed} are needed.",
            advice=f"Convert it, or leave it out: ignore=[{self.name!r}].",
            column=self.name,
        )
