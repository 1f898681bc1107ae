"""Charts that compare predictions with the truth: confusion matrix, calibration, ROC, precision and recall."""

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
    axis,
    colour_of,
    label,
    labels,
    named_axis,
    numbers,
    thinned,
)
from madaline.report.html.residuals import number_charts
from madaline.report.html.shares import share_points, wilson
from madaline.report.html.threshold import threshold_chart

MOST_CLASSES = 40
"Maximum number of classes of a confusion matrix: the most frequent ones."
MOST_CURVES = 6
CURVE_POINTS = 200
N_BINS = 10
"Bins of probabilities, for calibration."

CALIBRATION = (
    "How often {} right, by predicted probability. On the dotted line probabilities are exact: of the predictions with "
    "a probability of 80%, 80% are right. Below it the net is overconfident. Bars: 95% confidence interval."
)


def charts(findings: Findings) -> list[Chart]:
    """The charts of a task."""
    truth, prediction = findings.truth, findings.prediction
    if truth is None or prediction is None or not len(truth):
        return []
    if findings.task in NUMBERS:
        return list(number_charts(truth, prediction, findings.covered, findings.targets))
    names = [str(name) for name in findings.classes]
    if findings.task == "multilabel":
        together = _calibration(prediction.ravel(), truth.ravel() > 0.5, CALIBRATION.format("labels are"))
        return [
            _found_labels(truth > 0.5, prediction > 0.5, names),
            together,
            *_curves(truth, prediction, names),
        ]
    best = np.argmax(prediction, axis=1)
    text = CALIBRATION.format("the predicted class is")
    found = [
        _confusion(truth, best, names),
        _calibration(prediction[np.arange(len(best)), best], best == truth, text),
    ]
    is_class = truth[:, None] == np.arange(len(names))
    first = 1 if len(names) == 2 else 0  # of two classes, the curves of the second are enough
    found += _curves(is_class[:, first:], prediction[:, first:], names[first:])
    chooser = threshold_chart(truth, prediction[:, 1], names) if len(names) == 2 else None
    return found if chooser is None else [*found, chooser]


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
        "hovertemplate": "true %{customdata[0]}, predicted %{customdata[1]}: %{text} rows (%{z:.1%})<extra></extra>",
    }
    if len(shown) <= 15:
        trace["texttemplate"] = "%{text}"
    layout = {
        "xaxis": named_axis(shown, "predicted class"),
        "yaxis": named_axis(shown, "true class", autorange="reversed"),
    }
    more = f" The {len(shown)} most frequent of {len(names)} classes are shown." if len(shown) < len(names) else ""
    caption = f"Number of test rows by true and predicted class. Colour: fraction of the true class.{more}"
    return Chart("Confusion matrix", caption, [trace], layout, height=260 + 16 * max(len(shown) - 4, 0))


def _found_labels(truth: np.ndarray, given: np.ndarray, names: Sequence[str]) -> Chart:
    """Recall and precision of each label."""
    n_rows = truth.sum(axis=0)
    kept = np.sort(np.argsort(-n_rows, kind="stable")[:MOST_CLASSES])
    both = (truth & given).sum(axis=0)
    shares = [("recall", both, n_rows, COLOURS[0]), ("precision", both, given.sum(axis=0), COLOURS[1])]
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
        "xaxis": axis(tickformat=".0%", range=[0, 1]),
        "yaxis": named_axis(shown, autorange="reversed"),
        "showlegend": True,
    }
    more = f" The {len(kept)} most frequent of {len(names)} labels are shown." if len(kept) < len(names) else ""
    caption = (
        "Recall: fraction of the test rows with a label (their number is in brackets) for which it is predicted. "
        f"Precision: fraction of the predictions of a label that are right.{more}"
    )
    return Chart("Precision and recall by label", caption, bars, layout, height=150 + 40 * len(kept))


def _calibration(probabilities: np.ndarray, right: np.ndarray, caption: str) -> Chart:
    """Observed frequency by predicted probability."""
    place = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    bins = [place == k for k in np.unique(place)]
    x, y = [probabilities[each].mean() for each in bins], np.array([right[each].mean() for each in bins])
    n = np.array([each.sum() for each in bins])
    low_share = wilson(y, n)[0]
    points = share_points(x, y, n, hover="probability %{x:.1%}, right %{y:.1%}, %{text} rows") | {"name": "net"}
    low = float(min(np.floor(10 * min(*x, *low_share)) / 10, 0.9))  # no bar is cut off
    beside = 0.05 * (1.0 - low)
    even = {"x": [low, 1], "y": [low, 1], "mode": "lines", "line": EVEN, "hoverinfo": "skip", "name": "exact"}
    both = {"tickformat": ".0%", "range": [low - beside, 1.0 + beside]}
    layout = {
        "xaxis": axis("predicted probability", **both),
        "yaxis": axis("fraction that is right", **both),
        "showlegend": False,
    }
    return Chart("Calibration of probabilities", caption, [even, points], layout)


def _curves(is_class: np.ndarray, p: np.ndarray, names: Sequence[str]) -> Iterator[Chart]:
    """ROC and precision-recall curves, for classes that some rows have and some do not."""
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
    more = f" The {len(shown)} most frequent of {len(names)} are shown." if len(shown) < len(names) else ""
    yield Chart(
        "ROC curve",
        "True and false positive rate for all thresholds of the probability. The legend shows the area under each "
        f"curve: 1 is perfect, 0.5 (dotted) is guessing.{more}",
        [even, *roc],
        {
            "xaxis": axis("false positive rate", **limits),
            "yaxis": axis("true positive rate", **limits),
            "showlegend": True,
        },
        height=height,
    )
    yield Chart(
        "Precision-recall curve",
        "Precision (fraction of the predictions of a class that are right) and recall (fraction of the class that is "
        f"found) for all thresholds. The legend shows the average precision: 1 is perfect.{more}",
        pr,
        {"xaxis": axis("recall", **limits), "yaxis": axis("precision", **limits), "showlegend": True},
        height=height,
    )


def _line(x: np.ndarray, y: np.ndarray, name: str, colour: str) -> dict[str, Any]:
    places = thinned(len(x), CURVE_POINTS)
    line = {"color": colour, "width": 2}
    return {"x": numbers(x[places]), "y": numbers(y[places]), "name": name, "mode": "lines", "line": line}
