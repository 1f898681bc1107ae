"""Gradients of functions with one scalar output."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.functional.derived import run_derived
from madaline.functional.evaluate import (
    Arguments,
    as_type_of,
    check_differentiable,
    finished,
    names_of,
    output_node,
)
from madaline.graph.blame import function_line
from madaline.graph.node import Node, as_node, constant, is_float
from madaline.graph.reverse_mode import cotangents
from madaline.graph.shapes import show
from madaline.graph.tape import Tape
from madaline.graph.trace import call_traced
from madaline.graph.tree import Structure, flatten, unflatten

ArgNums = int | Sequence[int]


def grad(f: Callable[..., Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    r"""Gradient of a scalar function, by reverse mode.

    :math:`\mathrm{grad}(f)(x) = \nabla f(x)`, of the shape and nesting of ``x`` (lecture rows A6, E7).

    Parameters
    ----------
    f : callable
        Written with NumPy; returns one float (with ``has_aux``, a pair of a float and anything else).
    argnums : int or tuple of int
        Positional arguments to differentiate with respect to. Each may be an array, or nested dicts, lists and tuples
        of arrays.
    has_aux : bool
        Whether ``f`` returns ``(value, aux)``; the result is then ``(gradient, aux)``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> md.grad(md.grad(np.sin))(0.5) == -np.sin(0.5)
    np.True_
    """
    both = value_and_grad(f, argnums, has_aux=has_aux)

    @functools.wraps(f, assigned=(), updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, slope = both(*args, **kwargs)
        return (slope, value[1]) if has_aux else slope

    if not has_aux:
        vars(gradient)["result_names"] = lambda args: gradient_names(f, checked_argnums(argnums), args)
    return gradient


def gradient_names(f: Callable[..., Any], argnums: int | tuple[int, ...], args: tuple[Any, ...]) -> list[str]:
    """What drawings call the parts of a gradient."""
    return [f"gradient w.r.t. {name}" for name in names_of(f, args, positions_of(argnums, args))]


def value_and_grad(f: Callable[..., Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Like :func:`grad`, but returns ``(value, gradient)``, or ``((value, aux), gradient)``, in one evaluation.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    (np.float64(6.0), (np.float64(3.0), np.float64(2.0)))
    """
    if not callable(f):
        raise DtypeError(
            f"grad takes a function, and was given {type(f).__name__}. Write md.grad(f)(x), not md.grad(f(x))."
        )
    argnums = checked_argnums(argnums)
    names_by_structure: dict[Any, list[str]] = {}

    @functools.wraps(f, assigned=(), updated=())
    def function(*args: Any, **kwargs: Any) -> Any:
        positions = positions_of(argnums, args)
        leaves, structure = flatten([args[position] for position in positions])
        names = names_by_structure.get(structure)
        if names is None:
            names = names_by_structure[structure] = names_of(f, args, positions)
        arguments = Arguments(leaves, names, by_form=True)
        check_differentiable(arguments.nodes, names)
        value, aux_leaves, aux_structure = _traced(f, args, kwargs, positions, structure, arguments, has_aux)
        results = _evaluated(arguments, value, aux_leaves)
        gradients = [as_type_of(slope, leaf) for slope, leaf in zip(results[1 : 1 + len(leaves)], leaves, strict=True)]
        slope_trees = unflatten(structure, gradients)
        first = (results[0], unflatten(aux_structure, results[1 + len(leaves) :])) if has_aux else results[0]
        return first, (slope_trees[0] if isinstance(argnums, int) else tuple(slope_trees))

    if not has_aux:
        vars(function)["result_names"] = lambda args: ["value", *gradient_names(f, argnums, args)]
    return function


