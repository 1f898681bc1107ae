"""Tables, lists and texts of a report, as HTML. All that comes from the data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from madaline.report.findings import Score

SHOWN_ROWS = 500
"Of a longer table."


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def facts(values: Mapping[str, str]) -> str:
    """A few words about a few things."""
    cells = [f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items()]
    return f"<dl>{''.join(cells)}</dl>" if cells else ""


def table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows of texts under their names; a long one is cut."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "\n".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows[:SHOWN_ROWS]
    )
    more = paragraph(f"and {len(rows) - SHOWN_ROWS:,} more", "quiet") if len(rows) > SHOWN_ROWS else ""
    return (
        f'<div class="scroll tall"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>{more}'
    )


def score_table(scores: Mapping[str, Sequence[Score]]) -> str:
    """A row for each model, this one first, and where 95% of resamples have each score."""
    first = next(iter(scores.values()))
    head = '<th scope="col">model</th>' + "".join(
        f'<th scope="col" class="number">{escape(score.name)}</th>' for score in first
    )
    rows = []
    for place, (model, found) in enumerate(scores.items()):
        cells = "".join(_score(score) for score in found)
        rows.append(f"<tr{' class=ours' if place == 0 else ''}><td>{escape(model)}</td>{cells}</tr>")
    body = "\n".join(rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _score(score: Score) -> str:
    value, _, interval = str(score).partition(" ")
    return f'<td class="number">{escape(value)}<span class="range">{escape(interval.strip("()"))}</span></td>'


def warnings(texts: Iterable[str]) -> str:
    """What to be careful about."""
    lines = "".join(paragraph(f"Warning: {text}") for text in texts)
    return f'<div class="warnings">{lines}</div>' if lines else ""


def numbered(items: Iterable[tuple[str, str]]) -> str:
    """Numbered advice, each with the options that follow it."""
    lines = [
        f"<li>{escape(text)}{f' <code>{escape(options)}</code>' if options else ''}</li>" for text, options in items
    ]
    return f"<ol>{''.join(lines)}</ol>" if lines else ""


def listed(texts: Iterable[str]) -> str:
    """Lines without order."""
    lines = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{lines}</ul>" if lines else ""


def code(text: str) -> str:
    """Lines as they are."""
    return f'<pre class="lines"><code>{escape(text.strip())}</code></pre>'
