"""Graphs with library primitives: native programs with calls of NumPy or SciPy between them.

Factorisations, Fourier transforms and special functions are not worth a kernel of our own. A graph that uses them is
split into levels: the program of a level computes everything that needs the library results of earlier levels only,
then the library primitives of this level are called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.graph.node import CONSTANT, Node, new_input, substitute, topological_order
from madaline.graph.trace import Graph

Part = Callable[[Any, list[Any]], list[np.ndarray]]
"""A graph without library primitives, made ready: a function of the executor and the arguments."""


class Pieces:
    """A graph split into programs and library calls."""

    def __init__(self, graph: Graph, prepare: Callable[[Graph], Part]) -> None:
        order = topological_order(graph.outputs)
        levels = _levels(order)
        crossing = _crossing(order, levels, graph.outputs)
        self._inputs = graph.inputs
        self._outputs = graph.outputs
        self._steps: list[tuple[list[Node], list[Node], Part | None, list[Node]]] = []
        for level in range(max(levels.values(), default=0) + 1):
            made = [node for node in order if id(node) in crossing and levels[id(node)] == level and not _is_leaf(node)]
            made = [node for node in made if not node.primitive.library]
            calls = [node for node in order if node.primitive.library and levels[id(node)] == level]
            given, part = self._program(made, crossing, levels, level, prepare) if made else ([], None)
            self._steps.append((given, made, part, calls))

    @staticmethod
    def _program(
        made: list[Node], crossing: set[int], levels: dict[int, int], level: int, prepare: Callable[[Graph], Part]
    ) -> tuple[list[Node], Part]:
        """The program of one level, and the values it is given."""
        given = [
            node
            for node in topological_order(made)
            if node.primitive is not CONSTANT
            and (not node.inputs or node.primitive.library or (id(node) in crossing and levels[id(node)] < level))
        ]
        stand_ins = {id(node): new_input(i, node.shape, node.dtype) for i, node in enumerate(given)}
        outputs = substitute(made, stand_ins)
        needed = {id(node) for node in topological_order(outputs)}
        kept = [node for node in given if id(stand_ins[id(node)]) in needed]
        return kept, prepare(Graph(tuple(stand_ins[id(node)] for node in kept), tuple(outputs)))

    def __call__(self, arguments: Sequence[Any], executor: Any) -> list[np.ndarray]:
        """The outputs for these arguments, one for each input of the graph."""
        values: dict[int, Any] = {
            id(node): np.asarray(argument, dtype=node.dtype)
            for node, argument in zip(self._inputs, arguments, strict=True)
        }

        def value(node: Node) -> Any:
            return node.params["value"] if node.primitive is CONSTANT else values[id(node)]

        for given, made, part, calls in self._steps:
            if part is not None:
                results = part(executor, [value(node) for node in given])
                values.update(zip(map(id, made), results, strict=True))
            for node in calls:
                with np.errstate(all="ignore"):
                    found = node.primitive.value(*[value(item) for item in node.inputs], **node.params)
                values[id(node)] = np.asarray(found, dtype=node.dtype)
        return [np.array(value(node)) for node in self._outputs]


def _is_leaf(node: Node) -> bool:
    return not node.inputs


def _levels(order: list[Node]) -> dict[int, int]:
    """For each node, how many library results it needs one after another."""
    levels: dict[int, int] = {}
    for node in order:
        levels[id(node)] = max((levels[id(item)] + item.primitive.library for item in node.inputs), default=0)
    return levels


def _crossing(order: list[Node], levels: dict[int, int], outputs: Sequence[Node]) -> set[int]:
    """Ids of the values that leave their program: outputs, arguments of library calls, and what later levels use."""
    found = {id(node) for node in outputs}
    for node in order:
        for item in node.inputs:
            if node.primitive.library or levels[id(item)] < levels[id(node)]:
                found.add(id(item))
    return found
