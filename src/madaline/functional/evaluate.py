"""Between arrays and graphs: make traced arguments, run the graph they lead to, give numbers back.

A function of this room may be called inside a function that is being traced itself (``grad(grad(f))``, or ``grad``
inside a compiled function). Then its result is graph as well: nodes go in, nodes come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from madaline.errors import DtypeError, TraceError
from madaline.graph.node import INPUT, Node, as_node, constant, is_float, topological_order
from madaline.graph.primitives.elementwise import identity
from madaline.graph.trace import Graph, leaf_input
from madaline.graph.tree import flatten, paths
from madaline.kernels.execute import Executable

_OPEN: ContextVar[tuple[frozenset[int], ...]] = ContextVar("open traces", default=())


@contextmanager
def open_trace(inputs: Sequence[Node]) -> Iterator[None]:
    """While a function is traced, its inputs are known to be in use."""
    token = _OPEN.set((*_OPEN.get(), frozenset(id(node) for node in inputs)))
    try:
        yield
    finally:
        _OPEN.reset(token)


def is_nested(leaves: Sequence[Any]) -> bool:
    """Whether this call happens inside another trace."""
    return bool(_OPEN.get()) or any(isinstance(leaf, Node) for leaf in leaves)


class Arguments:
    """The leaves of some arguments as nodes, to trace a function with and to differentiate by."""

    def __init__(self, leaves: Sequence[Any], names: Sequence[str]) -> None:
        self.nested = is_nested(leaves)
        self.arrays = [
            leaf if isinstance(leaf, Node) else _array(leaf, name) for leaf, name in zip(leaves, names, strict=True)
        ]
        if self.nested:
            # A fresh name for each argument: a derivative by it must not see other uses of the same outer node.
            self.nodes = [
                identity(as_node(array)) if isinstance(array, Node) else _renamed(array) for array in self.arrays
            ]
        else:
            self.nodes = [leaf_input(index, array, name=names[index]) for index, array in enumerate(self.arrays)]

    def run(self, outputs: Sequence[Any]) -> list[Any]:
        """Numbers for the outputs (what is not a node is passed on), or nodes inside another trace."""
        nodes = [output for output in outputs if isinstance(output, Node)]
        if self.nested:
            values: list[Any] = nodes if _depends_on_inputs(nodes) else Executable(Graph((), tuple(nodes)))([])
        else:
            refuse_leaks(self.nodes, nodes)
            values = Executable(Graph(tuple(self.nodes), tuple(nodes)))(self.arrays)
        remaining = iter(values)
        return [finished(next(remaining)) if isinstance(output, Node) else output for output in outputs]


def _renamed(array: np.ndarray) -> Node:
    node = constant(array)
    return Node(identity, (node,), {}, node.shape, node.dtype)


def _array(leaf: Any, name: str) -> np.ndarray:
    if isinstance(leaf, (str, bytes)) or leaf is None or callable(leaf):
        raise DtypeError(
            f"{name}={leaf!r} is not an array or a number. Pass it another way, for example by functools.partial."
        )
    return np.asarray(leaf)


def _depends_on_inputs(nodes: Sequence[Node]) -> bool:
    return any(node.primitive is INPUT for node in topological_order(nodes))


def refuse_leaks(inputs: Sequence[Node], outputs: Sequence[Node]) -> None:
    """An error if the outputs need a traced value of a call that is over."""
    known = {id(node) for node in inputs}.union(*_OPEN.get()) if _OPEN.get() else {id(node) for node in inputs}
    for node in topological_order(outputs):
        if node.primitive is INPUT and id(node) not in known:
            raise TraceError(
                f"The result depends on {node!r}, which was traced in another call and kept (in a global, an attribute or a "
                "list). Return such values (has_aux=True) instead of keeping them."
            )


def finished(value: Any) -> Any:
    """A NumPy scalar for an array without axes, as NumPy's own functions give."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def as_type_of(value: Any, argument: Any) -> Any:
    """A derivative by a float16 argument as float16; it was computed in float32."""
    half = isinstance(argument, (np.ndarray, np.generic)) and argument.dtype == np.float16
    return value.astype(np.float16) if half and not isinstance(value, Node) else value


def names_of(function: Callable[..., Any], args: Sequence[Any], positions: Sequence[int]) -> list[str]:
    """A name for every leaf of the chosen arguments, as the user would write it."""
    code = getattr(function, "__code__", None)
    given = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    names = []
    for position in positions:
        base = given[position] if position < len(given) else f"argument {position}"
        names.extend(base + path for path in paths(flatten(args[position])[1]))
    return names


def check_differentiable(nodes: Sequence[Node], names: Sequence[str]) -> None:
    """An error that names the first argument by which one cannot differentiate."""
    for node, name in zip(nodes, names, strict=True):
        if not is_float(node.dtype):
            raise DtypeError(
                f"{name} has type {node.dtype}, which has no derivative. Pass floats (for example {name}.astype(float)), "
                "or choose other arguments with argnums."
            )
