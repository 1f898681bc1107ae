"""The report of a model as one HTML file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from madaline import container
from madaline.data.task import TASK_NAMES
from madaline.extras import require
from madaline.report.findings import NUMBERS, Findings, meanings
from madaline.report.html import data, effects, ensemble, judgement, network, search, tables, training
from madaline.report.html.chart import COLOURS, Chart, axis, colour_of, named_axis, numbers, short
from madaline.report.html.class_table import class_table
from madaline.report.html.page import Section, page

SHOWN_COLUMNS = 8
"Feature columns in the table of the worst rows, the most important ones."
LONGEST_NAME = 30
"Maximum length of a column name at the top of a table."
WIDTH, GAP, LONGEST_WORD = 76, 2, 16
"Characters of the feature columns in the table of the worst rows, between two of them, and of a text that is wrapped."


def write_report(path: str | os.PathLike[str], findings: Findings) -> None:
    """Write a report as one HTML file, whole or not at all.

    The file includes plotly's JavaScript and needs no network. Texts from the data are escaped, and the page has a
    content security policy that forbids loading anything. Sections that have nothing to show are left out.

    Parameters
    ----------
    path : path
    findings : Findings
    """
    container.write_whole(path, report(findings).encode("utf-8", "replace"))


def report(findings: Findings) -> str:
    """The report as text."""
    require("plotly", "A report")
    from plotly.offline import get_plotlyjs  # only those who write reports wait for it

    sections = [section for section in _sections(findings) if section.content]
    return page(findings.title, _head(findings), sections, findings.made, get_plotlyjs())


def _head(findings: Findings) -> str:
    task = TASK_NAMES.get(findings.task, findings.task).capitalize()
    names = ", ".join(findings.targets)
    parts = [f"<h1>{escape(findings.title)}</h1>", tables.paragraph(f"{task} of {names}" if names else task, "quiet")]
    if findings.scores:
        first = next(iter(findings.scores.values()))[0]
        value, _, interval = str(first).partition(" ")
        range_text = f", 95% interval {interval.strip('()')}" if interval else ""
        text = f"{first.name} on the test set{range_text}"
        parts.append(f'<div class="result"><b>{escape(value)}</b><span>{escape(text)}</span></div>')
    parts += [tables.facts(findings.facts), tables.warnings(findings.warnings)]
    return "\n".join(part for part in parts if part)


def _sections(findings: Findings) -> Iterator[Section]:
    yield Section("result", "Result", _result(findings))
    yield Section("search", "Search", [] if findings.search is None else search.content(findings.search))
    yield Section("learning", "Training", _training(findings))
    yield Section("doctor", "Diagnosis of the training", _diagnosis(findings))
    yield Section("predictions", "Predictions on the test set", _predictions(findings))
    yield Section("columns", "Effects of the columns", _effects(findings))
    yield Section("data", "Data", _data(findings))
    yield Section("net", "Network", _network(findings))
    yield Section("use", "Use the model", [tables.code("\n".join(findings.usage))] if findings.usage else [])
    yield Section("config", "Settings", [tables.code(findings.config)] if findings.config.strip() else [])


def _training(findings: Findings) -> list[str | Chart]:
    if findings.history is None:
        return []
    count = 0 if findings.model is None else ensemble.members_of(findings.model)
    text = f"The curves are those of the first of {count} members; the others are trained on other rows."
    return [*([tables.paragraph(text, "quiet")] if count else []), *training.curves(findings.history)]


def _diagnosis(findings: Findings) -> list[str | Chart]:
    return [] if findings.diagnosis is None else [findings.diagnosis.to_html()]


def _result(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = []
    if findings.scores:
        found.append(tables.score_table(findings.scores))
        text = "Scores on the test set. Under each score: 95% bootstrap interval."
        found.append(tables.paragraph(text, "quiet"))
        first = next(iter(findings.scores.values()))
        found.append(tables.definitions(meanings(first, findings.classes)))
    if len(findings.scores) > 1:
        found.append(_comparison(findings))
    if findings.advice:
        found += ["<h3>What to try next</h3>", tables.numbered(findings.advice)]
    return found


def _comparison(findings: Findings) -> Chart:
    names = list(findings.scores)
    firsts = [scores[0] for scores in findings.scores.values()]
    trace = {
        "x": numbers([score.value for score in firsts]),
        "y": list(range(len(names))),
        "mode": "markers",
        "marker": {"size": 11, "color": [COLOURS[1], *[COLOURS[0]] * (len(names) - 1)]},
        "error_x": {
            "symmetric": False,
            "array": numbers([score.high - score.value for score in firsts]),
            "arrayminus": numbers([score.value - score.low for score in firsts]),
            "color": COLOURS[-1],
            "thickness": 1.5,
        },
        "hovertemplate": "%{x}<extra></extra>",
    }
    layout = {
        "xaxis": axis(firsts[0].name),
        "yaxis": named_axis(names, range=[len(names) - 0.5, -0.5]),
        "showlegend": False,
    }
    caption = "The first score of each model on the same test set. Lines: 95% bootstrap interval."
    return Chart("Comparison with baseline models", caption, [trace], layout, "wide", 90 + 34 * len(names))


def _predictions(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = [*judgement.charts(findings), *class_table(findings)]
    worst = findings.worst
    if worst is not None and worst.rows:
        shown = _fitting(worst.columns)
        names = ["row", *worst.outcome, *(short(name, LONGEST_NAME) for name in shown)]
        columns = [map(str, worst.rows), *worst.outcome.values(), *(worst.columns[name] for name in shown)]
        hidden = len(worst.columns) - len(shown)
        more = f" The {len(shown)} most important of {len(worst.columns)} columns are shown." if hidden else ""
        text = (
            "The rows of the test set with the largest errors. They are often mislabeled or unusual, or a column that "
            f"would explain them is missing. Rows of the table are counted from {worst.first}.{more}"
        )
        found += ["<h3>Worst predictions</h3>", tables.paragraph(text, "quiet")]
        found.append(tables.table(names, list(zip(*columns, strict=True)), right=(0,)))
    return found


def _fitting(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The first columns that fit beside each other in a table as wide as the page; long texts are wrapped."""
    found: list[str] = []
    width = 0
    for name, texts in columns.items():
        width += max(len(short(name, LONGEST_NAME)), *(min(len(text), LONGEST_WORD) for text in texts)) + GAP
        if found and width > WIDTH:
            break
        found.append(name)
    return found[:SHOWN_COLUMNS]


