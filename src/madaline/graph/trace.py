"""From a Python function to its graph."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

from madaline.errors import DtypeError, ShapeError, TraceError
from madaline.graph.blame import located
from madaline.graph.memory import Writable, settled, written_arrays
from madaline.graph.node import (
    INPUT,
    SNAPSHOTS,
    Node,
    as_node,
    graph_dtype,
    new_input,
    topological_order,
    whole_array,
)
from madaline.graph.object_arrays import MADE, Made, explained
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.scipy_api.replacement import Replacements
from madaline.graph.shapes import Rows, Shape
from madaline.graph.tape import Tape
from madaline.graph.tree import Structure, flatten, paths, tree_map, unflatten

_OPEN: ContextVar[frozenset[int]] = ContextVar("arguments of open traces", default=frozenset())


@contextmanager
def open_trace(inputs: Sequence[Node]) -> Iterator[None]:
    """While a function is traced, its arguments are known to be in use: other traces may happen inside and use them."""
    token = _OPEN.set(_OPEN.get().union(map(id, inputs)))
    arrays = SNAPSHOTS.set(SNAPSHOTS.get() or {})
    memory = Writable()
    try:
        yield
    finally:
        memory.close()
        SNAPSHOTS.reset(arrays)
        _OPEN.reset(token)


def call_traced(
    function: Callable[..., Any],
    inputs: Sequence[Node],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    tape: Tape | None = None,
) -> Any:
    """The result of a function that is traced with these inputs; arrays it wrote to have their final content.

    An error of the trace names the line of the user's function.
    """
    scipy = Replacements()
    try:
        while True:
            try:
                return _call_located(function, inputs, args, kwargs or {}, tape)
            except (TypeError, ValueError, AttributeError) as error:
                # Where a module of SciPy meets a traced value for the first time, the function is traced once more.
                if not scipy.catch_up(error):
                    raise
    finally:
        scipy.close()


def _call_located(
    function: Callable[..., Any],
    inputs: Sequence[Node],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    tape: Tape | None,
) -> Any:
    made = MADE.set(Made())
    try:
        with open_trace(inputs):
            if tape is not None:
                tape.written = written_arrays()
            result = function(*args, **kwargs)
            if type(result) is Node and result.tape is not None and not result.tape.written:
                return result
            return settled(result) if isinstance(result, Node) else tree_map(settled, result)
    except (TraceError, ShapeError, DtypeError) as error:
        raise located(error) from error.__cause__
    except (TypeError, ValueError, AttributeError, SystemError) as error:
        # NumPy and SciPy word it themselves when a traced value cannot be a plain number: the reason is the cause.
        reason = error.__cause__ or error.__context__
        if isinstance(reason, TraceError) and not isinstance(error, AttributeError):
            reason.__traceback__ = error.__traceback__
            raise located(reason) from None
        refused = explained(error)
        if refused is None:
            raise
        raise located(refused) from error
    finally:
        MADE.reset(made)


def is_tracing() -> bool:
    """Whether some function is being traced now, in this thread."""
    return bool(_OPEN.get())


def depends_on_open_trace(nodes: Sequence[Node]) -> bool:
    """Whether a value depends on an argument of a function that is being traced now."""
    in_use = _OPEN.get()
    return bool(in_use) and any(id(node) in in_use for node in topological_order(nodes))


@dataclass(frozen=True)
class Graph:
    """What a function does: input nodes, output nodes, and everything between them, reachable from the outputs."""

    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    output_names: tuple[str, ...] = ()
    "What drawings call the outputs: their place in the result, or what a gradient belongs to."

    @property
    def nodes(self) -> list[Node]:
        """All nodes in topological order: the inputs first, each other node after its arguments."""
        known = {id(node) for node in self.inputs}
        return [*self.inputs, *(node for node in topological_order(self.outputs) if id(node) not in known)]

    def __str__(self) -> str:
        from madaline.graph.listing import assignments

        return assignments(self)

    def counts(self) -> dict[str, int]:
        """Number of nodes of each kind, most frequent first."""
        from madaline.graph.listing import counts

        return counts(self)

    def flops(self, n_rows: int = 1) -> int:
        """Floating-point operations of one evaluation (a batch has ``n_rows``)."""
        from madaline.graph.listing import flops

        return flops(self, n_rows)

    def bytes(self, n_rows: int = 1) -> int:
        """Bytes of all values of one evaluation together."""
        from madaline.graph.listing import total_bytes

        return total_bytes(self, n_rows)

    def svg(self, *, at: Any = None, paths: str = "", title: str = "") -> str:
        """A drawing: inputs, parameters, constants, intermediates and outputs told apart, the flow from top to bottom.

        Parameters
        ----------
        at : tuple, optional
            Arguments of the traced function (a single one need not be a tuple). The drawing then has the value of each
            node, the local slope of each edge and, if the result is one number, the adjoint of each node.
        paths : str, optional
            Name of an input, such as ``"W1"`` or ``"params['W1']"``. Each path from it to the result has its own
            colour; with ``at``, the contribution of each path to the gradient is listed.
        title : str, default: the numbers of inputs, nodes and outputs

        Examples
        --------
        >>> import madaline as md
        >>> picture = md.trace(lambda x, y: x * y + x, 2.0, 5.0).svg(at=(2.0, 5.0), paths="x")
        >>> "gradient w.r.t. x, the sum over all paths: 6" in picture
        True
        """
        from madaline.graph.draw import svg

        return svg(self, at=at, paths=paths, title=title)

    def _repr_svg_(self) -> str:
        return self.svg()


def trace(function: Callable[..., Any], *args: Any, rows: Sequence[int] = ()) -> Graph:
    """The graph of ``function`` at arguments of these shapes and types.

    Parameters
    ----------
    function : callable
        Written with NumPy functions and operators.
    *args : arrays, numbers, or nested dicts, lists and tuples of them
        Only their shapes and types matter.
    rows : sequence of int
        Positions of arguments whose first axis is the batch; its size is left open.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> print(md.trace(lambda x1, x2: np.log(x1) + x1 * x2, 2.0, 5.0))
    v1 = input x1 : float64 ()
    v2 = input x2 : float64 ()
    v3 = log(v1) : float64 ()
    v4 = multiply(v1, v2) : float64 ()
    v5 = add(v3, v4) : float64 ()
    return v5
    """
    graph, _, _ = trace_tree(function, args, rows=rows)
    return _without_identities(graph)


def _without_identities(graph: Graph) -> Graph:
    """The graph without nodes that only pass a value on, such as a derivative has for its arguments."""
    new: dict[int, Node] = {}
    for node in topological_order(graph.outputs):
        inputs = tuple([new[id(item)] for item in node.inputs])
        if node.primitive is PRIMITIVES["identity"]:
            new[id(node)] = inputs[0]
        elif all(map(is_, inputs, node.inputs)):
            new[id(node)] = node
        else:
            new[id(node)] = Node(node.primitive, inputs, node.params, node.shape, node.dtype)
    return replace(graph, outputs=tuple([new[id(node)] for node in graph.outputs]))


def checked_rows(rows: Any, n_arguments: int | None = None) -> tuple[int, ...]:
    """Positions of batch arguments, or an error."""
    try:
        positions = tuple(operator.index(position) for position in rows)
    except TypeError:
        raise TraceError(
            f"rows={rows!r} is not a list of positions. Use rows=[0] for the first argument, rows=[0, 1] for two."
        ) from None
    for position in positions:
        if n_arguments is not None and not 0 <= position < n_arguments:
            raise ShapeError(
                f"rows={list(positions)} names argument {position}, but there are {n_arguments} positional arguments."
            )
    return positions


def trace_tree(
    function: Callable[..., Any], args: tuple[Any, ...], *, rows: Sequence[int] = ()
) -> tuple[Graph, Structure, list[Any]]:
    """The graph, the structure of the result, and its leaves (nodes; others were constants)."""
    rows = checked_rows(rows, len(args))
    leaves, structure = flatten(args)
    argument_of = [position for position, arg in enumerate(args) for _ in flatten(arg)[0]]
    names = _leaf_names(function, args)
    inputs = tuple(
        leaf_input(index, leaf, name=names[index], batch=argument_of[index] in rows)
        for index, leaf in enumerate(leaves)
    )
    result = call_traced(function, inputs, unflatten(structure, inputs))
    out_leaves, out_structure = flatten(result)
    if any(leaf is None for leaf in out_leaves):
        raise TraceError(
            "The traced function returned None. Return an array or number, or a dict, list or tuple of them."
        )
    outputs = tuple(as_node(leaf) for leaf in out_leaves)
    refuse_foreign_inputs(inputs, outputs)
    return Graph(inputs, outputs, _output_names(function, args, out_structure)), out_structure, out_leaves


def _output_names(function: Callable[..., Any], args: tuple[Any, ...], structure: Structure) -> tuple[str, ...]:
    """Names from the function itself, if it knows them as derivatives do; otherwise places in a nested result."""
    named = getattr(function, "result_names", None)
    if named is not None:
        return tuple(named(args))
    places = paths(structure)
    return tuple(f"result{place}" for place in places) if len(places) > 1 else ()


def leaf_input(index: int, leaf: Any, *, name: str = "", batch: bool = False) -> Node:
    """An input node for an array or number."""
    array = whole_array(leaf)
    shape: Shape = array.shape
    if batch:
        if not shape:
            raise TraceError(f"Argument {name or index} is a batch but has no axis for its rows.")
        shape = (Rows(), *shape[1:])
    return new_input(index, shape, graph_dtype(array.dtype, name), name)


def refuse_foreign_inputs(inputs: Sequence[Node], outputs: Sequence[Node]) -> None:
    """An error if the outputs need a traced value that belongs to another call, which is over or has other inputs."""
    known = {id(node) for node in inputs}
    for node in topological_order(outputs):
        if node.primitive is INPUT and id(node) not in known:
            raise TraceError(
                f"The result depends on {node!r}, which was traced in another call and kept (in a global, an attribute "
                "or a list). Return such values (has_aux=True) instead of keeping them."
            )


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """What a function calls its positional arguments; nothing if it is not written in Python."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names[1:] if inspect.ismethod(function) else names


def _leaf_names(function: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    given = parameter_names(function)
    names: list[str] = []
    for position, arg in enumerate(args):
        base = given[position] if position < len(given) else f"x{position + 1}"
        names.extend(base + path for path in paths(flatten(arg)[1]))
    return names
