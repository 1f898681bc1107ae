"""Python statements for the nodes of a graph, one a line: what the NumPy and the PyTorch files have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from madaline.graph.node import Node, topological_order
from madaline.graph.shapes import Rows, Shape
from madaline.ship.inference import Inference, Port

Rule = str | Callable[["Script", Node], str]
"An expression with ``{0}`` for the first argument, or a function that gives one."


OPERATORS: dict[str, Rule] = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "matmul": "{0} @ {1}",
    "identity": "{0}",
    "stop_gradient": "{0}",
}
"What both write alike."


class Script:
    """Names and expressions of the values of a graph.

    Parameters
    ----------
    inference : Inference
        The graph.
    target : str
        As messages call it.
    rules : dict
        For each primitive, how it is written.
    weight : str
        How an array is written, with ``{}`` for its name.
    """

    def __init__(self, inference: Inference, target: str, rules: Mapping[str, Rule], weight: str) -> None:
        self.inference = inference = inference.written_with(rules, target)
        self.target = target
        self._rules = rules
        self._names: dict[int, str] = {}
        for node in topological_order(inference.graph.outputs):
            if id(node) in inference.weights:
                self._names[id(node)] = weight.format(inference.weights[id(node)])
        for port, node in zip(inference.inputs, inference.graph.inputs, strict=True):
            self._names[id(node)] = port.name
        for number, node in enumerate(inference.nodes, start=1):
            self._names[id(node)] = f"v{number}"

    def lines(self) -> list[str]:
        """A statement for each node, with a comment where another layer begins; ``n`` first, if one needs it."""
        found: list[str] = []
        layer = None
        expressions = [self._expression(node) for node in self.inference.nodes]
        if any(re.search(r"\bn\b", expression) for expression in expressions):
            found.append(f"n = {self.inference.inputs[0].name}.shape[0]")
        for node, expression in zip(self.inference.nodes, expressions, strict=True):
            own = self.inference.layers.get(id(node), "Answers")
            if own != layer:
                found.append(f"# {own}")
                layer = own
            found.append(f"{self.of(node)} = {expression}")
        return found

    def _expression(self, node: Node) -> str:
        rule = self._rules[node.primitive.name]
        if callable(rule):
            return rule(self, node)
        return rule.format(*(self.of(item) for item in node.inputs))

    def of(self, node: Node) -> str:
        """The name of a value, or the number itself."""
        return self._names[id(node)] if id(node) in self._names else literal(node.params["value"])

    def array(self, node: Node) -> str:
        """As :meth:`of`, for functions that must see the type of a single number."""
        raise NotImplementedError

    def label(self, port: Port, name: str) -> str:
        """A class, from its place among the classes."""
        return name

    def result(self) -> str:
        """What is returned: the output, or a dict of them."""
        ports = self.inference.outputs
        names = [self.of(node) for node in self.inference.graph.outputs]
        names = [
            self.label(port, name) if port.kind == "label" else name for port, name in zip(ports, names, strict=True)
        ]
        if len(names) == 1:
            return names[0]
        return "{" + ", ".join(f'"{port.name}": {name}' for port, name in zip(ports, names, strict=True)) + "}"


def literal(value: Any) -> str:
    """A single number as Python writes it, with no more digits than its type has."""
    value = np.asarray(value)
    if value.dtype.kind != "f":
        return repr(value.item())
    number = value.item()
    if not math.isfinite(number):
        return f'float("{number}")'
    return repr(float(str(value[()])))


def places(port: Port) -> str:
    """The texts of a category and their places, as a dict."""
    return "{" + ", ".join(f"{value!r}: {place}" for place, value in enumerate(port.values)) + "}"


def size(of: int | Rows) -> str:
    """A size, where ``n`` is the number of rows."""
    if not isinstance(of, Rows):
        return str(of)
    text = "n" if of.coefficient == 1 else f"{of.coefficient} * n"
    return f"{text} + {of.offset}" if of.offset else text


def shape(of: Shape) -> str:
    """A shape as a tuple."""
    return f"({', '.join(map(size, of))}{',' if len(of) == 1 else ''})"


def index(starts: Sequence[Any], sizes: Shape, steps: Sequence[int], whole: Shape) -> str:
    """A window of an array, as it stands between brackets."""
    return ", ".join(_slice(*window) for window in zip(starts, sizes, steps, whole, strict=True))


def _slice(start: Any, count: Any, step: int, whole: Any) -> str:
    if start == 0 and step == 1 and count == whole:
        return ":"
    stop = size(start + (count + -1) * step + 1 if count != 0 else start)
    return f"{size(start)}:{stop}" if step == 1 else f"{size(start)}:{stop}:{step}"


def windows(script: Script, node: Node) -> list[str]:
    """The pieces of a ``place``, each with where it is put."""
    found = []
    for piece, starts, steps in zip(node.inputs, node.params["starts"], node.params["steps"], strict=True):
        slices = [
            "slice(None)" if text == ":" else f"slice({text.replace(':', ', ')})"
            for text in map(_slice, starts, piece.shape, steps, node.shape)
        ]
        found.append(f"({script.of(piece)}, ({', '.join(slices)},))")
    return found


def concatenated(node: Node) -> int | None:
    """The axis along which the pieces of a ``place`` stand side by side in their order, if they do."""
    starts, steps = node.params["starts"], node.params["steps"]
    if any(step != 1 for each in steps for step in each):
        return None
    for axis, whole in enumerate(node.shape):
        if any(
            piece.shape[:axis] + piece.shape[axis + 1 :] != node.shape[:axis] + node.shape[axis + 1 :]
            for piece in node.inputs
        ):
            continue
        position: Any = 0
        for piece, start in zip(node.inputs, starts, strict=True):
            if start[axis] != position:
                break
            position = piece.shape[axis] + position
        else:
            if position == whole:
                return axis
    return None
