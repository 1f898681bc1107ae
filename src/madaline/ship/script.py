"""Python statements for the nodes of a graph, one per line: the common part of the Python targets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from madaline.graph.node import Node, topological_order
from madaline.graph.shapes import Rows, Shape
from madaline.ship.escape import python_comment, python_literal
from madaline.ship.inference import InferenceGraph, Port

Rule = str | Callable[["Script", Node], str]
"An expression with ``{0}`` for the first argument, or a function that returns one."


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
"Primitives that NumPy and PyTorch write in the same way."


class Script:
    """Names and expressions of the values of a graph.

    Parameters
    ----------
    inference : InferenceGraph
        The graph.
    target : str
        The name of the target in error messages.
    rules : dict
        How to write each primitive, by name.
    weight : str
        How to write an array of weights, with ``{}`` for its name.
    """

    def __init__(self, inference: InferenceGraph, target: str, rules: Mapping[str, Rule], weight: str) -> None:
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
        """A statement for each node, with a comment where another layer begins; ``n`` first, if it is needed."""
        found: list[str] = []
        layer = ""
        expressions = [self._expression(node) for node in self.inference.nodes]
        if any(re.search(r"\bn\b", expression) for expression in expressions):
            found.append(f"n = {self.inference.inputs[0].name}.shape[0]")
        for node, expression in zip(self.inference.nodes, expressions, strict=True):
            described = self.inference.layers.get(id(node))
            own = described.shown() if described else "Outputs"
            if own != layer:
                found.append(python_comment(own))
                layer = own
            found.append(f"{self.of(node)} = {expression}")
        return found

    def _expression(self, node: Node) -> str:
        rule = self._rules[node.primitive.name]
        if callable(rule):
            return rule(self, node)
        return rule.format(*(self.of(item) for item in node.inputs))

    def of(self, node: Node) -> str:
        """The name of a value, or the number if it is a constant."""
        return self._names[id(node)] if id(node) in self._names else literal(node.params["value"])

    def array(self, node: Node) -> str:
        """As :meth:`of`, for functions that need the dtype of a single number."""
        raise NotImplementedError

    def label(self, port: Port, name: str) -> str:
        """An expression for the class, from the name of its index."""
        return name

    def result(self) -> str:
        """An expression for the result: the output, or a dict of the outputs."""
        ports = self.inference.outputs
        names = [self.of(node) for node in self.inference.graph.outputs]
        names = [
            self.label(port, name) if port.kind == "label" else name for port, name in zip(ports, names, strict=True)
        ]
        return returned(ports, names)


def returned(ports: Sequence[Port], results: Sequence[str]) -> str:
    """The output, or a dict of the outputs by the names that users gave them."""
    if len(results) == 1:
        return results[0]
    named = zip(ports, results, strict=True)
    return "{" + ", ".join(f"{python_literal(port.title)}: {result}" for port, result in named) + "}"


_TEXT = re.compile(r"""#[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
"Comments and strings."


def helpers_for(body: str, helpers: Mapping[str, str]) -> list[str]:
    """The sources of those helper functions that the statements of a function's body call."""
    called = set(re.findall(r"\b(_\w+)\(", _TEXT.sub("", body)))
    return [source.strip("\n") for name, source in helpers.items() if name in called]


def literal(value: Any) -> str:
    """A single number in Python's notation, with the digits that its dtype needs."""
    value = np.asarray(value)
    if value.dtype.kind != "f":
        return repr(value.item())
    number = value.item()
    if not math.isfinite(number):
        return f'float("{number}")'
    return repr(float(str(value[()])))


def category_indices(port: Port) -> str:
    """A dict from the categories of a column to their indices."""
    return "{" + ", ".join(f"{python_literal(value)}: {place}" for place, value in enumerate(port.values)) + "}"


def class_list(port: Port) -> str:
    """A list of the classes of a label."""
    return f"[{', '.join(map(python_literal, port.values))}]"


def size(of: int | Rows) -> str:
    """A size, with ``n`` for the number of rows."""
    if not isinstance(of, Rows):
        return str(of)
    text = "n" if of.coefficient == 1 else f"{of.coefficient} * n"
    return f"{text} + {of.offset}" if of.offset else text


def shape(of: Shape) -> str:
    """A shape as a tuple."""
    return f"({', '.join(map(size, of))}{',' if len(of) == 1 else ''})"


def index(starts: Sequence[Any], sizes: Shape, steps: Sequence[int], whole: Shape) -> str:
    """A slice of an array, as written between brackets."""
    return ", ".join(_slice(*window) for window in zip(starts, sizes, steps, whole, strict=True))


def _slice(start: Any, count: Any, step: int, whole: Any) -> str:
    if start == 0 and step == 1 and count == whole:
        return ":"
    stop = size(start + (count + -1) * step + 1 if count != 0 else start)
    return f"{size(start)}:{stop}" if step == 1 else f"{size(start)}:{stop}:{step}"


def windows(script: Script, node: Node) -> list[str]:
    """The pieces of a ``place``, each with its slices."""
    found = []
    for piece, starts, steps in zip(node.inputs, node.params["starts"], node.params["steps"], strict=True):
        slices = [
            "slice(None)" if text == ":" else f"slice({text.replace(':', ', ')})"
            for text in map(_slice, starts, piece.shape, steps, node.shape)
        ]
        found.append(f"({script.of(piece)}, ({', '.join(slices)},))")
    return found


def concatenated(node: Node) -> int | None:
    """The axis along which a ``place`` concatenates its pieces, or None if it does something else."""
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
