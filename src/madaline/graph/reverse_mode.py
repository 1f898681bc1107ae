r"""Reverse mode: cotangents flow from the outputs back to the inputs.

:math:`V_i = \sum_j V_j\, \partial f_j / \partial v_i` over the nodes ``j`` that use ``i`` (lecture row A6).
The rules of the primitives build the cotangents as nodes, so the result is graph again and can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from madaline.graph.arrays import Array
from madaline.graph.memory import frozen
from madaline.graph.node import Node, is_float, topological_order
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.shape import place


def active_nodes(order: Sequence[Node], inputs: Sequence[Node]) -> set[int]:
    """Ids of the nodes through which a derivative by ``inputs`` flows."""
    active = {id(node) for node in inputs}
    stop = PRIMITIVES["stop_gradient"]
    for node in order:
        if id(node) not in active and node.primitive is not stop and is_float(node.dtype):
            for item in node.inputs:
                if id(item) in active:
                    active.add(id(node))
                    break
    return active


@frozen()
def cotangents(outputs: Sequence[Node], inputs: Sequence[Node], output_bars: Sequence[Any]) -> list[Node | None]:
    """One cotangent for each input: the output cotangents times the Jacobian; ``None`` where nothing depends on it."""
    order = topological_order(outputs)
    active = active_nodes(order, inputs)
    arrived: dict[int, list[Any]] = {}
    for output, bar in zip(outputs, output_bars, strict=True):
        if id(output) in active and bar is not None:
            arrived.setdefault(id(output), []).append(bar)
    wanted = {id(node) for node in inputs}
    found: dict[int, Any] = {}
    for node in reversed(order):
        bars = arrived.pop(id(node), None)
        if bars is None:
            continue
        y_bar = _total(bars)
        if id(node) in wanted:
            found[id(node)] = y_bar
            if not node.inputs:
                continue
        if not any(id(item) in active for item in node.inputs):
            continue
        for position in node.primitive.without_derivative:
            if id(node.inputs[position]) in active:
                node.primitive.refuse_derivative(position)
        for item, bar in zip(node.inputs, node.primitive.vjp(*node.inputs, node, y_bar, **node.params), strict=True):
            if bar is not None and id(item) in active:
                arrived.setdefault(id(item), []).append(bar)
    return [found.get(id(node)) for node in inputs]


def _total(bars: list[Any]) -> Array:
    """The sum of what arrived.

    Slices that come back are placed into one array together: d slices of one vector cost d, not d squared.
    """
    placed = PRIMITIVES["place"]
    slices = [bar for bar in bars if isinstance(bar, Node) and bar.primitive is placed]
    if len(slices) < 2:
        return reduce(add, bars)
    pieces: list[Any] = []
    starts: list[tuple[int, ...]] = []
    steps: list[tuple[int, ...]] = []
    for bar in slices:
        pieces.extend(bar.inputs)
        starts.extend(bar.params["starts"])
        steps.extend(bar.params["steps"])
    rest = [bar for bar in bars if not (isinstance(bar, Node) and bar.primitive is placed)]
    return reduce(add, rest, place(pieces, slices[0].shape, starts, steps))
