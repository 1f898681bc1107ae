"""A graph as a picture: layers from top to bottom; inputs, constants, intermediates and outputs told apart.

Pure Python, no external program. ``layout.py`` says where everything goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from madaline.graph.annotation import Annotation
from madaline.graph.box_text import clip, described, formula, line, shortened, unwrapped, used
from madaline.graph.calculation import arguments, without_reshape
from madaline.graph.chains import chains
from madaline.graph.layout import GAP_Y, Box, lay_out
from madaline.graph.listing import is_inline
from madaline.graph.node import CONSTANT, INPUT, Node
from madaline.graph.picture import STYLES, DrawingHeader, write
from madaline.graph.shapes import Rows, show
from madaline.graph.trace import Graph

FEW_NODES = 12
"Graphs of at most this size are drawn with a box for each node."
MAX_NODES = 300
"Larger graphs are drawn by their first and last nodes, and say so."
LABEL_GAP = 52.0
"Between layers if slopes are written on the edges."


def svg(
    graph: Graph,
    *,
    at: Any = None,
    paths: str = "",
    title: str = "",
    max_nodes: int = MAX_NODES,
    collapse: bool | None = None,
) -> str:
    """The drawing as an SVG document.

    Parameters
    ----------
    graph : Graph
    at : tuple, optional
        Arguments of the traced function. The drawing then has the value of each node, the local slope of each edge and,
        if the result is one number, the adjoint of each node.
    paths : str, optional
        Name of an input. Each path from it to the result has its own colour; with ``at``, the contribution of each
        path to the gradient is listed. More than six paths share one colour.
    title : str, default: the numbers of inputs, nodes and outputs
    max_nodes : int, default 300
        A graph with more is drawn by its first and last nodes; the title says how many were left out.
    collapse : bool, default: for graphs of more than 12 nodes
        Whether a chain of operations is drawn in one box, one line for each. A layer of a net is a box, since a chain
        begins at a matrix product. With ``at`` or ``paths`` each node has its own box.

    Examples
    --------
    >>> import madaline as md
    >>> picture = md.trace(lambda x1, x2: x1 * x2, 1.0, 2.0).svg()
    >>> picture.startswith("<svg"), picture.count('class="node')
    (True, 3)
    """
    shown, names, left_out = _choose(graph, max_nodes)
    own = {id(node): str(node.params["name"] or f"input {node.params['index']}") for node in graph.inputs}
    annotation = None
    if at is not None or paths:
        shown = [node for node in shown if without_reshape(node) is node or _is_output(graph, node)]
        boxes = _boxes(graph, [[node] for node in shown], names | own, left_out, formula)
        box_of = {id(node): box for node, box in zip(shown, boxes, strict=False)}
        annotation = Annotation(graph, box_of, names | own, at, paths)
    elif len(shown) > FEW_NODES if collapse is None else collapse:
        shown = [node for node in shown if unwrapped(node)[0] is node or _is_output(graph, node)]
        boxes = _boxes(graph, _chains(graph, shown, left_out), names | own, left_out, line)
    else:
        boxes = _boxes(graph, [[node] for node in shown], names, left_out, described)
    if not title:
        n_parameters = len(_parameters(graph))
        title = f"{_many(len(graph.inputs) - n_parameters, 'input')}, "
        title += f"{_many(n_parameters, 'parameter')}, " if n_parameters else ""
        title += f"{_many(len(names), 'node')}, {_many(len(graph.outputs), 'output')}"
        title += f"; {left_out} nodes in the middle left out" if left_out else ""
    kinds = [kind for kind in STYLES if any(box.kind == kind for box in boxes)]
    if annotation is None:
        return write(lay_out(boxes), {}, DrawingHeader(title, kinds))
    layers = lay_out(boxes, gap=GAP_Y if at is None else LABEL_GAP)
    return write(layers, annotation.edges(), DrawingHeader(title, kinds, annotation.notes, annotation.words))


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
    parameters = _parameters(graph)
    titles: dict[int, list[str]] = {}
    for node, name in zip(graph.outputs, graph.output_names, strict=False):
        if name:
            titles.setdefault(id(node), []).append(clip(name))
    uses: Callable[[Node], Sequence[Node]] = arguments if label is formula else used if label is line else _inputs
    box_of: dict[int, Box] = {}
    result = []
    for group in groups:
        last = group[-1]
        if len(group) > 1:
            lines = shortened([label(node, names)[0] for node in group]) + titles.get(id(last), [])
        else:
            first, *rest = label(last, names)
            lines = [first, *titles.get(id(last), ()), *rest]
        if label is not described and (not last.inputs or id(last) in outputs):
            lines.append(show(last.shape))
        at_edge = show(last.shape) if label is not described and last.inputs and id(last) not in outputs else ""
        box = Box(lines, _kind(last, outputs, parameters), label=at_edge, is_list=len(group) > 1)
        box_of.update(dict.fromkeys(map(id, group), box))
        result.append(box)
    dots = Box([f"{left_out} nodes left out"], "left out")
    if left_out:
        result.append(dots)
    for group in groups:
        below = box_of[id(group[-1])]
        for item in {id(item): item for node in group for item in uses(node)}.values():
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


def _chains(graph: Graph, nodes: Sequence[Node], left_out: int) -> list[list[Node]]:
    """The chains of operations; none reaches over the nodes that are left out."""
    parts = [nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]] if left_out else [nodes]
    return [group for part in parts for group in chains(part, graph.outputs)]


def _inputs(node: Node) -> Sequence[Node]:
    return node.inputs


def _parameters(graph: Graph) -> set[int]:
    """Ids of the inputs that are parameters: beside a batch, all others; otherwise those in a dict, list or tuple."""
    batches = [any(isinstance(size, Rows) for size in node.shape) for node in graph.inputs]
    nested = ["[" in str(node.params["name"]) for node in graph.inputs]
    chosen = [not batch for batch in batches] if any(batches) else nested
    return {id(node) for node, is_parameter in zip(graph.inputs, chosen, strict=True) if is_parameter}


def _kind(node: Node, outputs: set[int], parameters: set[int]) -> str:
    if node.primitive is INPUT:
        return "parameter" if id(node) in parameters else "input"
    if id(node) in outputs:
        return "output"
    return "constant" if node.primitive is CONSTANT else "intermediate"
