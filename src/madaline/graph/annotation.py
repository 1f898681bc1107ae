"""Numbers and paths in a drawing: values and adjoints in the boxes, slopes on the edges, a colour for each path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.graph.calculation import Calculation, arguments
from madaline.graph.gradient_paths import GradientPath, gradient_paths, input_named
from madaline.graph.layout import Box
from madaline.graph.node import Node
from madaline.graph.number_text import is_complete, number_lines, number_text
from madaline.graph.picture import ADJOINT, TEXT, VALUE, Edge
from madaline.graph.shapes import show
from madaline.graph.trace import Graph

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b5408f", "#b8860b", "#3d5afe")
"Of paths: told apart also by readers who do not see all colours (after Okabe and Ito)."
SIGN = "∂"
"Before an adjoint, which is the derivative of the result by the value above it."
LONGEST_LABEL = 20
"Longer slopes are not written."


class Annotation:
    """What is written into the drawing of a graph, with one box for each node.

    Parameters
    ----------
    graph : Graph
    box_of : dict from the ids of nodes to boxes
    names : dict from the ids of nodes to what the drawing calls them
    at : arguments at which everything is computed, or None
    paths : name of the input whose paths to the result are coloured, or nothing
    """

    def __init__(
        self, graph: Graph, box_of: Mapping[int, Box], names: Mapping[int, str], at: Any = None, paths: str = ""
    ) -> None:
        self._nodes = [node for node in graph.nodes if id(node) in box_of]
        self._box_of = box_of
        self._names = names
        self._numbers = None if at is None else Calculation(graph, at)
        self.notes: list[tuple[str, str]] = []
        "Lines for the top of the drawing, each with its colour."
        self.words: list[tuple[str, str]] = []
        "Words of the legend, each with its colour."
        self._strands: dict[tuple[int, int], list[str]] = {}
        if paths:
            self._colour_paths(graph, input_named(graph, paths), paths)
        if self._numbers is not None:
            self._write_numbers(self._numbers)

    def edges(self) -> dict[tuple[int, int], Edge]:
        """Labels and colours of the edges, by the ids of their boxes."""
        edges = {}
        for node in self._nodes:
            for item in (item for item in arguments(node) if id(item) in self._box_of):
                slope = None if self._numbers is None else self._numbers.slope(node, item)
                label = "" if slope is None else number_text(slope)
                ends = id(self._box_of[id(item)]), id(self._box_of[id(node)])
                colours = self._strands.get((id(item), id(node)), [])
                edges[ends] = Edge(label if len(label) <= LONGEST_LABEL else "", colours)
        return edges

    def _write_numbers(self, numbers: Calculation) -> None:
        for node in self._nodes:
            box, value, adjoint = self._box_of[id(node)], numbers.value(node), numbers.adjoint(node)
            lines = list(box.lines)
            if is_complete(value):
                box.label = ""
                if lines[-1] == show(node.shape):
                    lines.pop()
            texts = [(line, VALUE) for line in number_lines(value)]
            if adjoint is not None:
                first, *rest = number_lines(adjoint)
                texts += [(f"{SIGN} {first}", ADJOINT), *((line, ADJOINT) for line in rest)]
            for text, colour in texts:
                box.colours[len(lines)] = colour
                lines.append(text)
            box.lines = lines
        self.words += [(VALUE, "value"), (TEXT, "slope (on an edge)")]
        if any(numbers.adjoint(node) is not None for node in self._nodes):
            self.words.insert(1, (ADJOINT, f"{SIGN} adjoint"))

    def _colour_paths(self, graph: Graph, source: Node, name: str) -> None:
        found = gradient_paths(graph, source, self._nodes)
        for path, colour in zip(found, COLOURS, strict=False):
            for item, node in path.edges():
                strands = self._strands.setdefault((id(item), id(node)), [])
                if colour not in strands:
                    strands.append(colour)
            self.notes.append((colour, self._described(path, name)))
        if not found:
            self.notes.append((TEXT, f"no path from {name} to the result"))
        adjoint = None if self._numbers is None else self._numbers.adjoint(source)
        if found and adjoint is not None:
            self.notes.append((TEXT, f"gradient w.r.t. {name}, the sum over all paths: {_short(adjoint)}"))

    def _described(self, path: GradientPath, name: str) -> str:
        if not path.is_single:
            return f"all paths from {name} to the result"
        text = " → ".join(self._names[id(node)] for node in path.nodes)
        part = None if self._numbers is None else path.contribution(self._numbers)
        return text if part is None else f"{text}: {_short(part)}"


def _short(array: np.ndarray) -> str:
    return number_text(array) or number_lines(array)[0]
