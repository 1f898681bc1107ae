"""Preparation of a graph for lowering: outputs with separate storage, and arguments that instructions can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_

from madaline.graph.node import INPUT, Node, topological_order
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.trace import Graph
from madaline.plan.collapse import MAX_DIMS
from madaline.plan.fuse import is_elementwise
from madaline.plan.lowering import RULES
from madaline.plan.rows import check_layouts
from madaline.plan.views import View, is_scalar_constant, is_view, lies_as_stored, stored_strides, views_of


@dataclass(slots=True)
class Prepared:
    """A graph whose nodes can be lowered one by one."""

    inputs: list[Node]
    nodes: list[Node]
    outputs: list[Node]
    views: dict[int, View]


def prepared(graph: Graph) -> Prepared:
    """The nodes of the graph in topological order, and their views."""
    nodes = [
        *(node for node in graph.inputs),
        *(n for n in topological_order(graph.outputs) if n.primitive is not INPUT),
    ]
    check_layouts(nodes)
    return _with_contiguous_arguments(nodes, graph)


def with_stored_outputs(graph: Graph) -> Graph:
    """The graph with every output as a distinct node with separate storage; others are copied."""
    seen: set[int] = set()
    outputs = []
    for node in graph.outputs:
        if not node.inputs or is_view(node) or id(node) in seen:
            node = Node(PRIMITIVES["identity"], (node,), {}, node.shape, node.dtype)  # noqa: PLW2901 - its stand-in
        seen.add(id(node))
        outputs.append(node)
    return Graph(graph.inputs, tuple(outputs))


def _with_contiguous_arguments(nodes: Sequence[Node], graph: Graph) -> Prepared:
    """Copy arguments that an instruction cannot read: views without suitable strides, numbers without storage."""
    views = views_of(nodes)
    new: dict[int, Node] = {}
    result: list[Node] = []
    for node in nodes:
        inputs = [new[id(item)] for item in node.inputs]
        stored_node = views[id(node)].root is node and not is_elementwise(node)
        rule = RULES.get(node.primitive.name)
        contiguous: Sequence[int] = rule.contiguous if rule is not None else ()
        if rule is not None and rule.joins and any(item.ndim > MAX_DIMS for item in inputs):
            contiguous = range(len(inputs))
        for position, item in enumerate(inputs if stored_node else ()):
            view = views[id(item)]
            if not is_scalar_constant(view.root) and (lies_as_stored(item, view) or position not in contiguous):
                continue
            inputs[position] = copy = Node(PRIMITIVES["identity"], (item,), {}, item.shape, item.dtype)
            views[id(copy)] = View(copy, 0, stored_strides(item.shape))
            result.append(copy)
        changed = not all(map(is_, inputs, node.inputs))
        current = Node(node.primitive, tuple(inputs), node.params, node.shape, node.dtype) if changed else node
        if changed:
            views_of([current], views)
        new[id(node)] = current
        result.append(current)
    return Prepared(list(graph.inputs), result, [new[id(node)] for node in graph.outputs], views)
