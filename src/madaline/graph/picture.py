"""A drawing as SVG: boxes that have their places, the edges between them with labels, the title and the legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from madaline.graph.layout import CHARACTER, LINE_HEIGHT, PADDING, Box

# Fill, line and text of each kind. Boxes bring their own background, so they read the same on a dark page.
STYLES = {
    "input": ("#cfe8ff", "#1f6fb2", "an input"),
    "parameter": ("#e6dcf8", "#6a4fa3", "a parameter"),
    "constant": ("#e8e8e8", "#777777", "a constant"),
    "intermediate": ("#fff3cf", "#a8862b", "an intermediate value"),
    "output": ("#d6f2d0", "#3c8a2e", "an output"),
    "left out": ("#ffffff", "#999999", "left out"),
}
EDGE, TEXT, VALUE, ADJOINT = "#8a8f98", "#1b1f24", "#0b4f8a", "#b3261e"
STRAND = 4.0
"Distance between the lines of paths that share an edge."
MARGIN, LABEL_HEIGHT, LABEL_CHARACTER = 16.0, 13.0, 6.1
# A narrow page shrinks the drawing. Converters to PDF and PNG take `height: auto` for no height at all,
# and do not read rules for screens.
_STYLE = "<style>@media screen { svg.madaline-graph { max-width: 100%; height: auto } }</style>"

Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True)
class Edge:
    """How the line between two boxes is drawn: what is written on it, and a strand for each path that it is part of."""

    label: str = ""
    colours: Sequence[str] = ()


@dataclass(frozen=True)
class DrawingHeader:
    """What stands above the boxes."""

    title: str
    kinds: Sequence[str]
    "Kinds of boxes that the legend explains."
    notes: Sequence[tuple[str, str]] = ()
    "Lines of text under the legend, each with its colour."
    words: Sequence[tuple[str, str]] = ()
    "Coloured words at the end of the legend."


@dataclass
class _Labels:
    """The labels that were placed, and everything that they may not cover."""

    taken: list[Rectangle] = field(default_factory=list)

    def write(self, text: str, curve: Sequence[tuple[float, float]]) -> str:
        """The label at the place of its edge that covers least; ``curve`` is the last piece of the line."""
        half = len(text) * LABEL_CHARACTER / 2 + 3
        places = [_point(curve, t / 20) for t in (11, 9, 13, 7, 15, 5, 17)]
        places += [(x + side * (half + 4), y) for side in (1, -1) for x, y in places]
        spots = [(x - half, y - LABEL_HEIGHT / 2, x + half, y + LABEL_HEIGHT / 2) for x, y in places]
        spot = min(spots, key=lambda spot: sum(_overlap(spot, other) for other in self.taken))
        self.taken.append(spot)
        left, top, right, _ = spot
        back = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{LABEL_HEIGHT}" rx="3"'
        place = f'x="{(left + right) / 2:.1f}" y="{top + 10:.1f}" text-anchor="middle" font-size="10"'
        return (
            f'<rect {back} fill="#ffffff" fill-opacity="0.92"/>'
            f'<text class="slope" {place} fill="{TEXT}">{escape(text)}</text>'
        )


def write(layers: list[list[Box]], edges: Mapping[tuple[int, int], Edge], header: DrawingHeader) -> str:
    """The drawing; ``edges`` says more about the line between two boxes, by their ids."""
    top = 58.0 + LINE_HEIGHT * len(header.notes) + (6.0 if header.notes else 0.0)
    boxes = [box for layer in layers for box in layer if box.lines]
    legend = sum(_legend_width(kind) for kind in header.kinds)
    legend += sum(_word_width(word) for _, word in header.words)
    right = max((box.x + box.width / 2 for layer in layers for box in layer), default=0.0)
    wide = max(
        [right, *(box.x + len(box.label) * CHARACTER for box in boxes)]
        + [legend, len(header.title) * (CHARACTER + 1)]
        + [len(text) * CHARACTER for _, text in header.notes]
    )
    shift = MARGIN + (wide - right) / 2
    for layer in layers:
        for box in layer:
            box.x += shift
            box.y += top
    width, height = wide + 2 * MARGIN, max((box.y + box.height / 2 for box in boxes), default=top) + MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11"'
    colours = [EDGE, *dict.fromkeys(colour for edge in edges.values() for colour in edge.colours)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="madaline-graph" {font} role="img">',
            _STYLE,
            f"<title>{escape(header.title)}</title>",
            f"<defs>{''.join(_marker(number, colour) for number, colour in enumerate(colours))}</defs>",
            *_top(header),
            *_lines(boxes, edges, colours),
            *(_node(box) for box in boxes),
            *(_shape(box) for box in boxes if box.label and box.below),
            *_labels(boxes, edges),
            "</svg>",
        ]
    )


def _top(header: DrawingHeader) -> list[str]:
    parts = [
        f'<text x="{MARGIN:.0f}" y="20" font-size="13" font-weight="bold" fill="{EDGE}">{escape(header.title)}</text>'
    ]
    x = MARGIN
    for kind in header.kinds:
        parts.append(_legend(kind, x, 38.0))
        x += _legend_width(kind)
    for colour, word in header.words:
        parts.append(f'<text x="{x:.1f}" y="41" font-weight="bold" fill="{colour}">{escape(word)}</text>')
        x += _word_width(word)
    for number, (colour, text) in enumerate(header.notes, start=1):
        y = 47 + number * LINE_HEIGHT
        parts.append(f'<text class="path" x="{MARGIN:.0f}" y="{y:.1f}" fill="{colour}">{escape(text)}</text>')
    return parts


def _lines(boxes: Sequence[Box], edges: Mapping[tuple[int, int], Edge], colours: Sequence[str]) -> list[str]:
    """The edges; those of paths last, so that they are on top."""
    lines: list[tuple[bool, str]] = []
    for box in boxes:
        for first in box.below:
            places, target = _places(box, first)
            strands = edges.get((id(box), id(target)), Edge()).colours
            for number, colour in enumerate(strands or (EDGE,)):
                aside = STRAND * (number - (len(strands or (EDGE,)) - 1) / 2)
                look = f'stroke="{colour}"' + (' stroke-width="2.2"' if strands else "")
                marker = f'marker-end="url(#{_marker_name(colours.index(colour))})"'
                path = _curve([(x + aside, y) for x, y in places])
                kind = "edge" if not number else "strand"
                lines.append(
                    (bool(strands), f'<path class="{kind}" d="{path}" fill="none" {look} {marker}/>'),
                )
    return [line for _, line in sorted(lines, key=lambda line: line[0])]


def _labels(boxes: Sequence[Box], edges: Mapping[tuple[int, int], Edge]) -> list[str]:
    labels = _Labels(
        [
            (box.x - box.width / 2, box.y - box.height / 2, box.x + box.width / 2, box.y + box.height / 2)
            for box in boxes
        ]
    )
    written = []
    for box in boxes:
        for first in box.below:
            places, target = _places(box, first)
            text = edges.get((id(box), id(target)), Edge()).label
            if text:
                written.append(labels.write(text, places[-2:]))
    return written


def _legend_width(kind: str) -> float:
    return 34.0 + len(STYLES[kind][2]) * CHARACTER


def _word_width(word: str) -> float:
    return 16.0 + len(word) * CHARACTER


def _legend(kind: str, x: float, y: float) -> str:
    words = STYLES[kind][2]
    return f'{_outline(kind, x, y - 7, 16, 12)}<text x="{x + 22:.1f}" y="{y + 3:.1f}" fill="{EDGE}">{words}</text>'


def _outline(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Inputs and parameters are rounded, constants have cut corners, outputs have a double line."""
    fill, line, _ = STYLES[kind]
    look = f'fill="{fill}" stroke="{line}"'
    if kind == "constant":
        cut = min(6.0, height / 3)
        right, bottom = x + width, y + height
        points = [(x + cut, y), (right - cut, y), (right, y + cut), (right, bottom - cut)]
        points += [(right - cut, bottom), (x + cut, bottom), (x, bottom - cut), (x, y + cut)]
        return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" {look}/>'
    radius = {"input": height / 2, "parameter": height / 2, "intermediate": 3.0}.get(kind, 0.0)
    dashes = ' stroke-dasharray="4 3"' if kind == "left out" else ""
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{min(radius, 14.0):.1f}"'
    outline = f"<rect {box} {look}{dashes}/>"
    if kind == "output":
        inner = f'x="{x + 2.5:.1f}" y="{y + 2.5:.1f}" width="{width - 5:.1f}" height="{height - 5:.1f}"'
        outline += f'<rect {inner} fill="none" stroke="{line}"/>'
    return outline


