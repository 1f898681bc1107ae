r"""Forward mode: tangents flow from the inputs to the outputs.

:math:`U_i = \sum_j U_j\, \partial f_i / \partial v_j` over the arguments ``j`` of node ``i`` (lecture row A6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from madaline.graph.memory import frozen
from madaline.graph.node import Node, is_float, topological_order
from madaline.graph.primitive import PRIMITIVES, ZERO


@frozen()
def tangents(outputs: Sequence[Node], inputs: Sequence[Node], input_dots: Sequence[Any]) -> list[Node | None]:
    """One tangent for each output: the Jacobian times the input tangents; ``None`` where nothing depends on them."""
    dots: dict[int, Any] = {id(node): dot for node, dot in zip(inputs, input_dots, strict=True)}
    stop = PRIMITIVES["stop_gradient"]
    for node in topological_order(outputs):
        if id(node) in dots or node.primitive is stop or not is_float(node.dtype):
            continue
        if not any(id(item) in dots for item in node.inputs):
            continue
        for position in node.primitive.without_derivative:
            if id(node.inputs[position]) in dots:
                node.primitive.refuse_derivative(position)
        item_dots = (dots.get(id(item), ZERO) for item in node.inputs)
        y_dot = node.primitive.jvp(*node.inputs, node, *item_dots, **node.params)
        if y_dot is not ZERO:
            dots[id(node)] = y_dot if y_dot.shape == node.shape else PRIMITIVES["broadcast_to"](y_dot, shape=node.shape)
    return [dots.get(id(output)) for output in outputs]
