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
MOST_LINES = 150
"Lines in parallel coordinates, of the best trials."
LONGEST_CHOICE = 12
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
    found += [tables.warnings(search.advice())] if search.edges else []
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
    layout: dict[str, Any] = {
        "xaxis": axis(**_scale(part)) if choices is None else named_axis(choices, range=[-0.5, len(choices) - 0.5]),
        "yaxis": loss_axis(losses),
        "showlegend": False,
    }
    best = next((trial for trial in search.trials if trial["trial"] == search.best_trial), {})
    if name in best:
        (place,), _ = _places(part, [best[name]])
        layout["shapes"] = [{"type": "line", "x0": place, "x1": place, "y0": 0, "y1": 1, "yref": "paper", "line": EVEN}]
    return Chart(label(name), "", [trace], layout, "third", 240)


def _scale(part: Mapping[str, Any]) -> dict[str, Any]:
    """The scale of a range: a logarithmic one has four ticks at equal distances."""
    if not part.get("log"):
        return {}
    ticks = np.geomspace(part["low"], part["high"], 4)
    return {"type": "log", "tickvals": numbers(ticks), "ticktext": [f"{tick:.3g}" for tick in ticks]}


def _parallel(search: SearchSummary, trials: Sequence[Mapping[str, Any]]) -> Chart:
    """Every trial as a line through its hyperparameters, coloured by its loss."""
    from plotly.colors import sample_colorscale

    shown = sorted(trials, key=lambda trial: _loss(trial) or 0.0)[:MOST_LINES][::-1]  # the best are drawn last
    losses = np.array([_loss(trial) for trial in shown], dtype=np.float64)
    low, high = float(losses.min()), float(np.quantile(losses, CLEAR))
    colours = sample_colorscale(SEQUENCE, np.clip((losses - low) / max(high - low, 1e-12), 0.0, 1.0).tolist())
    names = _ordered(search)
    data: list[dict[str, Any]] = [
        {
            "x": list(range(len(names))),
            "y": numbers([_fraction(search.space[name], trial[name]) for name in names]),
            "mode": "lines",
            "line": {"color": colour, "width": 3 if trial["trial"] == search.best_trial else 1.2},
            "text": [f"{name} {value_text(trial[name])}" for name in labels(names)],
            "hovertemplate": f"trial {trial['trial']}, loss {loss:.4g}: %{{text}}<extra></extra>",
        }
        for trial, loss, colour in zip(shown, losses.tolist(), colours, strict=True)
    ]
    bar = {"thickness": 10, "outlinewidth": 0, "title": {"text": "loss", "side": "right"}}
    marker = {"color": [low, high], "colorscale": SEQUENCE, "cmin": low, "cmax": high, "showscale": True, "opacity": 0}
    data.append(
        {"x": [0, 0], "y": [0, 0], "mode": "markers", "marker": marker | {"colorbar": bar}, "hoverinfo": "skip"}
    )
    ends = [
        {"x": place, "y": y, "text": text, "showarrow": False, "yanchor": anchor, "font": {"size": 11}}
        for place, name in enumerate(names)
        for y, text, anchor in _ticks(search.space[name])
    ]
    layout = {
        "xaxis": named_axis(names, range=[-0.6, len(names) - 0.4], side="top", tickfont={"size": 12}),
        "yaxis": axis(visible=False, range=[-0.12, 1.12]),
        "annotations": ends,
        "showlegend": False,
    }
    caption = (
        "Each line is a trial through the values of its hyperparameters. Colour: loss on the first rung, dark is good. "
        "Thick line: the best trial."
    )
    return Chart("Parallel coordinates", caption, data, layout, "wide", 340)


def _fraction(part: Mapping[str, Any], value: Any) -> float:
    """The place of a value between the ends of its axis, from 0 to 1."""
    (place,), choices = _places(part, [value])
    if choices is not None:
        return place / max(len(choices) - 1, 1)
    low, high = float(part["low"]), float(part["high"])
    if part.get("log"):
        low, high, place = math.log(low), math.log(high), math.log(place)
    return (place - low) / (high - low)


def _ticks(part: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    """Labels on an axis of the parallel coordinates: place, text, which side of the text is there."""
    if "choices" in part:
        names = labels(part["choices"], LONGEST_CHOICE)
        return [(k / max(len(names) - 1, 1), name, _anchor(k, len(names))) for k, name in enumerate(names)]
    return [(0.0, f"{part['low']:.3g}", "top"), (1.0, f"{part['high']:.3g}", "bottom")]


def _anchor(place: int, count: int) -> str:
    return "top" if place == 0 else "bottom" if place == count - 1 else "middle"


def _best(search: SearchSummary) -> str:
    finished = sorted((t for t in search.trials if t["state"] == "finished"), key=lambda trial: trial["loss"])
    names = ["trial", "loss", "epochs", "seconds", *search.space]
    rows = [
        [trial["trial"], f"{trial['loss']:.5g}", trial["epochs"], f"{trial['seconds']:.1f}"]
        + [value_text(trial[name]) if name in trial else "-" for name in search.space]
        for trial in finished[:SHOWN_TRIALS]
    ]
    return tables.table(names, rows, right=range(len(names)))