def _effects(findings: Findings) -> list[str | Chart]:
    if findings.effects is None:
        return []
    first = effects.importance(findings.effects)
    found: list[str | Chart] = [] if first is None else [first]
    if shown := effects.dependences(findings):
        what = "prediction" if findings.task in NUMBERS else "probability"
        text = (
            f"The mean {what} over test rows if a column had the same value in all of them and the others stayed as "
            "they are. Values that do not occur together with the others can be misleading."
        )
        found.append("<h3>Partial dependence (how each column changes the prediction)</h3>")
        found.append(tables.paragraph(text, "quiet"))
        if names := effects.legend_names(findings):
            found.append(tables.legend(names, [colour_of(k, k, len(names)) for k in range(len(names))]))
        found += shown
    return found


def _network(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = []
    names: dict[str, str] = {}
    if findings.model is not None:
        model = findings.model
        inside = "0." if ensemble.members_of(model) else ""  # of an ensemble, the first member
        names = network.layer_names(model, inside)
        outputs = [str(name) for name in findings.classes or findings.targets]
        if inside:
            found += [*ensemble.ensemble_drawing(model), "<h3>The first member</h3>"]
        if picture := network.drawing(model, findings.inputs, outputs, inside):
            text = (
                "The layers from the inputs (top) to the outputs. Orange lines are positive weights, blue ones "
                "negative; thicker lines are larger. Of wide layers, the first and last units are drawn."
            )
            found += [picture, tables.paragraph(text, "quiet")]
        layers = escape(str(model))
        found.append(f"<details><summary>All layers</summary><pre><code>{layers}</code></pre></details>")
        if (weights := network.first_weights(model, findings.inputs)) is not None:
            found.append(weights)
    if findings.history is not None and (charts := training.probes(findings.history.probes, names)):
        text = (
            "Statistics of each layer (rows) over the steps of training (columns). Each cell is the median of three "
            "samples, so that small last mini-batches do not stand out."
        )
        found += ["<h3>Layers during training</h3>", tables.paragraph(text, "quiet"), *charts]
    return found


def _data(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = []
    if findings.assumptions:
        found += ["<h3>How the table was read</h3>", tables.listed(findings.assumptions)]
    if findings.columns:
        more = f"{len(findings.columns) - tables.SHOWN_ROWS:,} more columns"
        found += ["<h3>Columns</h3>", tables.table(["column", "used as", "reason"], findings.columns, more=more)]
    summary = findings.data
    if summary is None:
        return found
    found += data.target_charts(summary, findings.task)
    if (missing := data.missing_chart(summary)) is not None:
        found.append(missing)
    elif summary.n_columns:
        found.append(tables.paragraph(f"The {summary.rows} has no missing values."))
    if shown := data.distribution_charts(summary):
        few = f" for the {len(shown)} most important columns" if len(shown) < summary.n_columns else ""
        split = " Colours: classes of the target." if summary.groups else ""
        text = f"Number of rows of the {summary.rows} by value{few}.{split}"
        found += ["<h3>Distributions of the columns</h3>", tables.paragraph(text, "quiet")]
        if summary.groups:
            count = len(summary.groups)
            found.append(tables.legend(summary.groups, [colour_of(k, k, count) for k in range(count)]))
        found += shown
    if (matrix := data.correlation_chart(summary)) is not None:
        found.append(matrix)
    return found
