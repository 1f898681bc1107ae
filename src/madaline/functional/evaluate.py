"""From arrays to graphs and back: trace arguments, run the resulting graph, return numbers.

A function of this package may be called inside a function that is being traced itself (``grad(grad(f))``, or ``grad``
inside a compiled function). Then its result is graph as well: nodes go in, nodes come out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import DtypeError
from madaline.graph.blame import function_line
from madaline.graph.node import Node, as_node, is_float, whole_array
from madaline.graph.object_arrays import as_traced
from madaline.graph.primitives.elementwise import identity
from madaline.graph.tape import Form, Tape
from madaline.graph.trace import (
    Graph,
    depends_on_open_trace,
    is_tracing,
    leaf_input,
    parameter_names,
    refuse_foreign_inputs,
)
from madaline.graph.tree import flatten, paths
from madaline.kernels.execute import Executable


class Arguments:
    """The leaves of some arguments as nodes, to trace a function with and to differentiate by."""

    def __init__(self, leaves: Sequence[Any], names: Sequence[str], *, by_form: bool = False) -> None:
        leaves = [as_traced(leaf) for leaf in leaves]
        self.tape: Tape | None = None
        "The tape of this call, if its operations are found by their forms."
        self.forms: tuple[Form, ...] = ()
        self.nested = is_tracing() or any(isinstance(leaf, Node) for leaf in leaves)
        self.arrays = [
            leaf if isinstance(leaf, Node) else _array(leaf, name) for leaf, name in zip(leaves, names, strict=True)
        ]
        if self.nested:
            # A fresh name for each argument: a derivative by it must not see other uses of the same outer node.
            self.nodes = [_renamed(as_node(array)) for array in self.arrays]
        else:
            self.nodes = [leaf_input(index, array, name=names[index]) for index, array in enumerate(self.arrays)]
            for node, array in zip(self.nodes, self.arrays, strict=True):
                node.known = np.asarray(array, dtype=node.dtype)
            if by_form:
                self.tape = tape = Tape()
                self.forms = tuple([tape.input(node) for node in self.nodes])

    def run(self, outputs: Sequence[Any]) -> list[Any]:
        """Numbers for the outputs, or nodes inside another trace; other objects are passed on."""
        nodes = [output for output in outputs if isinstance(output, Node)]
        if self.nested:
            values: list[Any] = nodes if depends_on_open_trace(nodes) else _run_constants(nodes)
        else:
            refuse_foreign_inputs(self.nodes, nodes)
            values = Executable(Graph(tuple(self.nodes), tuple(nodes)))(self.arrays)
        remaining = iter(values)
        return [finished(next(remaining)) if isinstance(output, Node) else output for output in outputs]


def _renamed(node: Node) -> Node:
    # Not by calling the primitive, which would fold a constant, and with it everything that is differentiated by it.
    return Node(identity, (node,), {}, node.shape, node.dtype)


def _run_constants(nodes: Sequence[Node]) -> list[np.ndarray]:
    refuse_foreign_inputs((), nodes)
    return Executable(Graph((), tuple(nodes)))([])


def _array(leaf: Any, name: str) -> np.ndarray:
    if isinstance(leaf, (str, bytes)) or leaf is None or callable(leaf):
        raise DtypeError(
            f"{name}={leaf!r} is not an array or a number. Pass it another way, for example by functools.partial."
        )
    array = whole_array(leaf)
    # The program runs when the function has returned, and the function may have changed the array.
    return array.copy(order="K") if array.base is not None or array is leaf else array


def finished(value: Any) -> Any:
    """A NumPy scalar for an array without axes, as NumPy's own functions give."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def output_node(leaf: Any, function: Callable[..., Any] | None = None) -> Node:
    """One result of the user's function as a node."""
    if leaf is None or isinstance(leaf, str):
        raise DtypeError(
            f"The function gives {leaf!r}, which is not an array or a number. Is a return missing?"
            + ("" if function is None else function_line(function))
        )
    return as_node(leaf)


def as_type_of(value: Any, argument: Any) -> Any:
    """A derivative by a float16 argument as float16; it was computed in float32."""
    half = isinstance(argument, (np.ndarray, np.generic)) and argument.dtype == np.float16
    return value.astype(np.float16) if half and not isinstance(value, Node) else value


def names_of(function: Callable[..., Any], args: Sequence[Any], positions: Sequence[int]) -> list[str]:
    """A name for every leaf of the chosen arguments, as the user would write it."""
    given = parameter_names(function)
    names: list[str] = []
    for position in positions:
        base = given[position] if position < len(given) else f"argument {position}"
        names.extend(base + path for path in paths(flatten(args[position])[1]))
    return names


ARGNUMS = "choose other arguments with argnums"
CLOSURE = "let the function close over it: lambda x: f(x, i)"


def check_differentiable(nodes: Sequence[Node], names: Sequence[str], *, otherwise: str = ARGNUMS) -> None:
    """Raise an error that names the first argument that is not differentiable."""
    for node, name in zip(nodes, names, strict=True):
        if not is_float(node.dtype):
            typed = name if name.partition("[")[0].isidentifier() else "x"
            remedy = f"float({typed})" if node.shape == () else f"{typed}.astype(float)"
            raise DtypeError(
                f"{name} has type {node.dtype}, which has no derivative. "
                f"Pass floats (for example {remedy}), or {otherwise}."
            )
