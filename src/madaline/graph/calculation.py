"""A graph with numbers: the value and the adjoint of each node at given arguments, and the local slope of each edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.node import INPUT, ROW_COUNT, Node, constant, is_float, known_value, new_input
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import Rows, resolve, show
from madaline.graph.trace import Graph
from madaline.graph.tree import flatten

MAX_ROWS = 12
"Local slopes are computed for nodes with at most this many elements."


class Calculation:
    r"""The numbers of a graph at given arguments.

    A node :math:`v_j` has a value, and the adjoint :math:`\partial y / \partial v_j` if the result ``y`` is one number.
    An edge from :math:`v_i` to :math:`v_j` has the local slope :math:`\partial v_j / \partial v_i`; the adjoint of
    :math:`v_i` is the sum of slope times adjoint over the nodes that use it.

    Parameters
    ----------
    graph : Graph
    at : tuple
        One item for each argument of the traced function; anything else is its only argument.
    """

    def __init__(self, graph: Graph, at: Any) -> None:
        leaves, _ = flatten(at if isinstance(at, tuple) else (at,))
        n_rows = _n_rows(graph, leaves)
        self._fixed: dict[int, Node] = {}
        for node in graph.nodes:
            self._fixed[id(node)] = self._with_numbers(node, leaves, n_rows)
        self._adjoints = self._reverse(graph) if _is_number(graph) else {}

    def _with_numbers(self, node: Node, leaves: list[Any], n_rows: int) -> Node:
        if node.primitive is INPUT:
            # Not a constant: the rules of some primitives leave out what constants would get.
            array = np.asarray(leaves[node.params["index"]], dtype=node.dtype)
            given = new_input(node.params["index"], array.shape, node.dtype)
            given.known = array
            return given
        if node.primitive is ROW_COUNT:
            return constant(node.params["rows"].at(n_rows), node.dtype)
        params = {key: resolve(value, n_rows) for key, value in node.params.items()}
        inputs = tuple([self._fixed[id(item)] for item in node.inputs])
        return Node(node.primitive, inputs, params, resolve(node.shape, n_rows), node.dtype)

    def value(self, node: Node) -> np.ndarray:
        """The value of a node."""
        return _number(self._fixed[id(node)])

    def adjoint(self, node: Node) -> np.ndarray | None:
        """The derivative of the result by a node; None where the result is not one number or does not depend on it."""
        return self._adjoints.get(id(node))

    def pull_back(self, node: Node, item: Node, bar: np.ndarray) -> np.ndarray | None:
        """What a cotangent of ``node`` gives to its argument ``item``; None where no derivative passes."""
        if not passes(node, item):
            return None
        fixed = self._fixed[id(node)]
        bars = fixed.primitive.vjp(*fixed.inputs, fixed, constant(bar, node.dtype), **fixed.params)
        arrived = [
            _number(part).reshape(self.value(item).shape)
            for used, part in zip(node.inputs, bars, strict=True)
            if without_reshape(used) is item and part is not None
        ]
        return np.asarray(sum(arrived[1:], arrived[0])) if arrived else None

    def slope(self, node: Node, item: Node) -> np.ndarray | None:
        """The local slope of the edge from ``item`` to ``node``.

        A number between numbers. Between arrays of one shape of which each element depends on one element, the slope
        of each element; otherwise the Jacobian, if one of the two is a number or both are vectors. None for others and
        for nodes of more than 12 elements.
        """
        y, x = self.value(node), self.value(item)
        if not 0 < y.size <= MAX_ROWS or not x.size:
            return None
        rows = [self.pull_back(node, item, bar) for bar in np.eye(y.size).reshape(y.size, *y.shape)]
        found = [row.reshape(-1) for row in rows if row is not None]
        if not found:
            return None
        jacobian = np.stack(found)
        x, y = np.squeeze(x), np.squeeze(y)
        if x.shape == y.shape and np.array_equal(jacobian, np.diag(np.diagonal(jacobian))):
            return np.diagonal(jacobian).reshape(x.shape)
        if y.size == 1:
            return jacobian.reshape(x.shape)
        if x.size == 1:
            return jacobian.reshape(y.shape)
        return jacobian if x.ndim <= 1 and y.ndim <= 1 else None

    def _reverse(self, graph: Graph) -> dict[int, np.ndarray]:
        (output,) = graph.outputs
        adjoints = {id(output): np.ones(self.value(output).shape)}
        for node in reversed(graph.nodes):
            if id(node) not in adjoints:
                continue
            for item in arguments(node):
                bar = self.pull_back(node, item, adjoints[id(node)])
                if bar is not None:
                    adjoints[id(item)] = adjoints[id(item)] + bar if id(item) in adjoints else bar
        return adjoints


def without_reshape(node: Node) -> Node:
    """The node itself, or what it is made of by reshapes that only add or remove axes of size 1."""
    while node.primitive is PRIMITIVES["reshape"]:
        (before,) = node.inputs
        if [size for size in before.shape if size != 1] != [size for size in node.shape if size != 1]:
            break
        node = before
    return node


def arguments(node: Node) -> list[Node]:
    """The arguments of a node as a drawing has them: each once, without reshapes."""
    return list({id(item): item for item in map(without_reshape, node.inputs)}.values())


def passes(node: Node, item: Node) -> bool:
    """Whether a derivative flows from a node to its argument."""
    return is_float(node.dtype) and is_float(item.dtype) and node.primitive is not PRIMITIVES["stop_gradient"]


def _number(value: Any) -> np.ndarray:
    known = known_value(value) if isinstance(value, Node) else value
    return np.asarray(known)


def _is_number(graph: Graph) -> bool:
    return len(graph.outputs) == 1 and graph.outputs[0].shape == () and is_float(graph.outputs[0].dtype)


def _n_rows(graph: Graph, leaves: list[Any]) -> int:
    """The number of rows of the batch, after a check of all shapes."""
    if len(leaves) != len(graph.inputs):
        raise ShapeError(
            f"at= has {len(leaves)} arrays and numbers, and the graph has {len(graph.inputs)} inputs. Pass the "
            "arguments of the traced function as a tuple: at=(x, y)."
        )
    n_rows = 1
    for node, leaf in zip(graph.inputs, leaves, strict=True):
        if any(isinstance(size, Rows) for size in node.shape) and np.ndim(leaf):
            n_rows = len(leaf)
    for node, leaf in zip(graph.inputs, leaves, strict=True):
        if np.shape(leaf) != resolve(node.shape, n_rows):
            name = node.params["name"] or node.params["index"]
            raise ShapeError(f"at= has shape {np.shape(leaf)} for {name}, which was traced with {show(node.shape)}.")
    return n_rows
