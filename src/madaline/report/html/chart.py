"""A chart as plotly's JavaScript takes it, and the colours and texts that charts share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D46", "#808890")
"Okabe & Ito (2008), told apart by the colour-blind; without black and yellow, which vanish in the dark and on paper."
SEQUENCE = "Cividis"
"From little to much, for the colour-blind too: Nunez, Anderton & Renslow 2018."
DIVERGING = [[0.0, "#0072B2"], [0.5, "#f4f4f4"], [1.0, "#D55E00"]]
"Below and above 0."
EVEN = {"dash": "dot", "color": COLOURS[-1], "width": 1.5}
"The line to compare with."
DIGITS = 4
"Of numbers in charts."
LONGEST = 28
"Characters of a label."
KEPT_END = 9
"Those of them at the end of a longer text that are shown."


@dataclass(frozen=True)
class Chart:
    """A chart with its title and what it means.

    Attributes
    ----------
    title, caption : str
        Plain text.
    data : list of dict
        Traces.
    layout : dict
        What differs from other charts.
    is_wide : bool
        Whether it takes the whole width of the page.
    height : int
        In pixels.
    """

    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)
    is_wide: bool = False
    height: int = 300


def numbers(values: Any) -> list[Any]:
    """Numbers with few digits, as JSON has them: what is not finite is null."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [numbers(row) for row in array]
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in array.tolist()]


def whole(values: Any) -> list[int]:
    """Whole numbers, as JSON has them."""
    found: list[int] = np.asarray(values, dtype=np.int64).tolist()
    return found


def label(text: object, longest: int = LONGEST) -> str:
    """A text of the data for a chart: plotly would take ``<b>`` and the like for its own words."""
    return escape(short(str(text), longest), quote=False)


def short(text: str, longest: int) -> str:
    """A text of one line that is not too long; its middle is left out, since names often differ at the end."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1 - KEPT_END]}…{plain[-KEPT_END:]}"


def labels(texts: Iterable[object], longest: int = LONGEST) -> list[str]:
    """Labels of several texts."""
    return [label(text, longest) for text in texts]


def named_axis(names: Sequence[object], **more: Any) -> dict[str, Any]:
    """An axis with a name at each whole number: names that look like numbers or dates stay what they are."""
    return {"tickvals": list(range(len(names))), "ticktext": labels(names), "automargin": True, **more}


def titled(text: str, **more: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": {"text": text}, "automargin": True, **more}


def colour_of(output: int, place: int, n_outputs: int) -> str:
    """The colour of a class or target, the same in every chart; of too many, by its place in this one."""
    return COLOURS[output if n_outputs <= len(COLOURS) else place % len(COLOURS)]


def thinned(count: int, most: int) -> np.ndarray:
    """Places of at most so many of a row of points, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)) if count else np.arange(0)
