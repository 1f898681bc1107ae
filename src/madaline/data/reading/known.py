"""What is known about a text from an earlier table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from madaline.data.reading.dialect import Dialect

KNOWN_SHARE = 0.5
"Share of the columns of an earlier table that a header must name to be recognised."


@dataclass(frozen=True)
class KnownFormat:
    """What is known about a text from an earlier table: its dialect and the names of its columns."""

    dialect: Dialect
    columns: Collection[str] = field(default_factory=tuple)

    def names(self, fields: Sequence[str]) -> bool:
        """Whether a record names at least half of the columns."""
        found = {" ".join(each.split()) for each in fields} & set(self.columns)
        return bool(found) and len(found) >= KNOWN_SHARE * len(self.columns)
