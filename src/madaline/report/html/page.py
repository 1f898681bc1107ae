"""The HTML page of a report: head, style, script, sections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from madaline.report.html.chart import Chart
from madaline.report.html.script import SCRIPT
from madaline.report.html.style import STYLE

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"The content security policy: browsers load nothing, whatever texts the data has."


@dataclass
class Section:
    """A section of a page.

    Attributes
    ----------
    key : str
        Its anchor in the page.
    title : str
        Plain text.
    content : list of str and Chart
        HTML and charts.
    """

    key: str
    title: str
    content: list[str | Chart] = field(default_factory=list)


def page(title: str, head: str, sections: Sequence[Section], foot: str, plotly: str, *, has_links: bool = True) -> str:
    """The whole page.

    Parameters
    ----------
    title, foot : str
        Plain text.
    head : str
        HTML at the top of the page.
    sections : sequence of Section
    plotly : str
        Plotly's JavaScript, which is left out if there are no charts.
    has_links : bool
        Whether the top of the page has links to the sections.
    """
    charts: list[Chart] = []
    body = "\n".join(_section(section, charts) for section in sections)
    links = "".join(f'<a href="#{section.key}">{escape(section.title)}</a>' for section in sections)
    nav = f'<nav aria-label="Sections">{links}</nav>' if has_links else ""
    footer = f"<footer>{escape(foot)}</footer>" if foot else ""
    specs = [_spec(chart) for chart in charts]
    script = f"<script>{plotly}</script>\n" if charts else ""
    script += f'<script type="application/json" id="charts">{in_script(specs)}</script>\n<script>{SCRIPT}</script>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
{head}
{nav}
</header>
{body}
{footer}
</main>
{script if charts else ""}
</body>
</html>
"""


def in_script(value: object) -> str:
    """JSON for a script element: no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _section(section: Section, charts: list[Chart]) -> str:
    parts: list[str] = []
    in_grid = False
    for item in section.content:
        if isinstance(item, Chart) != in_grid:
            parts.append("</div>" if in_grid else '<div class="grid">')
            in_grid = not in_grid
        if isinstance(item, Chart):
            parts.append(_figure(item, len(charts)))
            charts.append(item)
        else:
            parts.append(item)
    if in_grid:
        parts.append("</div>")
    body = "\n".join(parts)
    return f'<section id="{section.key}">\n<h2>{escape(section.title)}</h2>\n{body}\n</section>'


def _spec(chart: Chart) -> dict[str, object]:
    """What the script needs to draw a chart."""
    spec: dict[str, object] = {"data": chart.data, "layout": dict(chart.layout), "height": chart.height}
    return spec | {"script": chart.script, "values": dict(chart.values)} if chart.script else spec


def _figure(chart: Chart, number: int) -> str:
    caption = f"<figcaption>{escape(chart.caption)}</figcaption>" if chart.caption else ""
    anchor = f' id="{chart.script}"' if chart.script else ""
    return (
        f'<figure class="{chart.size}"{anchor}>\n<h3>{escape(chart.title)}</h3>\n'
        f'<div class="plot" data-chart="{number}" role="img" aria-label="{escape(chart.title)}" '
        f'style="height:{chart.height}px"></div>\n{chart.controls}{caption}\n</figure>'
    )
