"""Text of several words, as reviews and descriptions are: one matrix column for each frequent word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from madaline.data.column import Column
from madaline.data.plans import ColumnPlan
from madaline.description import description
from madaline.errors import ConfigError

WORD = re.compile(r"\w+")
MOST_WORDS = 256
"Number of words that get a matrix column."
FEWEST_ROWS, SMALLEST_SHARE, LARGEST_SHARE = 5, 0.002, 0.9
"A word has a column if it occurs in at least so many rows, in this share of them, and not in nearly all."
WORDS_OF_TEXT = 5.0
"Texts with fewer words on average are names or codes."
SAMPLE = 2_000
"Number of texts that decide whether a column is text."


@description
class Words(ColumnPlan):
    r"""Text as counts of words, :math:`\sqrt{n}` for a word that occurs :math:`n` times, without regard to case.

    Words are sequences of letters, digits and underscores. A last matrix column is the number of words, as
    :math:`\log(1+n)`. All columns are 0 for a missing text.
    """

    name: ClassVar[str] = "words"
    role: ClassVar[str] = "text"
    _: KW_ONLY
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.words)) != len(self.words):
            raise ConfigError(f"Column {self.column!r}: the words must be different.")

    def features(self) -> tuple[str, ...]:
        return (*(f"{self.column}: {word}" for word in self.words), f"{self.column} number of words")

    def read(self, column: Column) -> np.ndarray:
        return np.array([*column.texts().to_list(), None], dtype=object)[:-1]  # strings of any length stay objects

    def write(self, x: np.ndarray, out: np.ndarray) -> None:
        place: Mapping[str, int] = {word: position for position, word in enumerate(self.words)}
        out[...] = 0.0
        for row, text in enumerate(x):
            found = words_of(text)
            for word in found:
                position = place.get(word)
                if position is not None:
                    out[row, position] += 1.0
            out[row, -1] = np.log1p(len(found))
        np.sqrt(out[:, :-1], out=out[:, :-1])


def words_of(text: str | None) -> list[str]:
    """The words of a text in lower case.

    Examples
    --------
    >>> words_of("Don't panic, it's 42!")
    ['don', 't', 'panic', 'it', 's', '42']
    """
    return [] if text is None else WORD.findall(text.lower())


def frequent_words(texts: Iterable[str | None]) -> tuple[str, ...]:
    """The words that get a matrix column, those in most rows first."""
    counts: Counter[str] = Counter()
    n_rows = 0
    for text in texts:
        counts.update(set(words_of(text)))
        n_rows += text is not None
    fewest, most = max(FEWEST_ROWS, SMALLEST_SHARE * n_rows), LARGEST_SHARE * n_rows
    kept = [(count, word) for word, count in counts.items() if fewest <= count <= most]
    return tuple(word for _, word in sorted(kept, key=lambda each: (-each[0], each[1]))[:MOST_WORDS])


def is_prose(texts: Iterable[str]) -> bool:
    """Whether some different texts have so many words that the words, and not the texts, tell something."""
    counts = [len(words_of(text)) for _, text in zip(range(SAMPLE), texts, strict=False)]
    return bool(counts) and float(np.mean(counts)) >= WORDS_OF_TEXT
