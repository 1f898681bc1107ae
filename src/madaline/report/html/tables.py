"""Tables, lists and paragraphs of a report as HTML. Texts from the data are escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from madaline.report.findings import Score

SHOWN_ROWS = 40
"Rows of a table that are shown at once."


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def facts(values: Mapping[str, str]) -> str:
    """Short facts, each with its name."""
    cells = [f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items()]
    return f"<dl>{''.join(cells)}</dl>" if cells else ""


def table(names: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = (), more: str = "") -> str:
    """Rows of texts under their names.

    Parameters
    ----------
    names : sequence of str
    rows : sequence of sequences
        Of a long table, the first :data:`SHOWN_ROWS` rows are shown and the others can be unfolded.
    right : sequence of int
        Columns of numbers, aligned to the right.
    more : str
        Summary of the rows that can be unfolded.
    """
    if not rows:
        return ""
    found = _table(names, rows[:SHOWN_ROWS], right)
    if len(rows) > SHOWN_ROWS:
        summary = more or f"{len(rows) - SHOWN_ROWS:,} more rows"
        rest = _table(names, rows[SHOWN_ROWS:], right)
        found += f"<details><summary>{escape(summary)}</summary>{rest}</details>"
    return found


def _table(names: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int]) -> str:
    kind = [' class="number"' if place in right else "" for place in range(len(names))]
    head = "".join(f'<th scope="col"{kind[place]}>{_breakable(name)}</th>' for place, name in enumerate(names))
    body = "\n".join(
        f"<tr>{''.join(f'<td{kind[place]}>{escape(str(cell))}</td>' for place, cell in enumerate(row))}</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _breakable(name: str) -> str:
    """A name that may be continued in the next line after an underscore."""
    return escape(name).replace("_", "_<wbr>")


def score_table(scores: Mapping[str, Sequence[Score]]) -> str:
    """A row for each model, this one first, with the 95% interval under each score."""
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


def definitions(items: Iterable[tuple[str, str]]) -> str:
    """Terms and what they mean, one in a line."""
    lines = [f"<b>{escape(name)}</b>: {escape(text)}." for name, text in items]
    return f'<p class="quiet">{"<br>".join(lines)}</p>' if lines else ""


def warnings(texts: Iterable[str]) -> str:
    """A box of warnings."""
    lines = "".join(paragraph(f"Warning: {text}") for text in texts)
    return f'<div class="warnings">{lines}</div>' if lines else ""


def legend(names: Iterable[str], colours: Iterable[str]) -> str:
    """What colours mean, for several charts."""
    found = "".join(
        f'<span><i style="background:{colour}"></i>{escape(name)}</span>'
        for name, colour in zip(names, colours, strict=True)
    )
    return f'<p class="legend">{found}</p>'


def numbered(items: Iterable[tuple[str, str]]) -> str:
    """A numbered list of advice, each with its options."""
    lines = [
        f"<li>{escape(text)}{f' <code>{escape(options)}</code>' if options else ''}</li>" for text, options in items
    ]
    return f"<ol>{''.join(lines)}</ol>" if lines else ""


def listed(texts: Iterable[str]) -> str:
    """A bulleted list."""
    lines = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{lines}</ul>" if lines else ""


def code(text: str) -> str:
    """A block of code."""
    return f'<pre class="lines"><code>{escape(text.strip())}</code></pre>'