def _evaluated(arguments: Arguments, value: Node, aux_leaves: list[Any]) -> list[Any]:
    """The value, the gradients and the auxiliary leaves."""
    aux = [leaf for leaf in aux_leaves if isinstance(leaf, Node)]

    def derive(value: Node, *aux: Node) -> list[Any]:
        bars = cotangents([value], arguments.nodes, [constant(1.0, value.dtype)])
        slopes = [zeros_for(node) if bar is None else bar for node, bar in zip(arguments.nodes, bars, strict=True)]
        return [value, *slopes, *aux]

    if arguments.nested:
        first, *slopes = derive(value)
        return arguments.run([first, *slopes, *aux_leaves])
    found = run_derived(arguments, [value, *aux], derive)
    count = 1 + len(arguments.nodes)
    rest = iter(found[count:])
    leaves = [finished(next(rest)) if isinstance(leaf, Node) else leaf for leaf in aux_leaves]
    return [*map(finished, found[:count]), *leaves]


def _traced(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: list[int],
    structure: Structure,
    arguments: Arguments,
    has_aux: bool,
) -> tuple[Node, list[Any], Structure]:
    trees = unflatten(structure, arguments.nodes)
    result = call(f, args, kwargs, positions, trees, arguments.nodes, arguments.tape)
    aux_leaves: list[Any] = []
    aux_structure: Structure = None
    if has_aux:
        if not isinstance(result, tuple) or len(result) != 2:
            raise ShapeError("has_aux=True needs a function that gives a pair (value, aux)." + function_line(f))
        result, aux = result
        aux_leaves, aux_structure = flatten(aux)
    return _scalar(result, f), aux_leaves, aux_structure


def call(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    trees: Sequence[Any],
    inputs: Sequence[Node],
    tape: Tape | None = None,
) -> Any:
    """``f`` with traced values in the chosen places."""
    given = list(args)
    for position, tree in zip(positions, trees, strict=True):
        given[position] = tree
    return call_traced(f, inputs, given, kwargs, tape)


def _scalar(result: Any, f: Callable[..., Any]) -> Node:
    if isinstance(result, (dict, list, tuple)):
        raise ShapeError(
            f"The function gives a {type(result).__name__}, but a gradient needs one number. "
            "Return the number alone (further results as aux with has_aux=True), or use md.jacobian." + function_line(f)
        )
    value = output_node(result, f)
    if value.shape and all(size == 1 for size in value.shape):
        value = as_node(value.reshape(()))  # column vectors give arrays of one element: x.T @ A @ x
    if value.shape != ():
        raise ShapeError(
            f"The function gives an array of shape {show(value.shape)}, but a gradient needs one number. "
            "Sum or average it, or use md.jacobian." + function_line(f)
        )
    if not is_float(value.dtype):
        raise DtypeError(
            f"The function gives a value of type {value.dtype}, which has no derivative. Return a float."
            + function_line(f)
        )
    return value


def zeros_for(node: Node) -> Any:
    """The derivative by an argument on which the result does not depend."""
    return np.zeros_like(node)


def checked_argnums(argnums: Any) -> int | tuple[int, ...]:
    """An int or a tuple of them, or an error."""
    try:
        return operator.index(argnums)
    except TypeError:
        pass
    try:
        return tuple(operator.index(position) for position in argnums)
    except TypeError:
        raise DtypeError(f"argnums={argnums!r} is not a position. Use an int, or a tuple of ints.") from None


def positions_of(argnums: int | tuple[int, ...], args: tuple[Any, ...]) -> list[int]:
    """Checked, non-negative positions."""
    wanted = (argnums,) if isinstance(argnums, int) else argnums
    for position in wanted:
        if not -len(args) <= position < len(args):
            raise ShapeError(
                f"argnums={argnums} names argument {position}, but the function was called with {len(args)} "
                "positional arguments. Pass the arguments to differentiate with respect to by position."
            )
    positions = [position % len(args) for position in wanted]
    if len(set(positions)) != len(positions):
        raise ShapeError(f"argnums={argnums} names an argument twice.")
    return positions
