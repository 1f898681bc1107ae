"""A report: what a model is, how it was trained, how good it is and why, in one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape

from madaline import container
from madaline.report.findings import NUMBERS, Findings
from madaline.report.html import effects, judgement, network, tables, training
from madaline.report.html.chart import COLOURS, Chart, named_axis, numbers, titled
from madaline.report.html.page import Section, page


def write_report(path: str | os.PathLike[str], findings: Findings) -> None:
    """Write a report as one HTML file, whole or not at all.

    It needs no network and no other file: plotly's JavaScript is inside. All texts of the data are escaped, and the
    page forbids browsers to load anything. Parts that have nothing to show are left out.

    Parameters
    ----------
    path : path
    findings : Findings
    """
    container.write_whole(path, report(findings).encode("utf-8", "replace"))


def report(findings: Findings) -> str:
    """The report as text."""
    from plotly.offline import get_plotlyjs  # only those who write reports wait for it

    sections = [section for section in _sections(findings) if section.content]
    return page(findings.title, _head(findings), sections, findings.made, get_plotlyjs())


def _head(findings: Findings) -> str:
    names = ", ".join(findings.targets)
    task = f"{findings.task} of {names}" if names else findings.task
    parts = [f"<h1>{escape(findings.title)}</h1>", tables.paragraph(task[0].upper() + task[1:], "quiet")]
    if findings.scores:
        first = next(iter(findings.scores.values()))[0]
        value, _, interval = str(first).partition(" ")
        said = escape(f"{first.name} on rows that training did not see {interval}".strip())
        parts.append(f'<div class="result"><b>{escape(value)}</b><span>{said}</span></div>')
    parts += [tables.facts(findings.facts), tables.warnings(findings.warnings)]
    return "\n".join(part for part in parts if part)


def _sections(findings: Findings) -> Iterator[Section]:
    yield Section("result", "Result", _result(findings))
    yield Section("learning", "Learning", [] if findings.history is None else [*training.curves(findings.history)])
    yield Section("predictions", "Predictions", [*judgement.charts(findings)])
    yield Section("columns", "What matters", _what_matters(findings))
    yield Section("net", "Inside the net", _inside(findings))
    yield Section("data", "Data", _data(findings))
    yield Section("use", "Use it", [tables.code("\n".join(findings.usage))] if findings.usage else [])
    yield Section("config", "Settings", [tables.code(findings.config)] if findings.config.strip() else [])


def _result(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = []
    if findings.scores:
        found.append(tables.score_table(findings.scores))
        found.append(tables.paragraph("Under each score: where 95% of resamples of the test rows have it.", "quiet"))
        first = next(iter(findings.scores.values()))
        found += [tables.paragraph(f"{score.name}: {score.meaning}.", "quiet") for score in first]
    if len(findings.scores) > 1:
        found.append(_comparison(findings))
    if findings.advice:
        found += ["<h3>To try next</h3>", tables.numbered(findings.advice)]
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
        "xaxis": titled(firsts[0].name),
        "yaxis": named_axis(names, range=[len(names) - 0.5, -0.5]),
        "showlegend": False,
    }
    return Chart("Beside simpler models", "", [trace], layout, is_wide=True, height=90 + 34 * len(names))


def _what_matters(findings: Findings) -> list[str | Chart]:
    if findings.effects is None:
        return []
    first = effects.importance(findings.effects)
    found: list[str | Chart] = [] if first is None else [first]
    if shown := effects.dependences(findings):
        what = "prediction" if findings.task in NUMBERS else "probabilities"
        text = f"The mean {what} over held-out rows, if a column had the same value in all of them."
        found += ["<h3>Which way they pull</h3>", tables.paragraph(text, "quiet"), *shown]
    return found


def _inside(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = []
    names: dict[str, str] = {}
    if findings.model is not None:
        model, names = findings.model, network.layer_names(findings.model)
        outputs = [str(name) for name in findings.classes or findings.targets]
        if picture := network.drawing(model, findings.inputs, outputs):
            text = "Orange: positive weights, blue: negative; the thicker, the larger."
            found += [picture, tables.paragraph(text, "quiet")]
        layers = escape(str(model))
        found.append(f"<details><summary>All layers</summary><pre><code>{layers}</code></pre></details>")
        if (weights := network.first_weights(model, findings.inputs)) is not None:
            found.append(weights)
    if findings.history is not None:
        found += training.probes(findings.history.probes, names)
    return found


def _data(findings: Findings) -> list[str | Chart]:
    found: list[str | Chart] = []
    if findings.assumptions:
        found += ["<h3>How the table was read</h3>", tables.listed(findings.assumptions)]
    if findings.columns:
        found += ["<h3>Columns</h3>", tables.table(["column", "used as", "because"], findings.columns)]
    return found
