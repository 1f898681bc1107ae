"""Text values of a column: each distinct text once, and a code for every row.

Python dictionaries and NumPy do all the work. A thread pool, such as that of polars, does not survive a fork, and
models predict in forked worker processes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, overload

import numpy as np

Array = np.ndarray[Any, Any]

NONE = -1
"The code of a missing value."


class Texts:
    """Texts of a column, some of them missing.

    Parameters
    ----------
    codes : array of int
        For every row the position of its text in ``distinct``, or -1 for a missing value.
    distinct : sequence of str
        The distinct texts, in order of first appearance. Some rows of a longer column share its list, so a text may
        occur in no row.

    Examples
    --------
    >>> texts = Texts.of(["Rome", None, "Oslo", "Rome", " "])
    >>> texts.codes, texts.distinct, texts.n_missing
    (array([ 0, -1,  1,  0, -1]), ['Rome', 'Oslo'], 2)
    """

    def __init__(self, codes: Array, distinct: Sequence[str]) -> None:
        self.codes = codes
        self.distinct = list(distinct)

    @classmethod
    def of(cls, values: Sequence[Any]) -> Texts:
        """Texts from a list; blank ones, and values that are not strings, are missing."""
        places: defaultdict[Any, int] = defaultdict()
        places.default_factory = places.__len__  # a new value gets the next number
        codes = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
        distinct = list(places)
        is_text = [isinstance(value, str) and value != "" and not value.isspace() for value in distinct]
        if all(is_text):
            return cls(codes, distinct)
        known = np.where(is_text, np.cumsum(is_text) - 1, NONE)
        return cls(known[codes], list(compress(distinct, is_text)))

    @classmethod
    def of_categories(cls, codes: Array, categories: Sequence[str | None]) -> Texts:
        """Texts from categories and a code for every row, negative for a missing value.

        Categories may repeat, and blank ones are missing.
        """
        names = cls.of(list(categories))
        known = np.append(names.codes, NONE)
        return cls(known[np.where(codes < 0, len(known) - 1, codes)], names.distinct)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, rows: int) -> str | None: ...
    @overload
    def __getitem__(self, rows: Array | slice) -> Texts: ...
    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, (int, np.integer)):
            code = int(self.codes[rows])
            return None if code < 0 else self.distinct[code]
        return Texts(self.codes[rows], self.distinct)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts) and self.to_list() == other.to_list()

    __hash__ = None  # type: ignore[assignment]  # as Python marks it: not hashable

    def to_list(self) -> list[str | None]:
        """The text of every row, None for a missing value."""
        return [None if code < 0 else self.distinct[code] for code in self.codes.tolist()]

    @property
    def n_missing(self) -> int:
        """Number of rows without a text."""
        return int(np.count_nonzero(self.codes < 0))

    def is_missing(self) -> Array:
        """Whether each row is without a text."""
        return self.codes < 0

    def counts(self) -> Array:
        """Number of rows of each distinct text."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))

    def present(self) -> list[str]:
        """The distinct texts that occur in some row."""
        return [text for text, count in zip(self.distinct, self.counts().tolist(), strict=True) if count]

    def most_common(self, n: int) -> list[str]:
        """The ``n`` most frequent texts, most frequent first; among equals, the one seen first."""
        counts = self.counts()
        order = np.argsort(-counts, kind="stable")[:n]
        return [self.distinct[place] for place in order.tolist() if counts[place]]

    def spread(self, values: Array, missing: Any) -> Array:
        """An array with a value for every row, given one for each distinct text and one for missing values."""
        filled: Array = np.append(values, np.array([missing], dtype=values.dtype))
        return filled[self.codes]

    def changed(self, function: Callable[[str], str]) -> Texts:
        """The same rows with every text replaced by a function of it."""
        return Texts.of_categories(self.codes, [function(text) for text in self.distinct])


def numbers_in(texts: Sequence[str]) -> tuple[Array, Array]:
    """Texts read as numbers, and whether each can be read; NaN where it cannot.

    Examples
    --------
    >>> numbers_in(["1.5", " 2e3", "old"])
    (array([1.5e+00, 2.0e+03,     nan]), array([ True,  True, False]))
    """
    values = np.full(len(texts), np.nan)
    read = np.ones(len(texts), dtype=bool)
    try:
        values[:] = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        for place, text in enumerate(texts):
            try:
                values[place] = float(text)
            except ValueError:
                read[place] = False
    # Python also reads 1_000 and the digits of other scripts, which are not numbers in a table.
    odd = [place for place, text in enumerate(texts) if "_" in text or not text.strip().isascii()]
    values[odd], read[odd] = np.nan, False
    return values, read


def written(value: Any) -> str:
    """A number, boolean or date as text; a whole number has no decimal point, so that 3 and 3.0 are one category.

    Examples
    --------
    >>> written(3.0), written(2.5), written(np.datetime64("2024-01-31T10:00"))
    ('3', '2.5', '2024-01-31 10:00')
    """
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**63 else str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value).replace("T", " ") if isinstance(value, np.datetime64) else str(value)


def number_text(value: float) -> str:
    """A value of a table: six significant digits, no exponent where it can be avoided, nothing if it is missing.

    Examples
    --------
    >>> [number_text(value) for value in (1982, 8730.0, 0.1 + 0.2, 123456789.5, 1.5e-7, float("nan"))]
    ['1982', '8730', '0.3', '123456790', '1.5e-07', '']
    """
    if value != value:  # noqa: PLR0124 - NaN is not equal to itself
        return ""
    if isinstance(value, int):
        return str(value)
    if value and not 1e-5 <= abs(float(value)) < 1e15:  # 1e15 is more than float16 has
        return f"{value:.6g}"
    text: str = np.format_float_positional(value, precision=6, unique=True, fractional=False, trim="-")
    return text if len(text.lstrip("-").partition(".")[0]) < 7 else f"{value:.0f}"
