"""The choice of a decision threshold for two classes: a chart with a slider, and the confusion matrix below it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from madaline.report.html.chart import COLOURS, Chart, axis, numbers, whole
from madaline.report.value_text import shown

N_THRESHOLDS = 101
"Thresholds at equal distances, and as many at quantiles of the probabilities: those of a rare class are all small."
DEFAULT = 0.5
SCRIPT = "threshold"
"Name of the function in script.py that moves the slider."
LINES = (("precision", COLOURS[0]), ("recall", COLOURS[1]), ("F1", COLOURS[2]), ("predicted positive", COLOURS[3]))


def threshold_chart(truth: np.ndarray, p: np.ndarray, names: Sequence[str]) -> Chart | None:
    """Scores of the second of two classes by threshold; None if the test set has only one of them.

    Parameters
    ----------
    truth : array of int of shape (n,)
        0 or 1.
    p : array of shape (n,)
        Probability of class 1. It is predicted where the probability is above the threshold.
    names : sequence of str
        Names of the classes.
    """
    n_positive = int(truth.sum())
    if not 0 < n_positive < len(truth):
        return None
    grid = np.linspace(0.0, 1.0, N_THRESHOLDS)
    thresholds = np.unique(np.round(np.concatenate([grid, np.quantile(p, grid)]), 4))
    true_positive, false_positive = (_above(p[truth == k], thresholds) for k in (1, 0))
    given = true_positive + false_positive
    with np.errstate(invalid="ignore", divide="ignore"):
        curves = {
            "precision": true_positive / given,
            "recall": true_positive / n_positive,
            "F1": 2.0 * true_positive / (given + n_positive),
            "predicted positive": given / len(truth),
        }
    best, start = int(np.argmax(curves["F1"])), int(np.searchsorted(thresholds, DEFAULT))
    cost = (false_positive + n_positive - true_positive) / len(truth)
    data = [
        {"x": numbers(thresholds), "y": numbers(curves[name]), "name": name, "mode": "lines", "line": {"color": colour}}
        for name, colour in LINES
    ]
    dashed = {"color": COLOURS[-1], "dash": "dash"}
    data.append(
        {
            "x": numbers(thresholds),
            "y": numbers(cost),
            "name": "cost per row",
            "mode": "lines",
            "line": dashed,
            "yaxis": "y2",
        }
    )
    no_lines = {"rangemode": "tozero", "showgrid": False, "zeroline": False}
    layout: dict[str, Any] = {
        "xaxis": axis("threshold", range=[0, 1]),
        "yaxis": axis(range=[0, 1.03]),
        "yaxis2": axis("cost per row", overlaying="y", side="right", tickmode="auto", nticks=5, **no_lines),
        "hovermode": "x unified",
        "showlegend": True,
        "shapes": [_marker(thresholds[start])],
    }
    values = {
        "thresholds": thresholds.tolist(),
        "true_positive": whole(true_positive),
        "false_positive": whole(false_positive),
        "n_positive": n_positive,
        "n_negative": len(truth) - n_positive,
        "best": best,
    }
    caption = (
        f"Scores of the class {names[1]} if it is predicted whenever its probability is above the threshold. F1 is "
        f"largest, {curves['F1'][best]:.3f}, at a threshold of {shown(thresholds[best])} ({curves['F1'][start]:.3f} at "
        f"{DEFAULT}). A threshold chosen here fits this test set: check it on other rows. In Python: "
        "estimator.predict_proba(X)[:, 1] > threshold."
    )
    controls = _controls(names, len(thresholds), start, true_positive[start], false_positive[start], values)
    return Chart("Choose a threshold", caption, data, layout, "wide", 340, controls, SCRIPT, values)


def _above(p: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many probabilities are above each threshold."""
    return len(p) - np.searchsorted(np.sort(p), thresholds, side="right")


def _marker(x: float) -> dict[str, Any]:
    line = {"color": COLOURS[-1], "width": 2}
    return {"type": "line", "x0": float(x), "x1": float(x), "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _controls(
    names: Sequence[str], count: int, start: int, true_positive: int, false_positive: int, values: dict[str, Any]
) -> str:
    """Slider, costs and confusion matrix. Without JavaScript the matrix is that of the default threshold."""
    negative, positive = (escape(name) for name in names)
    false_negative = values["n_positive"] - true_positive
    true_negative = values["n_negative"] - false_positive
    facts = ("threshold", "precision", "recall", "F1", "predicted positive", "cost per row")
    cells = "".join(f'<div><dt>{name}</dt><dd data-shows="{name}">-</dd></div>' for name in facts)
    return f"""<div class="threshold">
<p class="slide"><label>Threshold
<input type="range" data-is="threshold" min="0" max="{count - 1}" value="{start}"></label>
<button type="button" data-goes-to="f1">largest F1</button>
<button type="button" data-goes-to="cost">lowest cost</button></p>
<p><label>Cost of a false positive <input type="number" data-is="cost-fp" min="0" step="any" value="1"></label>
<label>of a false negative <input type="number" data-is="cost-fn" min="0" step="any" value="1"></label></p>
<dl>{cells}</dl>
<div class="scroll"><table><thead><tr><td></td><th scope="col" class="number">predicted {negative}</th>
<th scope="col" class="number">predicted {positive}</th></tr></thead><tbody>
<tr><th scope="row">true {negative}</th><td class="number" data-shows="tn">{true_negative}</td>
<td class="number wrong" data-shows="fp">{false_positive}</td></tr>
<tr><th scope="row">true {positive}</th><td class="number wrong" data-shows="fn">{false_negative}</td>
<td class="number" data-shows="tp">{true_positive}</td></tr></tbody></table></div>
</div>"""
