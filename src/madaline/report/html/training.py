"""Charts of a training run: learning curves, and statistics of each layer over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.report.html.chart import COLOURS, SEQUENCE, Chart, axis, named_axis, numbers, thinned
from madaline.train.history import History, HistoryTable

MOST_EPOCHS = 400
"Maximum number of points of a curve."
MOST_SAMPLES = 120
"Maximum number of steps in a heat map."
CLEAR = (0.02, 0.98)
"Quantiles at which the colour scale ends, so that one extreme step does not use up all colours."
WIDE = 20.0
"Ratio of the largest and the smallest loss from which on the axis is logarithmic."
NOT_CURVES = ("epoch", "seconds", "learning_rate")


@dataclass(frozen=True)
class Statistic:
    """A statistic of layers: its column in ``history.probes``, the title and caption of its chart, its scale."""

    column: str
    title: str
    caption: str
    is_log: bool = False
    is_share: bool = False


STATISTICS = (
    Statistic(
        "std",
        "Activations",
        "Standard deviation of each layer's outputs over the steps of training, as a power of 10. If it shrinks or "
        "grows from layer to layer, so do gradients.",
        is_log=True,
    ),
    Statistic(
        "zero", "Outputs equal to zero", "Fraction of an activation's outputs that are exactly 0.", is_share=True
    ),
    Statistic(
        "dead",
        "Dead units",
        "Fraction of an activation's units that were 0 for every row of the last samples, about 1,000 rows.",
        is_share=True,
    ),
    Statistic(
        "saturated",
        "Saturated units",
        "Fraction of an activation's inputs where it is almost flat, so that hardly any gradient gets through.",
        is_share=True,
    ),
    Statistic(
        "gradient_norm",
        "Gradient norm",
        "Norm of the gradient of each layer's parameters, as a power of 10.",
        is_log=True,
    ),
    Statistic(
        "update_ratio",
        "Relative update size",
        "Size of an update relative to the size of the layer's parameters, as a power of 10. About -3 is typical.",
        is_log=True,
    ),
)


def curves(history: History) -> list[Chart]:
    """Charts of the loss, of each metric, and of the learning rate, by epoch."""
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
    for column, words, colour in ((name, "training set", COLOURS[0]), (f"val_{name}", "validation set", COLOURS[1])):
        if column not in history:
            continue
        values = history[column][places]
        line = {"color": colour, "width": 2}
        data.append({"x": numbers(epochs), "y": numbers(values), "name": words, "mode": "lines", "line": line})
    values = np.concatenate([history[column] for column in (name, f"val_{name}") if column in history])
    layout: dict[str, Any] = {
        "xaxis": axis("epoch"),
        "yaxis": loss_axis(values) if name == "loss" else axis(),
        "showlegend": len(data) > 1,
        "hovermode": "x unified",
    }
    caption = ""
    if history.best_epoch is not None and name != "learning_rate":
        line = {"color": COLOURS[-1], "dash": "dot", "width": 1.5}
        best = history.best_epoch
        layout["shapes"] = [{"type": "line", "x0": best, "x1": best, "y0": 0, "y1": 1, "yref": "paper", "line": line}]
        caption = f"Dotted line: epoch {best}, which was the best on the validation set and was kept."
    return Chart(name.replace("_", " ").capitalize(), caption, data, layout)


def loss_axis(values: np.ndarray) -> dict[str, Any]:
    """An axis for losses, logarithmic if they fall far."""
    known = values[np.isfinite(values)]
    is_wide = len(known) > 0 and known.min() > 0 and known.max() > WIDE * known.min()
    return axis(type="log", dtick=1, exponentformat="power") if is_wide else axis()


def probes(table: HistoryTable, names: Mapping[str, str]) -> list[Chart]:
    """A heat map for each statistic: a row for each layer, a column for each sampled step.

    Parameters
    ----------
    table : HistoryTable
        ``history.probes``.
    names : mapping of str to str
        Names of the layers, by path.
    """
    if not table.n_rows:
        return []
    steps, layers = table["step"], table["layer"]
    moments = np.unique(steps)
    moments = moments[thinned(len(moments), MOST_SAMPLES)]
    found = [
        _heat_map(table, statistic, moments, steps, layers, names)
        for statistic in STATISTICS
        if statistic.column in table and len(moments) > 1
    ]
    return [chart for chart in found if chart is not None]


def _heat_map(
    table: HistoryTable,
    statistic: Statistic,
    moments: np.ndarray,
    steps: np.ndarray,
    layers: np.ndarray,
    names: Mapping[str, str],
) -> Chart | None:
    values = table[statistic.column].astype(np.float64)
    has_params = np.isfinite(table["weight_norm"]) if "weight_norm" in table else np.zeros(table.n_rows, dtype=bool)
    paths, z = [], []
    for path in dict.fromkeys(layers.tolist()):
        own = layers == path
        at = dict(zip(steps[own].tolist(), values[own].tolist(), strict=True))
        row = np.array([at.get(moment, np.nan) for moment in moments.tolist()])
        if np.isfinite(row).any() and not (statistic.column == "zero" and has_params[own].any()):
            paths.append(path)
            with np.errstate(divide="ignore"):
                z.append(np.log10(row) if statistic.is_log else row)
    if not z or (statistic.is_share and not np.nanmax(z) > 0.001):
        return None
    rows = np.array([_running_median(np.where(np.isfinite(row), row, np.nan)) for row in z])
    low, high = np.nanquantile(rows, CLEAR)
    trace = {
        "type": "heatmap",
        "x": numbers(moments),
        "y": list(range(len(paths))),
        "z": numbers(rows),
        "zmin": float(low),
        "zmax": float(high),
        "colorscale": SEQUENCE,
        "colorbar": {"thickness": 10, "outlinewidth": 0} | ({"tickformat": "~%"} if statistic.is_share else {}),
        "hovertemplate": "step %{x}: %{z}<extra></extra>",
    }
    layout = {
        "xaxis": axis("step"),
        "yaxis": named_axis([names.get(path, path) for path in paths], autorange="reversed"),
    }
    return Chart(statistic.title, statistic.caption, [trace], layout, height=max(190, 110 + 26 * len(paths)))


def _running_median(row: np.ndarray) -> np.ndarray:
    """The median of each sample and its two neighbours, so that a last mini-batch of a few rows leaves no stripe.

    Samples that are not finite are left out: one output of one row has no spread, and the logarithm of 0 is not finite.
    A layer that has stopped keeps its empty cells.
    """
    padded = np.pad(row, 1, constant_values=np.nan)
    found = row.copy()
    for place in range(len(row)):
        known = padded[place : place + 3]
        known = known[np.isfinite(known)]
        if len(known) == 3 or (len(known) == 2 and not np.isfinite(row[place])):
            found[place] = np.median(known)
    return found
