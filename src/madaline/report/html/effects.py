"""Charts of what columns do: how much each matters, and which way the most important ones pull."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.report.findings import NUMBERS, Dependence, Effects, Findings
from madaline.report.html.chart import COLOURS, Chart, colour_of, label, named_axis, numbers, short, titled

MOST_BARS = 25
MOST_LINES = 5
LONGEST_TITLE = 60


def importance(effects: Effects) -> Chart | None:
    """Bars, the longest on top."""
    if not effects.columns:
        return None
    shown = effects.columns[:MOST_BARS]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers([effect.importance for effect in shown]),
        "y": list(range(len(shown))),
        "error_x": {"array": numbers([effect.spread for effect in shown]), "thickness": 1, "color": COLOURS[-1]},
        "marker": {"color": COLOURS[0]},
        "hovertemplate": "%{x}<extra></extra>",
    }
    layout = {
        "xaxis": titled(f"growth of {effects.error}"),
        "yaxis": named_axis([effect.column for effect in shown], autorange="reversed"),
        "showlegend": False,
    }
    more = f" The first {len(shown)} of {effects.n_columns:,} columns." if len(shown) < effects.n_columns else ""
    tried = len(effects.columns)
    chosen = f" Tried were the {tried} that go most with the predictions." if tried < effects.n_columns else ""
    caption = (
        f"How much worse {effects.error} gets on {effects.n_rows:,} rows that training did not see when a column is "
        f"shuffled; lines: spread over shuffles. Columns that say the same share their importance.{more}{chosen}"
    )
    return Chart("Importance of columns", caption, [bars], layout, is_wide=True, height=90 + 24 * len(shown))


def dependences(findings: Findings) -> list[Chart]:
    """A chart for each of the most important columns."""
    if findings.effects is None:
        return []
    names = findings.targets if findings.task in NUMBERS else [str(name) for name in findings.classes]
    found = {effect.column: effect.dependence for effect in findings.effects.columns if effect.dependence is not None}
    limits = _limits([each.prediction for each in found.values()], findings.task) if found else None
    return [_dependence(column, each, names, findings.task, limits) for column, each in found.items()]


def _limits(predictions: Sequence[np.ndarray], task: str) -> list[float] | None:
    """What all charts reach from and to, so that columns can be compared; none for targets of several units."""
    if task in NUMBERS and predictions[0].shape[1] > 1:
        return None
    shown = [each[:, 1:] if task == "binary" else each for each in predictions]
    low, high = min(each.min() for each in shown), max(each.max() for each in shown)
    beside = 0.05 * (high - low)
    if not np.isfinite(beside) or beside == 0.0:
        return None
    return [float(low - beside) if task in NUMBERS else 0.0, float(high + beside)]


def _dependence(
    column: str, found: Dependence, names: Sequence[str], task: str, limits: Sequence[float] | None
) -> Chart:
    prediction = found.prediction
    outputs = list(range(prediction.shape[1]))
    if task == "binary":
        outputs = [1]
    elif len(outputs) > MOST_LINES:  # those that change most
        outputs = sorted(np.argsort(-np.ptp(prediction, axis=0), kind="stable")[:MOST_LINES].tolist())
    is_number = found.values.dtype.kind in "if"
    is_date = found.values.dtype.kind == "M"
    x: list[Any] = list(range(len(found.values)))
    axis: dict[str, Any] = named_axis([str(value) for value in found.values])
    if is_number:
        x, axis = numbers(found.values), {"automargin": True}
    elif is_date:
        x, axis = [str(value) for value in found.values.astype("datetime64[s]")], {"automargin": True, "type": "date"}
    data = []
    for place, k in enumerate(outputs):
        trace: dict[str, Any] = {"x": x, "y": numbers(prediction[:, k])}
        colour = COLOURS[0] if len(outputs) == 1 else colour_of(k, place, prediction.shape[1])
        trace["name"] = label(names[k] if k < len(names) else k)
        if is_number or is_date:
            trace |= {"mode": "lines", "line": {"color": colour, "width": 2}}
        else:
            trace |= {"mode": "markers", "marker": {"color": colour, "size": 9}}
        data.append(trace)
    of = data[0]["name"] if len(data) == 1 else ""
    if task in NUMBERS:
        title = of or "prediction"
    else:
        title = f"probability of {of}" if of else "probability"
    layout: dict[str, Any] = {"xaxis": axis, "yaxis": titled(title), "showlegend": len(data) > 1}
    if task not in NUMBERS:
        layout["yaxis"] |= {"tickformat": ".0%", "rangemode": "tozero"}
    if limits is not None:
        layout["yaxis"] |= {"range": limits}
    return Chart(short(column, LONGEST_TITLE), "", data, layout, height=260)
