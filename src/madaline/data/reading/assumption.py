"""What was assumed about a table, and the option that overrides it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHOWN_NAMES = 4
"Number of columns that a sentence names; the others are counted."


@dataclass(frozen=True)
class Assumption:
    """An assumption about a table.

    Attributes
    ----------
    text : str
        The assumption in a sentence.
    flag : str
        The option that overrides it, such as ``"--decimal"``; :func:`read_table` takes it without dashes.
    """

    text: str
    flag: str

    def __str__(self) -> str:
        return f"{self.text}  ({self.flag})"


def named(columns: Sequence[str]) -> str:
    """Names of columns in a sentence.

    Examples
    --------
    >>> named(["age", "fare"]), named(list("abcdefg"))
    ("'age' and 'fare'", "'a', 'b', 'c', 'd' and 3 more")
    """
    shown = [repr(name) for name in columns[:SHOWN_NAMES]]
    if len(columns) > SHOWN_NAMES:
        return f"{', '.join(shown)} and {len(columns) - SHOWN_NAMES:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(12345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(items: Iterable[str], limit: int = 20) -> str:
    """Items with commas between them; the first ones if they are many."""
    found = list(items)
    more = f" and {len(found) - limit:,} more" if len(found) > limit else ""
    return ", ".join(found[:limit]) + more
