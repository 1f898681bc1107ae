"""Charts of predictions beside the truth: which classes are mixed up, what to believe, and those of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from madaline.report.findings import NUMBERS, Findings
from madaline.report.html.chart import (
    COLOURS,
    EVEN,
    SEQUENCE,
    Chart,
    colour_of,
    label,
    labels,
    named_axis,
    numbers,
    thinned,
    titled,
)
from madaline.report.html.residuals import number_charts, wilson

MOST_CLASSES = 40
"In a confusion matrix; of more, the most frequent."
MOST_CURVES = 6
CURVE_POINTS = 200
N_BINS = 10
"Of probabilities, for calibration."


def charts(findings: Findings) -> list[Chart]:
    """What fits the task."""
    truth, prediction = findings.truth, findings.prediction
    if truth is None or prediction is None or not len(truth):
        return []
    if findings.task in NUMBERS:
        return list(number_charts(truth, prediction, findings.covered, findings.targets))
    names = [str(name) for name in findings.classes]
    if findings.task == "multilabel":
        text = "Of all labels: on the dotted line probabilities mean what they say; below it they are too high."
        together = _calibration(prediction.ravel(), truth.ravel() > 0.5, f"{text} Bars: 95%.")
        return [
            _found_labels(truth > 0.5, prediction > 0.5, names),
            together,
            *_threshold_charts(truth, prediction, names),
        ]
    best = np.argmax(prediction, axis=1)
    text = "On the dotted line probabilities mean what they say; below it the net is too sure. Bars: 95%."
    found = [
        _confusion(truth, best, names),
        _calibration(prediction[np.arange(len(best)), best], best == truth, text),
    ]
    is_class = truth[:, None] == np.arange(len(names))
    first = 1 if len(names) == 2 else 0  # of two classes, the second says all
    return [*found, *_threshold_charts(is_class[:, first:], prediction[:, first:], names[first:])]


def _confusion(truth: np.ndarray, guess: np.ndarray, names: Sequence[str]) -> Chart:
    from sklearn.metrics import confusion_matrix

    counts = confusion_matrix(truth, guess, labels=np.arange(len(names)))
    kept = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
    counts, shown = counts[np.ix_(kept, kept)], [names[place] for place in kept]
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    trace = {
        "type": "heatmap",
        "x": list(range(len(shown))),
        "y": list(range(len(shown))),
        "z": numbers(share),
        "zmin": 0,
        "zmax": 1,
        "text": counts.tolist(),
        "customdata": [[[row, column] for column in labels(shown)] for row in labels(shown)],
        "colorscale": SEQUENCE,
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickformat": ".0%"},
        "hovertemplate": "%{customdata[0]} taken for %{customdata[1]}: %{text} rows (%{z:.1%})<extra></extra>",
    }
    if len(shown) <= 15:
        trace["texttemplate"] = "%{text}"
    layout = {
        "xaxis": named_axis(shown, title={"text": "predicted"}),
        "yaxis": named_axis(shown, title={"text": "true"}, autorange="reversed"),
    }
    more = f" The {len(shown)} most frequent of {len(names)} classes." if len(shown) < len(names) else ""
    caption = f"Rows of the test by true and predicted class; colour: share of the true class.{more}"
    return Chart("Which classes are mixed up", caption, [trace], layout, height=260 + 16 * max(len(shown) - 4, 0))


def _found_labels(truth: np.ndarray, given: np.ndarray, names: Sequence[str]) -> Chart:
    """Of each label, the share of its rows that are found (recall), and the share of those given that are right."""
    n_rows = truth.sum(axis=0)
    kept = np.sort(np.argsort(-n_rows, kind="stable")[:MOST_CLASSES])
    both = (truth & given).sum(axis=0)
    shares = [("found", both, n_rows, COLOURS[0]), ("right", both, given.sum(axis=0), COLOURS[1])]
    bars = []
    for name, part, all_of_it, colour in shares:
        share = np.divide(part, all_of_it, out=np.full(len(names), np.nan), where=all_of_it > 0)
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": numbers(share[kept]),
                "y": list(range(len(kept))),
                "name": name,
                "marker": {"color": colour},
                "text": [f"{part[k]} of {all_of_it[k]}" for k in kept],
                "textposition": "none",
                "hovertemplate": "%{x:.1%}: %{text} rows<extra></extra>",
            }
        )
    shown = [f"{names[k]} ({n_rows[k]:,})" for k in kept]
    layout = {
        "xaxis": titled("share", tickformat=".0%", range=[0, 1]),
        "yaxis": named_axis(shown, autorange="reversed"),
        "showlegend": True,
    }
    more = f" The {len(kept)} most frequent of {len(names)} labels." if len(kept) < len(names) else ""
    caption = (
        "Found: of the test rows that have a label (their number is in brackets), the share that the net gives it to. "
        f"Right: of the rows that it gives a label to, the share that have it.{more}"
    )
    return Chart("Which labels are found", caption, bars, layout, height=150 + 40 * len(kept))


def _calibration(said: np.ndarray, right: np.ndarray, caption: str) -> Chart:
    """How often something is so, by how likely the net says it is."""
    place = np.minimum((said * N_BINS).astype(int), N_BINS - 1)
    bins = [place == k for k in np.unique(place)]
    x, y = [said[each].mean() for each in bins], np.array([right[each].mean() for each in bins])
    n = np.array([each.sum() for each in bins])
    low_share, high_share = wilson(y, n)
    points = {
        "x": numbers(x),
        "y": numbers(y),
        "mode": "markers",
        "marker": {"color": COLOURS[0], "size": 8},
        "error_y": {
            "symmetric": False,
            "array": numbers(high_share - y),
            "arrayminus": numbers(y - low_share),
            "thickness": 1,
            "color": COLOURS[0],
        },
        "text": n.tolist(),
        "hovertemplate": "said %{x:.1%}, right %{y:.1%} of %{text} rows<extra></extra>",
        "name": "net",
    }
    low = float(min(np.floor(10 * min(*x, *low_share)) / 10, 0.9))  # no bar is cut off
    beside = 0.05 * (1.0 - low)
    even = {"x": [low, 1], "y": [low, 1], "mode": "lines", "line": EVEN, "hoverinfo": "skip", "name": "as it should be"}
    axis = {"tickformat": ".0%", "range": [low - beside, 1.0 + beside]}
    layout = {
        "xaxis": titled("probability that the net gives", **axis),
        "yaxis": titled("share that is right", **axis),
        "showlegend": False,
    }
    return Chart("How far to believe it", caption, [even, points], layout)


def _threshold_charts(is_class: np.ndarray, p: np.ndarray, names: Sequence[str]) -> Iterator[Chart]:
    """ROC and precision-recall curves of classes that some rows have and some have not."""
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

    has_both = [k for k in range(len(names)) if 0 < is_class[:, k].sum() < len(is_class)]
    shown = sorted(sorted(has_both, key=lambda k: -int(is_class[:, k].sum()))[:MOST_CURVES])
    if not shown:
        return
    roc: list[dict[str, Any]] = []
    pr: list[dict[str, Any]] = []
    for place, k in enumerate(shown):
        colour = colour_of(k, place, len(names))
        wrong, right, _ = roc_curve(is_class[:, k], p[:, k])
        roc.append(_line(wrong, right, f"{label(names[k])}: {auc(wrong, right):.3f}", colour))
        precision, recall, _ = precision_recall_curve(is_class[:, k], p[:, k])
        average = average_precision_score(is_class[:, k], p[:, k])
        pr.append(_line(recall[::-1], precision[::-1], f"{label(names[k])}: {average:.3f}", colour))
    even = {"x": [0, 1], "y": [0, 1], "mode": "lines", "line": EVEN, "showlegend": False, "hoverinfo": "skip"}
    limits = {"range": [-0.02, 1.02]}
    height = 290 + 20 * ((len(shown) + 1) // 2)
    more = f" The {len(shown)} most frequent of {len(names)}." if len(shown) < len(names) else ""
    yield Chart(
        "ROC",
        f"Beside each class, the area under its curve; dotted: guessing.{more}",
        [even, *roc],
        {"xaxis": titled("false alarms", **limits), "yaxis": titled("found", **limits), "showlegend": True},
        height=height,
    )
    yield Chart(
        "Precision and recall",
        f"Beside each class, its average precision.{more}",
        pr,
        {"xaxis": titled("recall", **limits), "yaxis": titled("precision", **limits), "showlegend": True},
        height=height,
    )


def _line(x: np.ndarray, y: np.ndarray, name: str, colour: str) -> dict[str, Any]:
    places = thinned(len(x), CURVE_POINTS)
    line = {"color": colour, "width": 2}
    return {"x": numbers(x[places]), "y": numbers(y[places]), "name": name, "mode": "lines", "line": line}
