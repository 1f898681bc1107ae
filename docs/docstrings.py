"""Conversion of numpydoc docstrings to Markdown, for the catalogue pages."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

ENTRY = re.compile(r"\**\w+(, \**\w+)*( : |\n    )")
SECTION = re.compile(r"^(\w+)\n-{3,}\n", flags=re.MULTILINE)


@dataclass(frozen=True)
class Explanation:
    """The parts of a numpydoc docstring, in Markdown."""

    summary: str
    "The first paragraph."
    formula: str
    "The first display formula, else the first inline formula with an equation, in LaTeX; empty if there is none."
    body: tuple[str, ...]
    "The paragraphs and formulas after the summary, up to the parameters."
    parameters: tuple[tuple[str, str], ...]
    "Names (such as `a, b`) and descriptions, in the order of the docstring."
    notes: tuple[str, ...]
    "The paragraphs after the parameters, without examples."


def explain(thing: Any) -> Explanation:
    """Read the docstring of ``thing``."""
    head, *rest = SECTION.split(inspect.cleandoc(thing.__doc__))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    summary, *body = _paragraphs(head)
    parameters, after = _parameters(sections.get("Parameters", ""))
    display = re.findall(r"\.\. math::\s*(.*?)(?=\n\n|\Z)", head, flags=re.DOTALL)
    inline = re.findall(r":math:`([^`]*)`", head)
    formulas = [*display, *(math for math in inline if "=" in math or "leftarrow" in math), *inline, ""]
    return Explanation(
        markdown(summary),
        _one_line(formulas[0]).rstrip(".,"),
        tuple(map(markdown, body)),
        tuple(parameters),
        tuple(map(markdown, [*after, *_paragraphs(sections.get("Notes", ""))])),
    )


def markdown(text: str) -> str:
    """A paragraph or display formula of reStructuredText."""
    if text.startswith(".. math::"):
        return f"$$\n{_one_line(text.removeprefix('.. math::'))}\n$$"
    text = re.sub(r":math:`([^`]*)`", r"$\1$", _one_line(text))
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    return text.replace("``", "`")


def cell(text: str) -> str:
    """Escape the bars of formulas, so that the text can be used in a Markdown table."""
    return re.sub(r"\$[^$]*\$", lambda math: math[0].replace(r"\|", r"\Vert{}").replace("|", r"\vert{}"), text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n{2,}", text.strip()) if part]


def _parameters(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Entries of a parameter section, and the paragraphs after them."""
    entries: list[tuple[str, str]] = []
    after = []
    for block in _paragraphs(text):
        if not ENTRY.match(block):
            after.append(block)
            continue
        for entry in re.split(r"\n(?! )", block):
            name, _, lines = entry.partition("\n")
            name, _, kind = name.partition(" : ")
            said = ". ".join(part for part in (markdown(kind), markdown(lines)) if part)
            entries.append((name.strip(), said))
    return entries, after
