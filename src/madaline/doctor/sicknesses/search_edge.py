"""A search whose best value is at the end of its range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.sickness import Sickness, Symptom

WIDER = 3.0
"Factor by which a range is widened."


class SearchEdge(Sickness):
    """A search whose best value is at the end of its range."""

    name = "search_edge"
    number = 42
    title = "The best hyperparameter is at the edge of its range."
    severity = "info"
    proof = "fact"
    why = (
        "If the loss still falls at the end of the range [low, high], its minimum may lie outside. "
        "The search has then found the limit of its space, and not the best value."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        return None  # a single run has no ranges; see of_search

    def of_search(self, found: Mapping[str, Any]) -> tuple[Symptom, list[Remedy]] | None:
        """The symptom and remedies of a search, from the attribute ``search_`` of its estimator."""
        edges = [each for each in found.get("edges", ()) if isinstance(each["value"], (int, float))]
        if not edges:
            return None
        names = ", ".join(f"{each['name']} ({each['end']} end)" for each in edges)
        symptom = Symptom({each["name"]: float(each["value"]) for each in edges}, names, 0.9)
        return symptom, [_widened(each["name"], each["end"], found["space"][each["name"]]) for each in edges]


def _widened(name: str, end: str, part: Mapping[str, Any]) -> Remedy:
    """A range that goes further at one end: by a factor on a logarithmic scale, otherwise by its length."""
    low, high = part["low"], part["high"]
    span = high - low
    if part.get("log"):
        low, high = (low / WIDER, high) if end == "low" else (low, high * WIDER)
    else:
        low, high = (low - span, high) if end == "low" else (low, high + span)
    if isinstance(part["low"], int) and isinstance(part["high"], int):
        low, high = int(low), int(high)
    shown = dict(part) | {"low": low, "high": high}
    return Remedy(
        f"Search {name} between {low:g} and {high:g}, or as far as the parameter allows.",
        python=f"md.search(..., space={{{name!r}: {shown!r}, ...}})",
    )
