"""Several training runs side by side as one HTML page: a table, scores with intervals, learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from madaline.extras import require
from madaline.report.comparison import ComparedRun, best, score_names, table_of
from madaline.report.html import tables
from madaline.report.html.chart import COLOURS, Chart, axis, label, named_axis, numbers, short, thinned
from madaline.report.html.page import Section, page
from madaline.report.html.training import MOST_EPOCHS, NOT_CURVES, loss_axis

LONGEST_NAME = 40


def comparison_page(runs: Sequence[ComparedRun], warnings: Sequence[str]) -> str:
    """The page.

    Parameters
    ----------
    runs : sequence of ComparedRun
    warnings : sequence of str
        Reasons why scores cannot be compared.
    """
    require("plotly", "A page that compares runs")
    from plotly.offline import get_plotlyjs  # only those who write pages wait for it

    title = f"{len(runs)} runs compared"
    names = [short(run.name, LONGEST_NAME) for run in runs]
    head = f"<h1>{escape(title)}</h1>\n{tables.warnings(warnings)}"
    note = "In brackets: 95% bootstrap interval. Parameters that are the same in all runs are left out."
    curves = _curves(runs, names)
    legend = tables.legend(names, [_colour(k) for k in range(len(runs))])
    sections = [
        Section("runs", "Runs", [tables.table(["", *names], table_of(runs)), tables.paragraph(note, "quiet")]),
        Section("scores", "Scores on the test set", [*_score_charts(runs, names)]),
        Section("training", "Learning curves", [legend, *curves] if curves else []),
    ]
    return page(title, head, [each for each in sections if each.content], "", get_plotlyjs())


def _score_charts(runs: Sequence[ComparedRun], names: Sequence[str]) -> list[Chart]:
    """A chart for each score, with its interval in each run."""
    found = []
    for name in score_names(runs):
        scores = [run.score(name) for run in runs]
        known = [(k, score) for k, score in enumerate(scores) if score is not None]
        trace = {
            "x": numbers([score.value for _, score in known]),
            "y": [k for k, _ in known],
            "mode": "markers",
            "marker": {"size": 11, "color": [_colour(k) for k, _ in known]},
            "error_x": {
                "symmetric": False,
                "array": numbers([score.high - score.value for _, score in known]),
                "arrayminus": numbers([score.value - score.low for _, score in known]),
                "color": COLOURS[-1],
                "thickness": 1.5,
            },
            "hovertemplate": "%{x}<extra></extra>",
        }
        layout = {
            "xaxis": axis(name),
            "yaxis": named_axis(names, range=[len(names) - 0.5, -0.5]),
            "showlegend": False,
        }
        first = [names[k] for k in best(runs, name)]
        caption = f"Best: {', '.join(first)}. Lines: 95% bootstrap interval." if first else ""
        meaning = f"{known[0][1].meaning[:1].upper()}{known[0][1].meaning[1:]}. " if known[0][1].meaning else ""
        found.append(Chart(name, f"{meaning}{caption}", [trace], layout, height=110 + 34 * len(names)))
    return found


def _curves(runs: Sequence[ComparedRun], names: Sequence[str]) -> list[Chart]:
    """A chart for each column of the histories, those of the validation set first."""
    columns = dict.fromkeys(
        column for run in runs if run.history is not None for column in run.history if column not in NOT_CURVES
    )
    ordered = sorted(columns, key=lambda column: (column.removeprefix("val_") != "loss", column.removeprefix("val_")))
    return [chart for column in ordered if (chart := _curve(runs, names, column)) is not None]


def _curve(runs: Sequence[ComparedRun], names: Sequence[str], column: str) -> Chart | None:
    data: list[dict[str, Any]] = []
    for k, run in enumerate(runs):
        history = run.history
        if history is None or column not in history or history.n_rows < 2:
            continue
        places = thinned(history.n_rows, MOST_EPOCHS)
        epochs = history["epoch"] if "epoch" in history else np.arange(1, history.n_rows + 1)
        line = {"color": _colour(k), "width": 2}
        trace = {"x": numbers(epochs[places]), "y": numbers(history[column][places]), "mode": "lines", "line": line}
        data.append(trace | {"name": label(names[k])})
    if not data:
        return None
    where = "validation set" if column.startswith("val_") else "training set"
    title = f"{column.removeprefix('val_').replace('_', ' ').capitalize()}, {where}"
    yaxis = axis()
    if column in ("loss", "val_loss"):
        yaxis = loss_axis(
            np.concatenate([run.history[column] for run in runs if run.history and column in run.history])
        )
    layout = {"xaxis": axis("epoch"), "yaxis": yaxis, "showlegend": False, "hovermode": "x unified"}
    return Chart(title, "", data, layout)


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]
