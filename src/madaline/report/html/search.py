"""Charts of a hyperparameter search: history, importances, slices, parallel coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from madaline.report.html import tables
from madaline.report.html.chart import COLOURS, EVEN, SEQUENCE, Chart, axis, label, labels, named_axis, numbers
from madaline.report.html.training import loss_axis
from madaline.report.search_summary import SearchSummary, value_text

FIRST = "loss_1"
"The loss by which all trials can be compared: that of nets on the first rung."
CLEAR = 0.9
"Quantile of the losses at which colours end, so that a few bad trials do not use up all colours."
SHOWN_TRIALS = 10
LEAST = 3
"Number of trials that a chart needs at least."


def content(search: SearchSummary) -> list[str | Chart]:
    """The section about a search."""
    states = ", ".join(f"{count} {state}" for state, count in search.states().items())
    losses = [(name, f"{loss:.5g}") for name, loss in search.losses.items()]
    found: list[str | Chart] = [
        tables.paragraph(f"{len(search.trials)} trials: {states}."),
        tables.table(["model", "loss on held-out rows"], losses, right=(1,)),
    ]
    found += [tables.paragraph(text, "warning") for text in search.advice()]
    known = [trial for trial in search.trials if _loss(trial) is not None and trial.keys() >= search.space.keys()]
    found.append(_history(search))
    if search.importances:
        found.append(_importances(search))
    if len(known) >= LEAST:
        found.append(_parallel(search, known))
        text = (
            "Each point is a trial. The loss is that of nets on the first rung, the shortest training, which all "
            "trials have had. Dotted line: the best trial."
        )
        found += ["<h3>Slices: loss by hyperparameter</h3>", tables.paragraph(text, "quiet")]
        found += [_slice(search, known, name) for name in _ordered(search)]
    found += ["<h3>Best trials</h3>", _best(search)]
    return found


def _loss(trial: Mapping[str, Any]) -> float | None:
    loss = trial.get(FIRST)
    return loss if loss is not None and math.isfinite(loss) else None


def _ordered(search: SearchSummary) -> list[str]:
    return [*search.importances, *(name for name in search.space if name not in search.importances)]


def _history(search: SearchSummary) -> Chart:
    """The loss of each trial, and the best so far."""
    finished = [trial for trial in search.trials if trial["state"] == "finished"]
    others = [trial for trial in search.trials if trial["state"] != "finished" and math.isfinite(trial["loss"])]
    best = np.minimum.accumulate([trial["loss"] for trial in finished])
    points = [(finished, "finished", COLOURS[0], 9), (others, "stopped early", COLOURS[-1], 6)]
    data: list[dict[str, Any]] = [
        {
            "x": [trial["trial"] for trial in trials],
            "y": numbers([trial["loss"] for trial in trials]),
            "text": [f"{trial['state']}, {trial['epochs']} epochs" for trial in trials],
            "mode": "markers",
            "name": name,
            "marker": {"color": colour, "size": size},
            "hovertemplate": "trial %{x}: %{y} (%{text})<extra></extra>",
        }
        for trials, name, colour, size in points
        if trials
    ]
    last = max(trial["trial"] for trial in search.trials)
    data.append(
        {
            "x": [*(trial["trial"] for trial in finished), last],
            "y": numbers([*best, *best[-1:]]),
            "mode": "lines",
            "name": "best so far",
            "line": {"color": COLOURS[1], "width": 2, "shape": "hv"},
            "hoverinfo": "skip",
        }
    )
    every = np.array([trial["loss"] for trial in [*finished, *others]])
    layout = {"xaxis": axis("trial"), "yaxis": loss_axis(every), "showlegend": True}
    caption = (
        "Loss on held-out rows. Trials that were stopped early were trained for fewer epochs than finished ones, so "
        "only finished trials count for the best."
    )
    return Chart("History of the search", caption, data, layout, "half" if search.importances else "wide")


def _importances(search: SearchSummary) -> Chart:
    names = list(search.importances)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(list(search.importances.values())),
        "y": list(range(len(names))),
        "marker": {"color": COLOURS[0]},
        "hovertemplate": "%{x}<extra></extra>",
    }
    layout = {
        "xaxis": axis("fraction of the importance", tickformat="~%"),
        "yaxis": named_axis(names, autorange="reversed"),
        "showlegend": False,
    }
    caption = (
        "How much each hyperparameter distinguishes good trials from others within this space (PED-ANOVA, Watanabe et "
        "al. 2023), on the first rung. With few trials this is rough."
    )
    return Chart("Importance of hyperparameters", caption, [bars], layout)


def _places(part: Mapping[str, Any], values: Sequence[Any]) -> tuple[list[float], list[Any] | None]:
    """Values as places on an axis, and the names of choices."""
    choices = part.get("choices")
    if choices is not None:
        return [float(choices.index(value)) for value in values], list(choices)
    return [float(value) for value in values], None


def _slice(search: SearchSummary, trials: Sequence[Mapping[str, Any]], name: str) -> Chart:
    part = search.space[name]
    places, choices = _places(part, [trial[name] for trial in trials])
    losses = np.array([_loss(trial) for trial in trials], dtype=np.float64)
    trace = {
        "x": numbers(places),
        "y": numbers(losses),
        "text": [str(trial["trial"]) for trial in trials],
        "mode": "markers",
        "marker": {
            "size": 7,
            "color": [COLOURS[0] if trial["state"] == "finished" else COLOURS[-1] for trial in trials],
        },
        "hovertemplate": "trial %{text}: %{y}<extra></extra>",
    }
    scale = {"type": "log"} if part.get("log") else {}
    layout: dict[str, Any] = {
        "xaxis": axis(**scale) if choices is None else named_axis(choices, range=[-0.5, len(choices) - 0.5]),
        "yaxis": loss_axis(losses),
        "showlegend": False,
    }
    best = next((trial for trial in search.trials if trial["trial"] == search.best_trial), {})
    if name in best:
        (place,), _ = _places(part, [best[name]])
        layout["shapes"] = [{"type": "line", "x0": place, "x1": place, "y0": 0, "y1": 1, "yref": "paper", "line": EVEN}]
    return Chart(label(name), "", [trace], layout, "third", 240)


def _parallel(search: SearchSummary, trials: Sequence[Mapping[str, Any]]) -> Chart:
    """Every trial as a line through its hyperparameters, coloured by its loss."""
    losses = np.array([_loss(trial) for trial in trials], dtype=np.float64)
    worst = float(np.quantile(losses, CLEAR))
    shown = sorted(range(len(trials)), key=lambda k: -losses[k])  # the best lines are drawn last
    dimensions = [_dimension(name, search.space[name], [trials[k][name] for k in shown]) for name in _ordered(search)]
    dimensions.append({"label": "loss", "values": numbers(losses[shown]), "range": [float(losses.min()), worst]})
    line = {
        "color": numbers(losses[shown]),
        "colorscale": SEQUENCE,
        "cmin": float(losses.min()),
        "cmax": worst,
        "showscale": True,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
    }
    trace = {"type": "parcoords", "dimensions": dimensions, "line": line, "labelfont": {"size": 12}}
    caption = (
        "Each line is a trial. Colour: loss on the first rung, dark is good. Drag along an axis to select trials; drag "
        "an axis to move it."
    )
    layout = {"margin": {"l": 60, "r": 20, "t": 50, "b": 20}}
    return Chart("Parallel coordinates", caption, [trace], layout, "wide", 340)


def _dimension(name: str, part: Mapping[str, Any], values: Sequence[Any]) -> dict[str, Any]:
    places, choices = _places(part, values)
    if choices is not None:
        ends = [-0.2, len(choices) - 0.8]
        return {"label": label(name), "values": places, "tickvals": list(range(len(choices))),
                "ticktext": labels(choices), "range": ends}  # fmt: skip
    low, high = float(part["low"]), float(part["high"])
    if not part.get("log"):
        return {"label": label(name), "values": numbers(places), "range": [low, high]}
    ticks = np.geomspace(low, high, 5)
    return {
        "label": label(name),
        "values": numbers(np.log10(places)),
        "range": numbers(np.log10([low, high])),
        "tickvals": numbers(np.log10(ticks)),
        "ticktext": [f"{tick:.2g}" for tick in ticks],
    }


def _best(search: SearchSummary) -> str:
    finished = sorted((t for t in search.trials if t["state"] == "finished"), key=lambda trial: trial["loss"])
    names = ["trial", "loss", "epochs", "seconds", *search.space]
    rows = [
        [trial["trial"], f"{trial['loss']:.5g}", trial["epochs"], f"{trial['seconds']:.1f}"]
        + [value_text(trial[name]) if name in trial else "-" for name in search.space]
        for trial in finished[:SHOWN_TRIALS]
    ]
    return tables.table(names, rows, right=range(len(names)))
