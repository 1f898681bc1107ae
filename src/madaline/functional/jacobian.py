"""Whole Jacobians and Hessians, of any rank."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.functional.evaluate import (
    Arguments,
    as_type_of,
    check_differentiable,
    finished,
    names_of,
    output_node,
)
from madaline.functional.gradient import ArgNums, call, checked_argnums, grad, positions_of
from madaline.functional.products import LinearMap
from madaline.graph.node import Node, is_float
from madaline.graph.shapes import is_symbolic
from madaline.graph.tree import flatten, unflatten

MODES = ("auto", "forward", "reverse")


def jacobian(f: Callable[..., Any], argnums: ArgNums = 0, *, mode: str = "auto") -> Callable[..., Any]:
    r"""The Jacobian function: all partial derivatives :math:`\partial y_{i...} / \partial x_{j...}`.

    For an output of shape ``(i...)`` and an argument of shape ``(j...)`` the result has shape ``(i..., j...)``:
    scalars, vectors, matrices and tensors alike (lecture row C4). Nested outputs and arguments give that nesting.

    Parameters
    ----------
    f : callable
        Written with NumPy.
    argnums : int or tuple of int
        Positional arguments to differentiate with respect to.
    mode : {"auto", "forward", "reverse"}
        Forward mode takes one pass for each input element, reverse mode one for each output element. "auto" uses the
        mode with fewer passes.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.jacobian(lambda x: np.array([1.0, 2.0]) * x**2)(np.array([3.0, 4.0]))
    array([[ 6.,  0.],
           [ 0., 16.]])
    """
    if mode not in MODES:
        raise ShapeError(f"mode={mode!r} is not known. Use one of {', '.join(MODES)}.")

    argnums = checked_argnums(argnums)

    @functools.wraps(f, assigned=(), updated=())
    def function(*args: Any, **kwargs: Any) -> Any:
        positions = positions_of(argnums, args)
        leaves, structure = flatten([args[position] for position in positions])
        names = names_of(f, args, positions)
        arguments = Arguments(leaves, names)
        check_differentiable(arguments.nodes, names)
        result = call(f, args, kwargs, positions, unflatten(structure, arguments.nodes), arguments.nodes)
        out_leaves, out_structure = flatten(result)
        outputs = [_float_output(leaf) for leaf in out_leaves]
        rows = _matrices(arguments, outputs, leaves, mode)
        trees = [unflatten(structure, row) for row in rows]
        return unflatten(out_structure, [tree[0] if isinstance(argnums, int) else tuple(tree) for tree in trees])

    return function


def hessian(f: Callable[..., Any], argnums: ArgNums = 0) -> Callable[..., Any]:
    r"""The Hessian function of a scalar function: all second derivatives, by forward mode over reverse mode.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return jacobian(grad(f, argnums), argnums, mode="forward")


def _float_output(leaf: Any) -> Node:
    node = output_node(leaf)
    if not is_float(node.dtype):
        raise DtypeError(f"The function gives a value of type {node.dtype}, which has no derivative. Return floats.")
    return node


def _matrices(arguments: Arguments, outputs: list[Node], leaves: list[Any], mode: str) -> list[list[Any]]:
    """For every output leaf a list with one block for every input leaf."""
    inputs = arguments.nodes
    forward = _is_forward(mode, inputs, outputs)
    linear = LinearMap(arguments, outputs, reverse=not forward)
    domain, codomain = (inputs, outputs) if forward else (outputs, inputs)
    columns: list[list[list[Any]]] = [[[] for _ in codomain] for _ in domain]
    vectors = [np.zeros(node.shape, dtype=node.dtype) for node in domain]
    for position, vector in enumerate(vectors):
        for index in range(vector.size):
            vector.reshape(-1)[index] = 1.0
            for place, image in enumerate(linear([v.copy() for v in vectors] if arguments.nested else vectors)):
                columns[position][place].append(image)
            vector.reshape(-1)[index] = 0.0
    blocks = [
        [_joined(columns[i][j], domain[i], codomain[j]) for j in range(len(codomain))] for i in range(len(domain))
    ]
    rows = []
    for o, output in enumerate(outputs):
        row = []
        for i, node in enumerate(inputs):
            block = np.moveaxis(blocks[i][o], 0, -1) if forward else blocks[o][i]
            row.append(as_type_of(finished(block.reshape((*output.shape, *node.shape))), leaves[i]))
        rows.append(row)
    return rows


def _is_forward(mode: str, inputs: list[Node], outputs: list[Node]) -> bool:
    """The mode to use: one pass for each element of what must then be of known size."""
    open_in, open_out = (any(is_symbolic(node.shape) for node in nodes) for nodes in (inputs, outputs))
    if mode == "auto":
        fewer_in = open_out or (not open_in and sum(node.size for node in inputs) <= sum(node.size for node in outputs))
        forward = fewer_in and not open_in
    else:
        forward = mode == "forward"
    if open_in if forward else open_out:
        raise ShapeError(
            f"A Jacobian takes one pass for each element of the {'argument' if forward else 'result'}, whose number of "
            "rows is not known while a batch is traced. Use the other mode, or write the function for one row."
        )
    return forward


def _joined(images: list[Any], seed: Node, image: Node) -> Any:
    if not images:
        return np.zeros((0, *image.shape), dtype=image.dtype)
    return np.stack(images)
