"""What a search of hyperparameters shows about itself."""

from __future__ import annotations

from typing import Any

from madaline.doctor.finding import Finding
from madaline.doctor.judgement import finding_of_fact
from madaline.doctor.sickness import all_sicknesses
from madaline.doctor.sicknesses.search_edge import SearchEdge
from madaline.doctor.trials import Candidate


def findings_of_search(thing: Any) -> list[Finding]:
    """Findings about the search that an estimator comes from; none if there was no search."""
    search = getattr(thing, "search_", None)
    if not isinstance(search, dict):
        return []
    all_sicknesses()
    sickness = SearchEdge()
    found = sickness.of_search(search)
    return [] if found is None else [finding_of_fact(Candidate(sickness, found[0], found[1]))]