def _node(box: Box) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    first = y + PADDING / 2 + LINE_HEIGHT - 4
    lines = "".join(
        f'<text x="{x + PADDING if box.is_list else box.x:.1f}" y="{first + number * LINE_HEIGHT:.1f}"'
        f' text-anchor="{"start" if box.is_list else "middle"}" fill="{box.colours.get(number, TEXT)}"'
        f' font-weight="{"normal" if number or box.is_list else "bold"}">{escape(line)}</text>'
        for number, line in enumerate(box.lines)
    )
    kind = box.kind.replace(" ", "-")
    return f'<g class="node {kind}">{_outline(box.kind, x, y, box.width, box.height)}{lines}</g>'


def _shape(box: Box) -> str:
    """The shape of a value, where its edges begin."""
    x, y = box.x + 5, box.y + box.height / 2 + 12
    return f'<text class="shape" x="{x:.1f}" y="{y:.1f}" font-size="10" fill="{EDGE}">{escape(box.label)}</text>'


def _places(box: Box, target: Box) -> tuple[list[tuple[float, float]], Box]:
    """From the lower side of one box through the points of a long edge to the upper side of another; and that box."""
    places = [(box.x, box.y + box.height / 2)]
    while not target.lines:
        places.append((target.x, target.y))
        target = target.below[0]
    return [*places, (target.x, target.y - target.height / 2 - 1)], target


def _curve(places: Sequence[tuple[float, float]]) -> str:
    """A smooth line through the places, vertical at each of them."""
    path = f"M {places[0][0]:.1f} {places[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(places):
        middle = (y0 + y1) / 2
        path += f" C {x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return path


def _point(ends: Sequence[tuple[float, float]], t: float) -> tuple[float, float]:
    """The point of the curve between two places at ``t`` from 0 to 1."""
    (x0, y0), (x1, y1) = ends
    share = t * t * (3 - 2 * t)
    y = (1 - t) ** 3 * y0 + 1.5 * t * (1 - t) * (y0 + y1) + t**3 * y1
    return x0 + share * (x1 - x0), y


def _overlap(a: Rectangle, b: Rectangle) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _marker_name(number: int) -> str:
    return f"madaline-arrow-{number}" if number else "madaline-arrow"


def _marker(number: int, colour: str) -> str:
    """The head of an arrow, as large on a thick line as on a thin one."""
    size = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse"'
    return (
        f'<marker id="{_marker_name(number)}" {size} orient="auto">'
        f'<path d="M 0 0.5 L 8 4 L 0 7.5 z" fill="{colour}"/></marker>'
    )
