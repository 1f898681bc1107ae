"""The paths from an input to the result: a gradient is the sum over them, of the product of the slopes on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from madaline.errors import TraceError
from madaline.graph.calculation import Calculation, arguments, passes
from madaline.graph.node import Node
from madaline.graph.trace import Graph

MAX_PATHS = 6
"More paths than this are not listed one by one."


@dataclass(frozen=True)
class GradientPath:
    """A path, or many in one."""

    nodes: Sequence[Node]
    is_single: bool = True
    "Whether this is one path; otherwise the nodes of many, in topological order."

    def edges(self) -> list[tuple[Node, Node]]:
        """Its edges, each from an argument to the node that uses it."""
        if self.is_single:
            return list(pairwise(self.nodes))
        on_it = {id(node) for node in self.nodes}
        return [
            (item, node) for node in self.nodes for item in arguments(node) if id(item) in on_it and passes(node, item)
        ]

    def contribution(self, numbers: Calculation) -> np.ndarray | None:
        """What one path adds to the gradient; None for many, and where the result is not one number."""
        bar = numbers.adjoint(self.nodes[-1]) if self.is_single else None
        for item, node in reversed(self.edges()):
            bar = None if bar is None else numbers.pull_back(node, item, bar)
        return bar


def input_named(graph: Graph, name: str) -> Node:
    """The input that has this name in the drawing, or an error with all names."""
    names = [str(node.params["name"] or node.params["index"]) for node in graph.inputs]
    for node, own in zip(graph.inputs, names, strict=True):
        if own == name:
            return node
    raise TraceError(f"paths={name!r} is not an input of the graph. Inputs: {', '.join(names) or 'none'}.")


def gradient_paths(graph: Graph, source: Node, nodes: Sequence[Node]) -> list[GradientPath]:
    """The paths from ``source`` to the outputs through which a derivative flows, over ``nodes``, in order.

    More than ``MAX_PATHS`` are handed back in one.
    """
    users: dict[int, list[Node]] = {}
    for node in nodes:
        for item in arguments(node):
            if passes(node, item):
                users.setdefault(id(item), []).append(node)
    outputs = {id(node) for node in graph.outputs}
    counts: dict[int, int] = {}
    for node in reversed(nodes):
        counts[id(node)] = (id(node) in outputs) + sum(counts[id(user)] for user in users.get(id(node), ()))
    if counts[id(source)] > MAX_PATHS:
        reached = {id(source)}
        for node in nodes:
            if id(node) in reached:
                reached.update(id(user) for user in users.get(id(node), ()))
        return [GradientPath([node for node in nodes if id(node) in reached and counts[id(node)]], is_single=False)]
    found: list[GradientPath] = []
    pending = [[source]]
    while pending:
        path = pending.pop()
        if id(path[-1]) in outputs:
            found.append(GradientPath(path))
        pending += [[*path, user] for user in reversed(users.get(id(path[-1]), ())) if counts[id(user)]]
    return found
