"""A graph as a picture: layers from top to bottom; inputs, constants, intermediates and outputs told apart.

Pure Python, no external program. ``layout.py`` says where everything goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from madaline.graph.chains import chains
from madaline.graph.layout import CHARACTER, LINE_HEIGHT, PADDING, Box, lay_out
from madaline.graph.listing import constant_text, inline_text, is_inline, parameter_texts
from madaline.graph.node import CONSTANT, INPUT, Node
from madaline.graph.shapes import show
from madaline.graph.trace import Graph

FEW_NODES = 12
"Graphs of at most this size are drawn with a box for each node."
MAX_LINES = 14
"Longer chains in one box are shown by their first and last operations."
MAX_NODES = 300
"Larger graphs are drawn by their first and last nodes, and say so."


# Fill, line and text of each kind. Boxes bring their own background, so they read the same on a dark page.
STYLES = {
    "input": ("#cfe8ff", "#1f6fb2", "an input"),
    "constant": ("#e8e8e8", "#777777", "a constant"),
    "intermediate": ("#fff3cf", "#a8862b", "an intermediate value"),
    "output": ("#d6f2d0", "#3c8a2e", "an output"),
    "left out": ("#ffffff", "#999999", "left out"),
}
EDGE = "#8a8f98"
# A narrow page shrinks the drawing. Converters to PDF and PNG take `height: auto` for no height at all,
# and do not read rules for screens.
_STYLE = "<style>@media screen { svg.madaline-graph { max-width: 100%; height: auto } }</style>"


def svg(graph: Graph, *, title: str = "", max_nodes: int = MAX_NODES, collapse: bool | None = None) -> str:
    """The drawing as an SVG document.

    Parameters
    ----------
    graph : Graph
    title : str, default: the numbers of inputs, nodes and outputs
    max_nodes : int, default 300
        A graph with more is drawn by its first and last nodes; the title says how many were left out.
    collapse : bool, default: for graphs of more than 12 nodes
        Whether a chain of operations is drawn in one box, one line for each. A layer of a net is a box, since a chain
        begins at a matrix product.

    Examples
    --------
    >>> import madaline as md
    >>> picture = md.trace(lambda x1, x2: x1 * x2, 1.0, 2.0).svg()
    >>> picture.startswith("<svg"), picture.count('class="node')
    (True, 3)
    """
    shown, names, left_out = _choose(graph, max_nodes)
    if len(shown) > FEW_NODES if collapse is None else collapse:
        boxes = _joined_boxes(graph, shown, names, left_out)
    else:
        boxes = _boxes(graph, [[node] for node in shown], names, left_out, _label)
    if not title:
        count = len(names)
        title = f"{_many(len(graph.inputs), 'input')}, {_many(count, 'node')}, {_many(len(graph.outputs), 'output')}"
        title += f"; {left_out} nodes in the middle left out" if left_out else ""
    return _write(lay_out(boxes), title, [kind for kind in STYLES if any(box.kind == kind for box in boxes)])


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# What is drawn


def _choose(graph: Graph, max_nodes: int) -> tuple[list[Node], dict[int, str], int]:
    """The nodes to draw, the v-number of every node, and how many are left out."""
    everything = graph.nodes
    numbered = [node for node in everything if not is_inline(node)]
    names = {id(node): f"v{number}" for number, node in enumerate(numbered, start=1)}
    nodes = [node for node in everything if id(node) in names or _is_output(graph, node)]
    if len(nodes) <= max_nodes:
        return nodes, names, 0
    half = max(1, max_nodes // 2)
    return nodes[:half] + nodes[-half:], names, len(nodes) - 2 * half


def _is_output(graph: Graph, node: Node) -> bool:
    return any(node is output for output in graph.outputs)


def _boxes(
    graph: Graph,
    groups: Sequence[Sequence[Node]],
    names: dict[int, str],
    left_out: int,
    label: Callable[[Node, dict[int, str]], list[str]],
) -> list[Box]:
    """A box for each group of nodes, of which the last one is used by others."""
    outputs = {id(node) for node in graph.outputs}
    titles: dict[int, list[str]] = {}
    for node, name in zip(graph.outputs, graph.output_names, strict=False):
        if name:
            titles.setdefault(id(node), []).append(_clip(name))
    box_of: dict[int, Box] = {}
    result = []
    for group in groups:
        last = group[-1]
        if len(group) > 1:
            lines = _shortened([label(node, names)[0] for node in group]) + titles.get(id(last), [])
        else:
            first, *rest = label(last, names)
            lines = [first, *titles.get(id(last), ()), *rest]
        if label is _line and (not last.inputs or id(last) in outputs):
            lines.append(show(last.shape))
        at_edge = show(last.shape) if label is _line and last.inputs and id(last) not in outputs else ""
        box = Box(lines, _kind(last, outputs), label=at_edge, is_list=len(group) > 1)
        box_of.update(dict.fromkeys(map(id, group), box))
        result.append(box)
    dots = Box([f"{left_out} nodes left out"], "left out")
    if left_out:
        result.append(dots)
    for group in groups:
        below = box_of[id(group[-1])]
        for item in dict.fromkeys(item for node in group for item in node.inputs):
            above = box_of.get(id(item), None if is_inline(item) else dots)
            if above is not None and above is not below and above not in below.above:
                below.above.append(above)
                above.below.append(below)
    if left_out:
        for group in groups[: len(groups) // 2]:
            box = box_of[id(group[-1])]
            if not box.below:
                box.below.append(dots)
                dots.above.append(box)
    return result


def _joined_boxes(graph: Graph, nodes: Sequence[Node], names: dict[int, str], left_out: int) -> list[Box]:
    """A box for each chain; inputs go by their own names, and shapes stand at the edges."""
    own = {id(node): str(node.params["name"] or f"input {node.params['index']}") for node in graph.inputs}
    parts = [nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]] if left_out else [nodes]
    groups = [group for part in parts for group in chains(part, graph.outputs)]
    return _boxes(graph, groups, names | own, left_out, _line)


def _line(node: Node, names: dict[int, str]) -> list[str]:
    """A node in one line."""
    if node.primitive is INPUT:
        return [names[id(node)]]
    if node.primitive is CONSTANT:
        first, *rest = _label(node, names)
        return [first, *rest[:-1]]
    arguments = [inline_text(item) if is_inline(item) else names[id(item)] for item in node.inputs]
    arguments += [f"{key}={text}" for key, text in parameter_texts(node).items()]
    return [_clip(f"{names[id(node)]} = {node.primitive.name}({', '.join(arguments)})", 44)]


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= MAX_LINES:
        return lines
    half = MAX_LINES // 2 - 1
    return [*lines[:half], f"... {len(lines) - 2 * half} more operations ...", *lines[-half:]]


def _kind(node: Node, outputs: set[int]) -> str:
    if node.primitive is INPUT:
        return "input"
    if id(node) in outputs:
        return "output"
    return "constant" if node.primitive is CONSTANT else "intermediate"


def _label(node: Node, names: dict[int, str]) -> list[str]:
    if is_inline(node):
        return [inline_text(node), show(node.shape)]
    name, shape = names[id(node)], show(node.shape)
    if node.primitive is INPUT:
        return [f"{name} = {node.params['name'] or node.params['index']}", shape]
    if node.primitive is CONSTANT:
        return [
            f"{name} = constant",
            *(_clip(text) for text in [constant_text(node)[len("constant ") :]] if text),
            shape,
        ]
    lines = [f"{name} = {node.primitive.name}"]
    arguments = [inline_text(item) if is_inline(item) else names[id(item)] for item in node.inputs]
    lines.append(_clip(", ".join(arguments)))
    lines += [_clip(f"{key}={text}") for key, text in parameter_texts(node).items()]
    return [*lines, shape]


def _clip(text: str, most: int = 28) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# How it is written


def _write(layers: list[list[Box]], title: str, kinds: list[str]) -> str:
    margin, top = 16.0, 58.0
    boxes = [box for layer in layers for box in layer if box.lines]
    legend = sum(_legend_width(kind) for kind in kinds)
    wide = max(
        [box.x + max(box.width / 2, len(box.label) * CHARACTER) for box in boxes]
        + [legend, len(title) * (CHARACTER + 1)]
    )
    shift = margin + (wide - max((box.x + box.width / 2 for box in boxes), default=0.0)) / 2
    for layer in layers:
        for box in layer:
            box.x += shift
            box.y += top
    width, height = wide + 2 * margin, max((box.y + box.height / 2 for box in boxes), default=top) + margin
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11"'
    arrow = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="madaline-graph" {font} role="img">',
        _STYLE,
        f"<title>{escape(title)}</title>",
        f'<defs><marker id="madaline-arrow" {arrow}><path d="M 0 0.5 L 8 4 L 0 7.5 z" fill="{EDGE}"/></marker></defs>',
        f'<text x="{margin:.0f}" y="20" font-size="13" font-weight="bold" fill="{EDGE}">{escape(title)}</text>',
    ]
    x = margin
    for kind in kinds:
        parts.append(_legend(kind, x, 38.0))
        x += _legend_width(kind)
    parts += [_edge(box, target) for box in boxes for target in box.below]
    parts += [_node(box) for box in boxes]
    parts += [_shape(box) for box in boxes if box.label and box.below]
    return "\n".join([*parts, "</svg>"])


def _legend_width(kind: str) -> float:
    return 34.0 + len(STYLES[kind][2]) * CHARACTER


def _legend(kind: str, x: float, y: float) -> str:
    words = STYLES[kind][2]
    return f'{_outline(kind, x, y - 7, 16, 12)}<text x="{x + 22:.1f}" y="{y + 3:.1f}" fill="{EDGE}">{words}</text>'


def _outline(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Inputs are rounded, constants have cut corners, intermediates are boxes, outputs have a double line."""
    fill, line, _ = STYLES[kind]
    look = f'fill="{fill}" stroke="{line}"'
    if kind == "constant":
        cut = min(6.0, height / 3)
        right, bottom = x + width, y + height
        points = [(x + cut, y), (right - cut, y), (right, y + cut), (right, bottom - cut)]
        points += [(right - cut, bottom), (x + cut, bottom), (x, bottom - cut), (x, y + cut)]
        return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" {look}/>'
    radius = {"input": height / 2, "intermediate": 3.0}.get(kind, 0.0)
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
        f' text-anchor="{"start" if box.is_list else "middle"}" fill="#1b1f24"'
        f' font-weight="{"normal" if number or box.is_list else "bold"}">{escape(line)}</text>'
        for number, line in enumerate(box.lines)
    )
    kind = box.kind.replace(" ", "-")
    return f'<g class="node {kind}">{_outline(box.kind, x, y, box.width, box.height)}{lines}</g>'


def _shape(box: Box) -> str:
    """The shape of a value, where its edges begin."""
    x, y = box.x + 5, box.y + box.height / 2 + 12
    return f'<text class="shape" x="{x:.1f}" y="{y:.1f}" font-size="10" fill="{EDGE}">{escape(box.label)}</text>'


def _edge(box: Box, target: Box) -> str:
    """A smooth line from the lower side of one box through its points to the upper side of another."""
    places = [(box.x, box.y + box.height / 2)]
    while not target.lines:
        places.append((target.x, target.y))
        target = target.below[0]
    places.append((target.x, target.y - target.height / 2 - 1))
    path = f"M {places[0][0]:.1f} {places[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(places):
        middle = (y0 + y1) / 2
        path += f" C {x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return f'<path class="edge" d="{path}" fill="none" stroke="{EDGE}" marker-end="url(#madaline-arrow)"/>'
