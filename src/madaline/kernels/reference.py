"""The reference executor: a program run by NumPy, node by node. Readable, slow, trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.graph.node import CONSTANT, ROW_COUNT, Node
from madaline.graph.shapes import resolve
from madaline.plan.program import Program


def run(program: Program, arguments: Sequence[np.ndarray], n_rows: int = 0) -> list[np.ndarray]:
    """The outputs for these arguments; values are dropped after their last use.

    Parameters
    ----------
    program : Program
        A planned graph.
    arguments : sequence of arrays
        One for each of ``program.inputs``.
    n_rows : int
        Rows of the batch, where there is one.
    """
    values: dict[int, Any] = dict(zip(map(id, program.inputs), arguments, strict=True))
    remaining: dict[int, int] = {id(node): 1 for node in program.outputs}
    for node in program.schedule:
        for item in node.inputs:
            remaining[id(item)] = remaining.get(id(item), 0) + 1
    with np.errstate(all="ignore"):
        for node in program.schedule:
            if id(node) not in values:
                values[id(node)] = evaluate(node, [values[id(item)] for item in node.inputs], n_rows)
            for item in node.inputs:
                remaining[id(item)] -= 1
                if not remaining[id(item)]:
                    del values[id(item)]
    return [np.array(values[id(node)], dtype=node.dtype) for node in program.outputs]


def evaluate(node: Node, inputs: Sequence[Any], n_rows: int) -> Any:
    """The value of one node."""
    if node.primitive is CONSTANT:
        return node.params["value"]
    if node.primitive is ROW_COUNT:
        return node.dtype.type(node.params["rows"].at(n_rows))
    params = {key: resolve(value, n_rows) for key, value in node.params.items()}
    return node.primitive.value(*inputs, **params)
