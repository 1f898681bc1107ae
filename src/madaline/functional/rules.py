"""Functions whose derivative is computed in another way: by a given rule, or by computing the function once more."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from madaline.errors import ShapeError, TraceError
from madaline.functional.evaluate import output_node
from madaline.graph.forward_mode import tangents
from madaline.graph.memory import settled
from madaline.graph.node import Node, as_node, is_float, known_value, new_input, substitute
from madaline.graph.primitives.rules import BARRIER, CUSTOM_DERIVATIVE, DerivativeRule
from madaline.graph.residuals import residuals
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import is_tracing
from madaline.graph.tree import flatten, tree_map, unflatten


def custom_derivative(
    f: Callable[..., Any], *, jvp: Callable[..., Any] | None = None, vjp: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    r"""A function with a derivative rule given by hand, for example a more stable one, or one for a fixed point.

    Give one of the rules, or both; the other one is its transpose. Rules are written with NumPy. They may be
    differentiated again, as far as what they do can be.

    Parameters
    ----------
    f : callable
        Positional arguments are arrays or numbers; one array or number is returned. Every value with respect to
        which derivatives are taken must be an argument.
    jvp : callable, optional
        ``jvp(args, y, dots)`` gives the tangent :math:`J \dot x` of the result ``y``; ``args`` and ``dots`` are tuples.
    vjp : callable, optional
        ``vjp(args, y, y_bar)`` gives the cotangents :math:`\bar y J`: one for each argument, None for none.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> def newton(a):
    ...     x = 1.0
    ...     for _ in range(20):
    ...         x = 0.5 * (x + a / x)
    ...     return x
    >>> root = md.custom_derivative(newton, vjp=lambda args, y, y_bar: (y_bar / (2.0 * y),))
    >>> md.grad(root)(4.0), md.grad(md.grad(root))(4.0)
    (np.float64(0.25), np.float64(-0.03125))
    """
    if jvp is None and vjp is None:
        raise TraceError("custom_derivative needs a rule: jvp=, vjp= or both.")
    rule = DerivativeRule(jvp, vjp)

    @functools.wraps(f)
    def function(*args: Any) -> Any:
        if not is_tracing():
            return f(*args)
        nodes = [as_node(arg) for arg in args]
        outputs, structure, free, _ = _separated(f, nodes, list(nodes))
        if free:
            raise TraceError(
                f"The function with a custom derivative uses {free[0]!r}, which is not one of its arguments, so its "
                "rule gives no derivative for it. Pass it as an argument, or use md.functional.stop_gradient."
            )
        if len(outputs) != 1:
            raise ShapeError(f"A function with a custom derivative must return one array, not {len(outputs)}.")
        (y,) = outputs
        return unflatten(structure, [CUSTOM_DERIVATIVE(y, *nodes, rule=rule)])

    return function


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is computed again for its derivative, instead of keeping its intermediate values.

    Saves memory in reverse mode for the price of a second evaluation. Values and derivatives are the same.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> layer = md.checkpoint(lambda x: np.tanh(np.sin(x)))
    >>> md.grad(lambda x: np.sum(layer(layer(x))))(np.zeros(2))
    array([1., 1.])
    """

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        leaves, given = flatten((args, kwargs))
        traced = [position for position, leaf in enumerate(leaves) if isinstance(leaf, Node) and is_float(leaf.dtype)]
        if not traced:
            return f(*args, **kwargs)
        nodes = [as_node(leaves[position]) for position in traced]

        def on_leaves(*inner: Any) -> Any:
            every = list(leaves)
            for position, leaf in zip(traced, inner, strict=True):
                every[position] = leaf
            inner_args, inner_kwargs = unflatten(given, every)
            return f(*inner_args, **inner_kwargs)

        outputs, structure, free, recompute = _separated(on_leaves, nodes, list(nodes))
        every = [*nodes, *free]
        results = [
            CUSTOM_DERIVATIVE(y, *every, rule=_recomputing(recompute, number)) if isinstance(y, Node) else y
            for number, y in enumerate(outputs)
        ]
        return unflatten(structure, results)

    return function


def _recomputing(recompute: Callable[[Sequence[Any]], list[Any]], number: int) -> DerivativeRule:
    def vjp(args: tuple[Any, ...], y: Any, y_bar: Any) -> tuple[Any, ...]:
        again = [as_node(BARRIER(x, y_bar)) for x in args]
        return tuple(cotangents([recompute(again)[number]], again, [y_bar]))

    def jvp(args: tuple[Any, ...], y: Any, dots: tuple[Any, ...]) -> Any:
        fresh = [new_input(i, x.shape, x.dtype) for i, x in enumerate(args)]
        (y_dot,) = tangents([recompute(fresh)[number]], fresh, [as_node(dot) for dot in dots])
        if y_dot is None:
            return y * 0.0
        return substitute([y_dot], {id(node): as_node(x) for node, x in zip(fresh, args, strict=True)})[0]

    return DerivativeRule(jvp, vjp)


def _separated(
    f: Callable[..., Any], nodes: Sequence[Node], actual: list[Node]
) -> tuple[list[Any], Any, list[Node], Callable[[Sequence[Any]], list[Any]]]:
    """The results of a function, their nesting, the traced values it uses beside its arguments, and how to redo it."""
    stand_ins = [new_input(i, node.shape, node.dtype) for i, node in enumerate(nodes)]
    for stand_in, node in zip(stand_ins, nodes, strict=True):
        stand_in.known = known_value(node)
    leaves, structure = flatten(tree_map(settled, f(*stand_ins)))
    bodies = [output_node(leaf) for leaf in leaves]
    free = [node for node in residuals(bodies, stand_ins) if is_float(node.dtype)]
    doubles = [new_input(i, node.shape, node.dtype) for i, node in enumerate(free)]
    closed = substitute(bodies, {id(node): double for node, double in zip(free, doubles, strict=True)})
    places = [*stand_ins, *doubles]

    def recompute(values: Sequence[Any]) -> list[Any]:
        return list(substitute(closed, {id(p): as_node(v) for p, v in zip(places, values, strict=True)}))

    return recompute([*actual, *free]), structure, free, recompute
