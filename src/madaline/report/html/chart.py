"""Charts for plotly's JavaScript, and the colours and labels that they share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D46", "#808890")
"Okabe & Ito (2008), safe for colour-blind readers; without black and yellow, which vanish in the dark and on paper."
SEQUENCE = "Cividis"
"Sequential colours, safe for colour-blind readers: Nunez, Anderton & Renslow 2018."
DIVERGING = [[0.0, "#0072B2"], [0.5, "#f4f4f4"], [1.0, "#D55E00"]]
"Colours for negative and positive values."
EVEN = {"dash": "dot", "color": COLOURS[-1], "width": 1.5}
"Style of reference lines."
DIGITS = 4
"Significant digits of numbers in charts."
LONGEST = 24
"Maximum length of a label."
KEPT_END = 9
"Characters that are kept from the end of a longer text."
MOST_TICKS = 8
STANDOFF = 12
"Pixels between the title of an axis and its labels."


@dataclass(frozen=True)
class Chart:
    """A chart with its title and caption.

    Attributes
    ----------
    title, caption : str
        Plain text.
    data : list of dict
        Plotly traces.
    layout : dict
        Plotly layout, where it differs from the default of the page.
    size : {"half", "wide", "third"}
        Fraction of the width of the page; on a phone all charts are wide.
    height : int
        In pixels.
    controls : str
        HTML below the chart.
    script : str
        Name of the function of the page that makes the controls work.
    values : mapping
        Data for that function.
    """

    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)
    size: str = "half"
    height: int = 300
    controls: str = ""
    script: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


def numbers(values: Any) -> list[Any]:
    """Rounded numbers for JSON; null where they are not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [numbers(row) for row in array]
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in array.tolist()]


def whole(values: Any) -> list[int]:
    """Whole numbers for JSON."""
    found: list[int] = np.asarray(values, dtype=np.int64).tolist()
    return found


def label(text: object, longest: int = LONGEST) -> str:
    """A text of the data as a label, escaped: plotly interprets ``<b>`` and other tags."""
    return escape(short(str(text), longest), quote=False)


def short(text: str, longest: int) -> str:
    """A text on one line, shortened in the middle: names often differ at the end."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1 - KEPT_END]}…{plain[-KEPT_END:]}"


def labels(texts: Iterable[object], longest: int = LONGEST) -> list[str]:
    """Labels of several texts."""
    return [label(text, longest) for text in texts]


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis whose title keeps clear of the tick labels, and these of the chart."""
    found: dict[str, Any] = {"automargin": True, "ticklabelstandoff": 4}
    return found | ({"title": {"text": title, "standoff": STANDOFF}} if title else {}) | more


def named_axis(names: Sequence[object], title: str = "", longest: int = LONGEST, **more: Any) -> dict[str, Any]:
    """An axis with a name at each whole number, so that names that look like numbers or dates stay as they are."""
    return axis(title, tickvals=list(range(len(names))), ticktext=labels(names, longest), zeroline=False, **more)


def number_axis(values: np.ndarray, title: str = "", **more: Any) -> dict[str, Any]:
    """An axis of numbers; a few whole numbers have a tick each."""
    if len(values) <= MOST_TICKS and (values == np.round(values)).all():
        more["tickvals"] = numbers(values)
    return axis(title, **more)


def colour_of(output: int, place: int, n_outputs: int) -> str:
    """The colour of a class or target: the same in every chart, unless there are more of them than colours."""
    return COLOURS[output if n_outputs <= len(COLOURS) else place % len(COLOURS)]


def thinned(count: int, most: int) -> np.ndarray:
    """Indices of at most ``most`` of ``count`` points at equal distances, including the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)) if count else np.arange(0)
