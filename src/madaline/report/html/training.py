"""Charts of a training run: learning curves, and what the probes saw, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.report.html.chart import COLOURS, SEQUENCE, Chart, named_axis, numbers, thinned, titled
from madaline.train.history import History, Table

MOST_EPOCHS = 400
"Points of a curve."
MOST_SAMPLES = 120
"Moments of a heat map."
CLEAR = (0.02, 0.98)
"Quantiles between which colours differ, so that one odd step does not take them all."
NOT_CURVES = ("epoch", "seconds", "learning_rate")
PROBES = (
    ("std", "Size of activations", "standard deviation of a layer's output, as a power of 10", True),
    ("zero", "Silent units", "share of an activation's outputs that are 0", False),
    ("saturated", "Saturated units", "share of a layer's inputs where its function is flat", False),
    ("gradient_norm", "Gradients", "norm of the gradient by a layer's parameters, as a power of 10", True),
    ("update_ratio", "Updates", "length of a step over length of a layer's parameters, as a power of 10", True),
)
"Column, title, what it is, whether on a logarithmic scale."
SHARES = ("zero", "saturated")


def curves(history: History) -> list[Chart]:
    """A chart for the loss, one for each other thing that was measured, and one of the learning rate."""
    if history.n_rows < 2:
        return []
    names = [name for name in history if name not in NOT_CURVES and not name.startswith("val_")]
    found = [_curve(history, name) for name in names]
    if "learning_rate" in history:
        found.append(_curve(history, "learning_rate"))
    return found


def _curve(history: History, name: str) -> Chart:
    places = thinned(history.n_rows, MOST_EPOCHS)
    epochs = (history["epoch"] if "epoch" in history else np.arange(1, history.n_rows + 1))[places]
    data = []
    for column, words, colour in ((name, "training rows", COLOURS[0]), (f"val_{name}", "held-out rows", COLOURS[1])):
        if column not in history:
            continue
        values = history[column][places]
        line = {"color": colour, "width": 2}
        data.append({"x": numbers(epochs), "y": numbers(values), "name": words, "mode": "lines", "line": line})
    values = np.concatenate([history[column] for column in (name, f"val_{name}") if column in history])
    is_wide_range = name == "loss" and np.nanmin(values) > 0 and np.nanmax(values) > 20 * np.nanmin(values)
    layout: dict[str, Any] = {
        "xaxis": titled("epoch"),
        "yaxis": {"automargin": True}
        | ({"type": "log", "dtick": 1, "exponentformat": "power"} if is_wide_range else {}),
        "showlegend": len(data) > 1,
        "hovermode": "x unified",
    }
    caption = ""
    if history.best_epoch is not None and name != "learning_rate":
        line = {"color": COLOURS[-1], "dash": "dot", "width": 1.5}
        best = history.best_epoch
        layout["shapes"] = [{"type": "line", "x0": best, "x1": best, "y0": 0, "y1": 1, "yref": "paper", "line": line}]
        caption = f"Dotted: epoch {best}, whose parameters were kept."
    return Chart(name.replace("_", " ").capitalize(), caption, data, layout)


def probes(table: Table, names: Mapping[str, str]) -> list[Chart]:
    """A heat map over time for each statistic, a row for each layer.

    Parameters
    ----------
    table : Table
        ``history.probes``.
    names : mapping of str to str
        Of layers, by path.
    """
    if not table.n_rows:
        return []
    steps, layers = table["step"], table["layer"]
    moments = np.unique(steps)
    moments = moments[thinned(len(moments), MOST_SAMPLES)]
    found = [
        _heat_map(table, statistic, moments, steps, layers, names)
        for statistic in PROBES
        if statistic[0] in table and len(moments) > 1
    ]
    return [chart for chart in found if chart is not None]


def _heat_map(
    table: Table,
    statistic: tuple[str, str, str, bool],
    moments: np.ndarray,
    steps: np.ndarray,
    layers: np.ndarray,
    names: Mapping[str, str],
) -> Chart | None:
    column, title, meaning, is_log = statistic
    values = table[column].astype(np.float64)
    has_params = np.isfinite(table["weight_norm"]) if "weight_norm" in table else np.zeros(table.n_rows, dtype=bool)
    paths, z = [], []
    for path in dict.fromkeys(layers.tolist()):
        own = layers == path
        at = dict(zip(steps[own].tolist(), values[own].tolist(), strict=True))
        row = np.array([at.get(moment, np.nan) for moment in moments.tolist()])
        if np.isfinite(row).any() and not (column == "zero" and has_params[own].any()):
            paths.append(path)
            with np.errstate(divide="ignore"):
                z.append(np.log10(row) if is_log else row)
    if not z or (column in SHARES and not np.nanmax(z) > 0.001):
        return None
    # Of a layer that has stopped, the logarithm is none: its cells stay empty.
    rows = np.where(np.isfinite(z), z, np.nan)
    low, high = np.nanquantile(rows, CLEAR)
    trace = {
        "type": "heatmap",
        "x": numbers(moments),
        "y": list(range(len(paths))),
        "z": numbers(rows),
        "zmin": float(low),
        "zmax": float(high),
        "colorscale": SEQUENCE,
        "colorbar": {"thickness": 10, "outlinewidth": 0} | ({"tickformat": "~%"} if column in SHARES else {}),
        "hovertemplate": "step %{x}: %{z}<extra></extra>",
    }
    layout = {
        "xaxis": titled("step"),
        "yaxis": named_axis([names.get(path, path) for path in paths], autorange="reversed"),
    }
    return Chart(title, f"{meaning[0].upper()}{meaning[1:]}.", [trace], layout, height=max(190, 110 + 26 * len(paths)))
