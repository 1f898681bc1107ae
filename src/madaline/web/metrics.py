"""Counters of a server, as Prometheus reads them."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping

BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"Upper ends of the buckets of response times, in seconds."
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PATHS = ("invocations", "explain")

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters by name and labels. Used in one thread."""

    def __init__(self) -> None:
        self._counters: dict[str, Counter[Labels]] = {name: Counter() for name in HELP}
        self._gauges: dict[tuple[str, Labels], float] = {}
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        """Add to a counter."""
        self._counters[name][tuple(labels.items())] += by

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._gauges[name, tuple(labels.items())] = value

    def observe(self, model: str, seconds: float) -> None:
        """Add a response time."""
        buckets = self._buckets.setdefault(model, [0] * (len(BUCKETS) + 1))
        buckets[bisect.bisect_left(BUCKETS, seconds)] += 1
        self._seconds[model] += seconds  # type: ignore[assignment]  # a Counter adds floats, too

    def text(self) -> str:
        """All of them in Prometheus's text format."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, counts in self._counters.items():
            yield from _head(name, HELP[name], "counter")
            yield from (f"{name}{_shown(dict(labels))} {value}" for labels, value in counts.items())
        for name, text in GAUGES.items():
            yield from _head(name, text, "gauge")
            found = ((labels, value) for (own, labels), value in self._gauges.items() if own == name)
            yield from (f"{name}{_shown(dict(labels))} {value}" for labels, value in found)
        name = "madaline_response_seconds"
        yield from _head(name, "Time from the complete request to the answer.", "histogram")
        for model, buckets in self._buckets.items():
            total = 0
            for end, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
                total += count
                yield f"{name}_bucket{_shown({'model': model, 'le': end})} {total}"
            yield f"{name}_sum{_shown({'model': model})} {self._seconds[model]}"
            yield f"{name}_count{_shown({'model': model})} {total}"


HELP = {
    "madaline_requests_total": "Requests for predictions, by model and status.",
    "madaline_rows_total": "Rows predicted.",
    "madaline_unknown_categories_total": "Categories that training did not see, by column.",
    "madaline_out_of_range_total": "Numbers outside of the training range, by column.",
    "madaline_reloads_total": "Changed model files, by result.",
    "madaline_refused_total": "Requests refused before they reached a model, by status.",
}
GAUGES = {"madaline_model_loaded_timestamp_seconds": "When the model was loaded."}


def _head(name: str, text: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _shown(labels: Mapping[str, str]) -> str:
    """Labels in braces. Backslashes, quotes and line feeds are escaped; lone surrogates are replaced."""
    if not labels:
        return ""
    found = []
    for name, value in labels.items():
        text = value.encode("utf-8", "replace").decode()
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
        found.append(f'{name}="{text}"')
    return f"{{{','.join(found)}}}"
