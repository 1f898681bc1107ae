"""Charts of the data: the target, missing values, distributions of columns, correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.report.html.chart import (
    COLOURS,
    DIVERGING,
    Chart,
    axis,
    colour_of,
    label,
    labels,
    named_axis,
    number_axis,
    numbers,
    short,
    whole,
)
from madaline.report.table_summary import Distribution, TableSummary

MOST_MISSING = 30
LONGEST_TITLE = 60
LONGEST_CATEGORY = 18
"Maximum length of the labels of small charts."
SECONDS_PER_DAY = 86_400


def target_charts(summary: TableSummary, task: str) -> list[Chart]:
    """The number of rows of each class or label, or the distribution of each target."""
    found = []
    for target in summary.targets:
        if target.kind != "category":
            found.append(
                _numbers_chart(target, summary, f"Distribution of the target {short(target.name, 40)}", "half")
            )
            continue
        title = "Rows with each label" if task == "multilabel" else "Class balance"
        found.append(_class_balance(target, summary, title))
    return found


def _class_balance(target: Distribution, summary: TableSummary, title: str) -> Chart:
    counts = target.counts[:, 0]
    share = counts / max(summary.n_rows, 1)
    has_colours = len(counts) <= len(COLOURS)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": whole(counts),
        "y": list(range(len(counts))),
        "text": [f"{each:.1%}" for each in share.tolist()],
        "marker": {"color": [colour_of(k, k, len(counts)) for k in range(len(counts))] if has_colours else COLOURS[0]},
        "hovertemplate": "%{x} rows (%{text})<extra></extra>",
    }
    layout = {
        "xaxis": axis("rows"),
        "yaxis": named_axis(target.values.tolist(), autorange="reversed"),
        "showlegend": False,
    }
    more = f" {target.n_other:,} rows have rarer classes." if target.n_other and title == "Class balance" else ""
    caption = f"Number and fraction of the {summary.n_rows:,} rows of the {summary.rows}.{more}"
    return Chart(title, caption, [bars], layout, height=110 + 24 * len(counts))


def missing_chart(summary: TableSummary) -> Chart | None:
    """The fraction of missing values of each column that has some."""
    if not summary.missing:
        return None
    shown = sorted(summary.missing, key=lambda name: -summary.missing[name])[:MOST_MISSING]
    counts = [summary.missing[name] for name in shown]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(np.array(counts) / max(summary.n_rows, 1)),
        "y": list(range(len(shown))),
        "text": [f"{count:,}" for count in counts],
        "textposition": "none",
        "marker": {"color": COLOURS[-1]},
        "hovertemplate": "%{text} rows (%{x:.1%})<extra></extra>",
    }
    layout = {
        "xaxis": axis("fraction of the rows", tickformat=".0%", range=[0, 1]),
        "yaxis": named_axis(shown, autorange="reversed"),
        "showlegend": False,
    }
    more = f" The {len(shown)} of {len(summary.missing)} columns with the most." if len(shown) < len(counts) else ""
    rest = " The other columns are complete." if summary.n_columns > len(summary.missing) else ""
    return Chart(
        "Missing values", f"Fraction of missing values.{more}{rest}", [bars], layout, height=110 + 24 * len(shown)
    )


def distribution_charts(summary: TableSummary) -> list[Chart]:
    """A small histogram or bar chart for each column."""
    return [
        _categories_chart(column, summary)
        if column.kind == "category"
        else _numbers_chart(column, summary, short(column.name, LONGEST_TITLE), "third")
        for column in summary.columns
    ]


def _numbers_chart(column: Distribution, summary: TableSummary, title: str, size: str) -> Chart:
    is_date = column.kind == "date"
    x = [str(value) for value in column.values.astype("datetime64[s]")] if is_date else numbers(column.values)
    width = column.width * SECONDS_PER_DAY * 1000 if is_date else column.width
    data = [
        {"type": "bar", "x": x, "y": whole(counts), "width": 0.94 * width, **_style(place, summary)}
        for place, counts in enumerate(column.counts.T)
    ]
    xaxis = axis(type="date", nticks=6) if is_date else number_axis(column.values, type="linear", nticks=6)
    layout = {
        "xaxis": xaxis,
        "yaxis": axis(nticks=5),
        "barmode": "stack",
        "showlegend": False,
    }
    return Chart(
        title, _remarks(column, summary, "outside the axis"), data, layout, size, 190 if size == "third" else 260
    )


def _categories_chart(column: Distribution, summary: TableSummary) -> Chart:
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": whole(counts),
            "y": list(range(len(counts))),
            "customdata": labels(column.values, LONGEST_TITLE),
            **_style(place, summary, "%{customdata}: %{x} rows"),
        }
        for place, counts in enumerate(column.counts.T)
    ]
    layout = {
        "xaxis": axis(nticks=4),
        "yaxis": named_axis(column.values.tolist(), longest=LONGEST_CATEGORY, autorange="reversed"),
        "barmode": "stack",
        "showlegend": False,
    }
    caption = _remarks(column, summary, "in rarer categories")
    return Chart(short(column.name, LONGEST_TITLE), caption, data, layout, "third", 190)


def _style(place: int, summary: TableSummary, values: str = "%{x}: %{y} rows") -> dict[str, Any]:
    """Colour and hover text of a bar; with classes, of one of them."""
    if not summary.groups:
        return {"marker": {"color": COLOURS[0]}, "hovertemplate": f"{values}<extra></extra>"}
    colour = colour_of(place, place, len(summary.groups))
    name = label(summary.groups[place])
    return {"marker": {"color": colour}, "name": name, "hovertemplate": f"{values}<extra>{name}</extra>"}


def _remarks(column: Distribution, summary: TableSummary, where: str) -> str:
    found = []
    if column.n_missing and column.kind != "category":
        found.append(f"{column.n_missing / max(summary.n_rows, 1):.1%} missing")
    if column.n_other:
        found.append(f"{column.n_other:,} row{'s' if column.n_other > 1 else ''} {where}")
    return f"{'; '.join(found)}." if found else ""


def correlation_chart(summary: TableSummary) -> Chart | None:
    """A heat map of correlations."""
    found = summary.correlation
    if found is None:
        return None
    size = len(found.names)
    matrix = np.where(np.eye(size, dtype=bool), np.nan, found.matrix)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": list(range(size)),
        "y": list(range(size)),
        "z": numbers(matrix),
        "zmin": -1,
        "zmax": 1,
        "customdata": [[[row, column] for column in labels(found.names)] for row in labels(found.names)],
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
        "hovertemplate": "%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    if size <= 12:
        trace["texttemplate"] = "%{z:.2f}"
    layout = {
        "xaxis": named_axis(found.names, longest=LONGEST_CATEGORY, tickangle=-60, showgrid=False),
        "yaxis": named_axis(found.names, longest=LONGEST_CATEGORY, autorange="reversed", showgrid=False),
    }
    n_shown = size - found.n_targets
    first = (
        "The target is first, then the columns most correlated with it."
        if found.n_targets
        else ("The columns most correlated with a class or target are first.")
    )
    more = f" {n_shown} of {found.n_columns:,} number columns." if n_shown < found.n_columns else ""
    caption = (
        "Spearman's rank correlation of number columns: 1 if one rises whenever the other does, -1 if it falls, 0 if "
        f"there is no such relation. {first}{more}"
    )
    return Chart("Correlations", caption, [trace], layout, "wide", 190 + 22 * size)
