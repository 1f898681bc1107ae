"""The ensemble of a report: a drawing of its members between the inputs and their weighted average."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from madaline.functional.model import Model
from madaline.nn.layers.ensemble import Ensemble
from madaline.nn.layers.radial import Radial
from madaline.report.html import tables
from madaline.report.html.network import WIDTH, widths

MOST_MEMBERS = 12
"Members that are drawn."
GAP, BOX, TOP = 36, 26, 14
"Distance between two members, and the width of one."
BAR = 7
"Height of a layer of a member."
THICKEST = 7.0


@dataclass(frozen=True)
class MemberKind:
    """Members with the same layers: the units of each layer, the number of members, and their weight together.

    A kernel machine has a layer of radial units.
    """

    widths: tuple[int, ...]
    count: int
    weight: float
    is_radial: bool = False

    @property
    def text(self) -> str:
        """The kind as a sentence."""
        what = "kernel machine" if self.is_radial else "linear model" if len(self.widths) < 3 else "net"
        units = " → ".join(f"{width:,}" for width in self.widths)
        together = " together" if self.count > 1 else ""
        return (
            f"{self.count} {what}{'' if self.count == 1 else 's'} ({units} units), weight{together} {self.weight:.2f}"
        )


def members_of(model: Model) -> int:
    """Number of members of an ensemble; 0 for a single net."""
    return len(model.net.layers) if isinstance(model.net, Ensemble) else 0


def kinds_of(model: Model) -> list[MemberKind]:
    """The kinds of members, in the order of the ensemble."""
    found: dict[tuple[tuple[int, ...], bool], list[float]] = {}
    radial = {row.path.partition(".")[0] for row in model.network.rows if isinstance(row.layer, Radial)}
    for place, (shape, weight) in enumerate(_members(model)):
        found.setdefault((shape, str(place) in radial), []).append(weight)
    return [
        MemberKind(shape, len(weights), math.fsum(weights), is_radial) for (shape, is_radial), weights in found.items()
    ]


def ensemble_drawing(model: Model) -> list[str]:
    """The ensemble as SVG, with a list of its kinds of members."""
    members = list(_members(model))
    count = len(members)
    drawn = members if count <= MOST_MEMBERS else [*members[: MOST_MEMBERS // 2], *members[-MOST_MEMBERS // 2 :]]
    slots = len(drawn) + (count > MOST_MEMBERS)
    start = WIDTH / 2 - GAP * (slots - 1) / 2
    height = BAR * max(len(shape) for shape, _ in drawn) + 6
    top, middle = TOP + 62, TOP + 62 + height
    bottom = middle + 52
    parts = [_text(WIDTH / 2, TOP + 4, "inputs")]
    heaviest, widest = max(weight for _, weight in drawn), max(max(shape) for shape, _ in drawn)
    for place, (shape, weight) in enumerate(drawn):
        slot = place + (count > MOST_MEMBERS and place >= MOST_MEMBERS // 2)
        x = start + GAP * slot
        thick = max(THICKEST * weight / heaviest, 0.6)
        parts.append(f'<line class="tie" x1="{WIDTH / 2}" y1="{TOP + 10}" x2="{x:.1f}" y2="{top - 2}"/>')
        parts.append(
            f'<line class="tie" x1="{x:.1f}" y1="{middle + 2}" x2="{WIDTH / 2}" y2="{bottom - 14}" '
            f'stroke-width="{thick:.1f}"/>'
        )
        parts += _member(shape, x, top, height, widest)
    if count > MOST_MEMBERS:
        parts.append(_text(WIDTH / 2, top + height / 2, "…"))
    parts.append(_text(WIDTH / 2, bottom, "weighted average of the predictions"))
    title = f"An ensemble of {count} members"
    svg = (
        f'<svg class="net" viewBox="0 0 {WIDTH} {bottom + 12}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )
    text = (
        f"{title}, each of which gets all inputs. Bars are layers; a longer bar has more units. A thicker line "
        "is a larger weight in the average."
    )
    return [svg, tables.paragraph(text, "quiet"), tables.listed([kind.text for kind in kinds_of(model)])]


def _members(model: Model) -> Iterator[tuple[tuple[int, ...], float]]:
    """The widths of the layers and the weight of each member."""
    net = model.net
    assert isinstance(net, Ensemble)
    weights = net.weights or (1.0,) * len(net.layers)
    total = math.fsum(weights)
    for number, weight in enumerate(weights):
        yield tuple(widths(model, f"{number}.")), weight / total


def _member(shape: tuple[int, ...], x: float, top: float, height: float, widest: int) -> Iterator[str]:
    yield f'<rect class="unit" x="{x - BOX / 2:.1f}" y="{top}" width="{BOX}" height="{height}" rx="3"/>'
    first = top + (height - BAR * len(shape)) / 2 + 2
    for place, width in enumerate(shape):
        long = (BOX - 6) * max(math.log1p(width) / math.log1p(widest), 0.15)
        y = first + BAR * place
        yield f'<rect class="layer" x="{x - long / 2:.1f}" y="{y:.1f}" width="{long:.1f}" height="3"/>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>'
