"""Products with the Jacobian: jvp pushes tangents forward, vjp pulls cotangents back, hvp multiplies by the Hessian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.functional.evaluate import (
    CLOSURE,
    Arguments,
    as_type_of,
    check_differentiable,
    finished,
    names_of,
    output_node,
)
from madaline.functional.gradient import call, grad, zeros_for
from madaline.graph.forward_mode import tangents as push_forward
from madaline.graph.node import Node, as_node, constant, new_input, substitute
from madaline.graph.residuals import residuals
from madaline.graph.reverse_mode import cotangents as pull_back
from madaline.graph.shapes import show
from madaline.graph.trace import Graph, refuse_foreign_inputs
from madaline.graph.tree import LEAF, Structure, describe, flatten, unflatten
from madaline.kernels.execute import Executable


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    r"""The value of ``f`` and its derivative along a direction, :math:`(f(x), J(x)\,\dot x)`, by forward mode.

    Parameters
    ----------
    f : callable
        Written with NumPy; any number of arguments and results of any shape.
    primals, tangents : sequence
        The arguments, and a direction for each, of the same nesting and shapes.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.jvp(lambda x: x**2, (3.0,), (1.0,))
    (np.float64(9.0), np.float64(6.0))
    """
    leaves, structure, dots = _matched(primals, tangents)
    names = names_of(f, list(primals), range(len(primals)))
    arguments = Arguments([*leaves, *dots], [*names, *(f"tangent of {name}" for name in names)])
    points, directions = arguments.nodes[: len(leaves)], arguments.nodes[len(leaves) :]
    check_differentiable(points, names, otherwise=CLOSURE)
    _check_shapes(points, directions, names, "tangent")
    result = call(f, tuple(primals), {}, range(len(primals)), unflatten(structure, points), arguments.nodes)
    out_leaves, out_structure = flatten(result)
    outputs = [output_node(leaf) for leaf in out_leaves]
    aligned = [x_dot.astype(x.dtype) for x, x_dot in zip(points, directions, strict=True)]
    pushed = push_forward(outputs, points, aligned)
    slopes = [zeros_for(y) if y_dot is None else y_dot for y, y_dot in zip(outputs, pushed, strict=True)]
    results = arguments.run([*outputs, *slopes])
    return unflatten(out_structure, results[: len(outputs)]), unflatten(out_structure, results[len(outputs) :])


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    r"""The value of ``f`` and its pullback :math:`\bar y \mapsto \bar y\,J(x)`, by reverse mode.

    The pullback takes a cotangent of the nesting and shapes of the value and gives a tuple with one cotangent for each
    argument. The function itself is evaluated once, however often the pullback is called.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> value, pullback = md.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pullback(1.0)
    (np.float64(6.0), (np.float64(3.0), np.float64(2.0)))
    """
    leaves, structure = flatten(list(primals))
    names = names_of(f, primals, range(len(primals)))
    arguments = Arguments(leaves, names)
    check_differentiable(arguments.nodes, names, otherwise=CLOSURE)
    result = call(f, primals, {}, range(len(primals)), unflatten(structure, arguments.nodes), arguments.nodes)
    out_leaves, out_structure = flatten(result)
    outputs = [output_node(leaf) for leaf in out_leaves]
    linear = LinearMap(arguments, outputs, reverse=True)
    values = unflatten(out_structure, linear.values)

    def pullback(y_bar: Any) -> tuple[Any, ...]:
        bars = _leaves_like(out_structure, y_bar)
        if bars is None:
            raise ShapeError(
                f"The cotangent is nested as {describe(flatten(y_bar)[1])}, the value as {describe(out_structure)}; "
                "they must be equal."
            )
        results = linear(bars)
        typed = [as_type_of(result, leaf) for result, leaf in zip(results, leaves, strict=True)]
        return tuple(unflatten(structure, typed))

    return values, pullback


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    r"""The Hessian of a scalar function times a vector, :math:`\nabla^2 f(x)\,v`, without ever forming the Hessian.

    Forward mode over reverse mode: the cost is a small multiple of that of ``f``, whatever the number of parameters.
    Gives one product for one primal, a tuple for several.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])
    """
    count = len(primals)
    slope = grad(f, 0 if count == 1 else tuple(range(count)))
    return jvp(slope, primals, tangents)[1]


class LinearMap:
    """The derivative at one point, prepared for many vectors.

    Everything that does not depend on the vector is computed once; the rest is one program.
    """

    def __init__(self, arguments: Arguments, outputs: list[Node], *, reverse: bool) -> None:
        self._arguments = arguments
        self._outputs = outputs
        domain, codomain = (outputs, arguments.nodes) if reverse else (arguments.nodes, outputs)
        self._seeds = [new_input(index, node.shape, node.dtype) for index, node in enumerate(domain)]
        if reverse:
            results = pull_back(outputs, arguments.nodes, self._seeds)
        else:
            results = push_forward(outputs, arguments.nodes, self._seeds)
        self._images = [
            zeros_for(node) if image is None else image for node, image in zip(codomain, results, strict=True)
        ]
        if arguments.nested:
            self.values: list[Any] = arguments.run(outputs)
            return
        kept = residuals(self._images, self._seeds)
        refuse_foreign_inputs([*arguments.nodes, *self._seeds], self._images)
        numbers = arguments.run([*outputs, *kept])
        self.values, self._kept = numbers[: len(outputs)], numbers[len(outputs) :]
        stand_ins = [new_input(len(self._seeds) + i, node.shape, node.dtype) for i, node in enumerate(kept)]
        self._images = substitute(
            self._images, {id(node): stand_in for node, stand_in in zip(kept, stand_ins, strict=True)}
        )
        self._fixed = {id(stand_in): constant(value) for stand_in, value in zip(stand_ins, self._kept, strict=True)}
        self._program = Executable(Graph((*self._seeds, *stand_ins), tuple(self._images)))

    def __call__(self, vectors: Sequence[Any]) -> list[Any]:
        """The images of the vectors, one leaf each."""
        for seed, vector in zip(self._seeds, vectors, strict=True):
            if np.shape(vector) != seed.shape:
                raise ShapeError(
                    f"A vector of shape {show(np.shape(vector))} was given for a value of shape {show(seed.shape)}; "
                    "they must be equal."
                )
            kind = vector.dtype.kind if isinstance(vector, Node) else np.asarray(vector).dtype.kind
            if kind not in "fiub":
                raise DtypeError(f"{vector!r} was given for a value of type {seed.dtype}. Pass real numbers.")
        if self._arguments.nested or any(isinstance(vector, Node) for vector in vectors):
            given = {id(s): as_node(v).astype(s.dtype) for s, v in zip(self._seeds, vectors, strict=True)}
            return substitute(self._images, given if self._arguments.nested else given | self._fixed)
        return [finished(value) for value in self._program([*vectors, *self._kept])]


def _matched(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], Structure, list[Any]]:
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ShapeError("primals and tangents must be tuples with one entry for each argument: write (x,) for one.")
    leaves, structure = flatten(list(primals))
    dots = _leaves_like(structure, list(tangents))
    if dots is None:
        raise ShapeError(
            f"tangents are nested as {describe(flatten(tuple(tangents))[1])}, "
            f"primals as {describe(flatten(tuple(primals))[1])}; they must be equal."
        )
    return leaves, structure, dots


def _leaves_like(structure: Structure, tree: Any) -> list[Any] | None:
    """The leaves of a tree in the order of another one's structure, dicts matched by key; None if they do not fit."""
    if structure == LEAF:
        return None if isinstance(tree, (dict, list, tuple)) else [tree]
    kind, keys, children = structure
    if not isinstance(tree, kind) or len(tree) != len(children):
        return None
    if kind is dict:
        if any(key not in tree for key in keys):
            return None
        tree = [tree[key] for key in keys]
    found = [_leaves_like(child, item) for child, item in zip(children, tree, strict=True)]
    return None if any(leaves is None for leaves in found) else [leaf for leaves in found for leaf in leaves or ()]


def _check_shapes(points: Sequence[Node], vectors: Sequence[Node], names: Sequence[str], word: str) -> None:
    for x, v, name in zip(points, vectors, names, strict=True):
        if x.shape != v.shape:
            raise ShapeError(f"{name} has shape {show(x.shape)}, its {word} {show(v.shape)}; they must be equal.")
