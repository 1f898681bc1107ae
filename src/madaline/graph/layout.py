"""Where the boxes of a drawing go: layers, few crossings, straight lines, nothing on top of anything.

After Sugiyama et al. (1981): a box's layer is its longest path from the top, long edges pass through a point in each
layer, the order within a layer comes from sweeps to the mean place of the neighbours, and places are spread until
nothing overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 12
LINE_HEIGHT, CHARACTER, PADDING = 15.0, 6.7, 10.0
GAP_X, GAP_Y, POINT = 18.0, 42.0, 8.0


@dataclass(eq=False)
class Box:
    """A node of the drawing; a point of a long edge is a box without lines."""

    lines: Sequence[str]
    kind: str = "point"
    above: list[Box] = field(default_factory=list)
    below: list[Box] = field(default_factory=list)
    label: str = ""
    "What is written where its edges begin."
    is_list: bool = False
    "Whether the lines are a list, which begins at the left."
    colours: dict[int, str] = field(default_factory=dict)
    "Colours of some lines, by their number."
    layer: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """Of the widest line, with room for the corners."""
        return max((len(line) for line in self.lines), default=0) * CHARACTER + 2 * PADDING if self.lines else POINT

    @property
    def height(self) -> float:
        """Of all lines."""
        return len(self.lines) * LINE_HEIGHT + PADDING if self.lines else 0.0


def lay_out(boxes: list[Box], *, gap: float = GAP_Y) -> list[list[Box]]:
    """Give every box its place; the layers are handed back with the points of long edges in them."""
    layers = _layers(boxes)
    _order(layers)
    _place(layers, gap)
    return layers


def _layers(boxes: list[Box]) -> list[list[Box]]:
    """Boxes by longest path from the top, leaves pulled down beside their first use, points put into long edges."""
    for box in _in_order(boxes):
        box.layer = max((item.layer + 1 for item in box.above), default=0)
    for box in boxes:
        if not box.above and box.below:
            box.layer = min(item.layer for item in box.below) - 1
    layers: list[list[Box]] = [[] for _ in range(max((box.layer for box in boxes), default=-1) + 1)]
    for box in boxes:
        layers[box.layer].append(box)
    for box in boxes:
        for position, target in enumerate(box.below):
            last = box
            for layer in range(box.layer + 1, target.layer):
                point = Box([], above=[last], layer=layer)
                layers[layer].append(point)
                if last is box:
                    box.below[position] = point
                else:
                    last.below = [point]
                last = point
            if last is not box:
                last.below = [target]
                target.above[target.above.index(box)] = last
    return layers


def _in_order(boxes: list[Box]) -> list[Box]:
    """Each box after those above it, without recursion."""
    waiting = {id(box): len(box.above) for box in boxes}
    ready = [box for box in boxes if not box.above]
    for box in ready:
        for item in box.below:
            waiting[id(item)] -= 1
            if waiting[id(item)] == 0:
                ready.append(item)
    return ready


def _order(layers: list[list[Box]]) -> None:
    """Fewer crossings: sort each layer by the mean place of the neighbours above, then below, and keep the best."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for layer in layers[1:] if down else reversed(layers[:-1]):
            fixed = layers[layer[0].layer - 1 if down else layer[0].layer + 1]
            place = {id(box): position for position, box in enumerate(fixed)}
            own = {id(box): position for position, box in enumerate(layer)}
            layer.sort(
                key=lambda box: _mean([place[id(item)] for item in (box.above if down else box.below)], own[id(box)])
            )
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(layers: list[list[Box]]) -> int:
    """Pairs of edges that cross, counted by inserting the lower ends in the order of the upper ones."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {id(box): position for position, box in enumerate(lower)}
        ends = [end for box in upper for end in sorted(place[id(item)] for item in box.below)]
        counts = [0] * (len(lower) + 1)
        for seen, end in enumerate(ends):
            position, before = end + 1, 0
            while position > 0:
                before += counts[position]
                position -= position & -position
            total += seen - before
            position = end + 1
            while position <= len(lower):
                counts[position] += 1
                position += position & -position
    return total


def _place(layers: list[list[Box]], gap: float) -> None:
    """Heights by layer; then each box towards the mean of its neighbours, as far as its own layer lets it."""
    y = 0.0
    for layer in layers:
        tallest = max(box.height for box in layer)
        x = 0.0
        for box in layer:
            box.y = y + tallest / 2
            box.x = x + box.width / 2
            x += box.width + GAP_X
        y += tallest + gap
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            _spread(layer, [_mean(_pull(box.above if down else box.below), box.x) for box in layer])
    left = min((box.x - box.width / 2 for layer in layers for box in layer), default=0.0)
    for layer in layers:
        for box in layer:
            box.x -= left


def _pull(neighbours: Sequence[Box]) -> list[float]:
    """Places of the neighbours; leaves follow what uses them, so they do not pull unless they are alone."""
    inner = [box.x for box in neighbours if box.above]
    return inner or [box.x for box in neighbours]


def _spread(layer: list[Box], wanted: Sequence[float]) -> None:
    """The places nearest to the wanted ones, by squares, with every gap kept: neighbours that collide move as one.

    Leaves weigh little, so they step aside; points of long edges weigh more, so that these stay straight.
    """
    blocks: list[tuple[float, float, int]] = []  # weighted sum of wanted starts, weight, number of boxes
    offsets: list[float] = []
    offset = 0.0
    for box, place in zip(layer, wanted, strict=True):
        offsets.append(offset + box.width / 2)
        offset += box.width + GAP_X
        weight = (1.0 if box.above else 0.05) if box.lines else 2.0
        blocks.append((weight * (place - offsets[-1]), weight, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            (total, weight, count), (more, heavier, others) = blocks[-2:]
            blocks[-2:] = [(total + more, weight + heavier, count + others)]
    index = 0
    for total, weight, count in blocks:
        for _ in range(count):
            layer[index].x = total / weight + offsets[index]
            index += 1
