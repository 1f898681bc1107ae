"""The provenance of a fitted estimator: how its table was read, and how it was trained and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from madaline.data.reading.format import TableFormat
from madaline.errors import FileFormatError


@dataclass(frozen=True)
class Provenance:
    """Information about the training of an estimator.

    Attributes
    ----------
    reading : TableFormat
        How the texts of the training table were read; new tables are read in the same way.
    about : mapping
        Source, rows, scores, versions and so on, as plain data.
    """

    reading: TableFormat = field(default_factory=TableFormat)
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """Numbers, strings, lists and dicts."""
        return {"reading": self.reading.to_plain(), "about": dict(self.about)}

    @classmethod
    def from_plain(cls, data: Any) -> Provenance:
        """The inverse of :meth:`to_plain`."""
        if not isinstance(data, Mapping) or not isinstance(data.get("about"), Mapping):
            raise FileFormatError("What the file says about training is damaged.")
        return cls(TableFormat.from_plain(data.get("reading")), data["about"])
