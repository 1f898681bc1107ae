"""Charts of the effects of columns: permutation importance and partial dependence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.report.cells import cell_text
from madaline.report.findings import NUMBERS, Dependence, Effects, Findings
from madaline.report.html.chart import COLOURS, Chart, axis, colour_of, label, named_axis, number_axis, numbers, short

MOST_BARS = 25
MOST_LINES = 5
MOST_MARKERS = 10
LONGEST_TITLE = 60


def importance(effects: Effects) -> Chart | None:
    """A bar chart of permutation importance, the most important column first."""
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
        "xaxis": axis(f"increase of {effects.error}"),
        "yaxis": named_axis([effect.column for effect in shown], autorange="reversed"),
        "showlegend": False,
    }
    more = f" The first {len(shown)} of {effects.n_columns:,} columns." if len(shown) < effects.n_columns else ""
    tried = len(effects.columns)
    chosen = (
        f" Only the {tried} columns most correlated with the predictions were tried."
        if tried < effects.n_columns
        else ""
    )
    caption = (
        f"How much worse the predictions of {effects.n_rows:,} test rows get ({effects.error}) when the values of one "
        "column are shuffled, so that they no longer say anything about the row. Lines: standard deviation over "
        "several shuffles; a bar shorter than its line may be chance. Columns with the same information share their "
        "importance."
        f"{more}{chosen}"
    )
    return Chart("Permutation importance", caption, [bars], layout, "wide", 90 + 24 * len(shown))


def dependences(findings: Findings) -> list[Chart]:
    """A partial dependence chart for each of the most important columns."""
    if findings.effects is None:
        return []
    names = findings.targets if findings.task in NUMBERS else [str(name) for name in findings.classes]
    found = {effect.column: effect.dependence for effect in findings.effects.columns if effect.dependence is not None}
    limits = _limits([each.prediction for each in found.values()], findings.task) if found else None
    return [_dependence(column, each, names, findings.task, limits) for column, each in found.items()]


def _limits(predictions: Sequence[np.ndarray], task: str) -> list[float] | None:
    """Common limits of the charts, so that columns can be compared; None for several targets of different units."""
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
    elif len(outputs) > MOST_LINES:  # the outputs that change most
        outputs = sorted(np.argsort(-np.ptp(prediction, axis=0), kind="stable")[:MOST_LINES].tolist())
    shown = label(names[outputs[0]]) if len(outputs) == 1 and names else ""
    title = (shown or "prediction") if task in NUMBERS else f"probability of {shown}" if shown else "probability"
    answers = axis(title)
    if task not in NUMBERS:
        answers |= {"tickformat": ".0%", "rangemode": "tozero"}
    if limits is not None:
        answers |= {"range": limits}
    has_legend = prediction.shape[1] > MOST_LINES  # otherwise one legend serves all charts
    if found.values.dtype.kind in "ifM":
        data, layout, height = _lines(found, outputs), {"xaxis": _value_axis(found.values), "yaxis": answers}, 240
    else:
        values = named_axis([cell_text(value) for value in found.values.tolist()], autorange="reversed")
        data, layout = _points(found, outputs), {"xaxis": answers, "yaxis": values}
        height = max(200, 90 + 22 * len(found.values))
    for trace, k in zip(data, outputs, strict=True):
        trace["name"] = label(names[k] if k < len(names) else k)
    return Chart(short(column, LONGEST_TITLE), "", data, {**layout, "showlegend": has_legend}, height=height)


def _value_axis(values: np.ndarray) -> dict[str, Any]:
    return axis(type="date") if values.dtype.kind == "M" else number_axis(values)


def _lines(found: Dependence, outputs: Sequence[int]) -> list[dict[str, Any]]:
    """Lines over numbers or dates; a few values have markers, too."""
    is_date = found.values.dtype.kind == "M"
    x = [str(value) for value in found.values.astype("datetime64[s]")] if is_date else numbers(found.values)
    mode = "lines+markers" if len(x) <= MOST_MARKERS else "lines"
    return [
        {"x": x, "y": numbers(found.prediction[:, k]), "mode": mode, "line": {"color": _colour(found, outputs, k)}}
        for k in outputs
    ]


def _points(found: Dependence, outputs: Sequence[int]) -> list[dict[str, Any]]:
    """Points beside categories."""
    return [
        {
            "x": numbers(found.prediction[:, k]),
            "y": list(range(len(found.values))),
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"color": _colour(found, outputs, k), "size": 9},
        }
        for k in outputs
    ]


def _colour(found: Dependence, outputs: Sequence[int], k: int) -> str:
    return COLOURS[0] if len(outputs) == 1 else colour_of(k, list(outputs).index(k), found.prediction.shape[1])


def legend_names(findings: Findings) -> list[str]:
    """The outputs that all charts show, if there are several and they fit into one legend."""
    names = findings.targets if findings.task in NUMBERS else findings.classes
    return [str(name) for name in names] if findings.task != "binary" and 1 < len(names) <= MOST_LINES else []
