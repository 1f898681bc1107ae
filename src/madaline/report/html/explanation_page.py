"""Explanations of single predictions as a small HTML page without scripts."""

from __future__ import annotations

from html import escape

import numpy as np

from madaline.report.explanations import Explanations, signed
from madaline.report.html import tables
from madaline.report.html.chart import COLOURS
from madaline.report.html.page import Section, page
from madaline.report.value_text import shown

MEANINGS = {
    "probability": "Contributions are differences of the probability.",
    "value": "Contributions are in the units of the target.",
    "raw output": "Contributions are to the raw output of the net, for example a logit.",
}


def explanation_page(found: Explanations, *, title: str, count: int) -> str:
    """The page.

    Parameters
    ----------
    found : Explanations
    title : str
        Plain text.
    count : int
        Columns that are shown for each row; the others are added up.
    """
    text = (
        "For each row: what its columns contribute to the prediction (integrated gradients). The base is the "
        "prediction of a neutral row; the base and all contributions add up to the prediction. "
        f"{MEANINGS[found.quantity]}"
    )
    head = f"<h1>{escape(title)}</h1>\n{tables.paragraph(text, 'quiet')}"
    sections = [
        Section(f"row-{found.rows[place]}", found.title(place), [_row(found, place, count)])
        for place in range(len(found))
    ]
    return page(title, head, sections, "", "", has_links=False)


def _row(found: Explanations, place: int, count: int) -> str:
    size = found.size(place)
    largest = float(np.abs(found.contributions[place]).max(initial=0.0)) or 1.0
    lines = [
        _line(each.column, each.text, signed(each.contribution, size), each.contribution / largest)
        for each in found.largest(place, count)
    ]
    base, prediction = (shown(float(each[place]), size) for each in (found.base, found.prediction))
    first, last = _line("base", "", base, 0.0), _line("prediction", "", prediction, 0.0, kind=' class="ours"')
    body = "\n".join([first, *lines, last])
    names = ("column", "value", "contri&shy;bution")
    head = "".join(f'<th scope="col"{" class=number" if k == 2 else ""}>{name}</th>' for k, name in enumerate(names))
    table = f'<table class="explained"><thead><tr>{head}<td></td></tr></thead><tbody>\n{body}\n</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _line(column: str, value: str, part: str, share: float, kind: str = "") -> str:
    """A row of the table; the bar begins in the middle, negative ones go to the left."""
    colour = COLOURS[1] if share > 0 else COLOURS[0]
    width = 50.0 * min(abs(share), 1.0)
    start = 50.0 if share > 0 else 50.0 - width
    style = f"width:{width:.1f}%;margin-left:{start:.1f}%;background:{colour}"
    bar = f'<span class="bar"><i style="{style}"></i></span>' if share else ""
    cells = f'<td>{escape(column)}</td><td>{escape(value)}</td><td class="number">{escape(part)}</td><td>{bar}</td>'
    return f"<tr{kind}>{cells}</tr>"
