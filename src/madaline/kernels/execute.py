"""Run a graph: plan it (or find its program), choose the executor, bind the arguments."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from madaline.errors import ConfigError, TraceError
from madaline.graph.node import CONSTANT, INPUT, Node, new_input, substitute, topological_order
from madaline.graph.shapes import Shape, is_symbolic, resolve
from madaline.graph.trace import Graph
from madaline.kernels import native, reference
from madaline.kernels.core import core
from madaline.kernels.locks import Lock
from madaline.kernels.pieces import Pieces
from madaline.kernels.threads import get_threads
from madaline.plan.planner import plan
from madaline.plan.program import Program
from madaline.plan.rows import NeedsRowCountError

CACHE_SIZE = 256
"Maximum number of cached programs; the least recently used one is removed first."


class ProgramCache:
    """Programs by the structure of their graph. Safe to use from several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._programs: OrderedDict[Any, Program] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Any) -> Program | None:
        """The program, now the most recently used."""
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
            return program

    def keep(self, key: Any, program: Program) -> None:
        """Add a program."""
        with self._lock:
            self._programs[key] = program
            while len(self._programs) > self._size:
                self._programs.popitem(last=False)


CACHE = ProgramCache(CACHE_SIZE)


class Executable:
    """A graph prepared for running, any number of times and from any thread.

    Parameters
    ----------
    graph : Graph
        The graph. Its constant arrays are bound now; graphs with the same structure share a program.
    snapshot : bool
        Whether to copy these arrays, so that later changes to them do not affect results.
    donated : dict, optional
        Outputs that may overwrite inputs, as for :func:`madaline.plan.planner.plan`. It matters for code that binds the
        arrays of the program itself; a call returns new arrays for all outputs.
    """

    def __init__(self, graph: Graph, *, snapshot: bool = False, donated: Mapping[int, int] | None = None) -> None:
        self.graph = with_copied_arrays(graph) if snapshot else graph
        self._donated = dict(donated or {})
        self._programs: dict[int, tuple[Program, list[np.ndarray]]] = {}
        self._generic: tuple[Program, list[np.ndarray]] | None = None
        self._has_batch = any(is_symbolic(node.shape) for node in graph.inputs)
        self._library = next((n for n in topological_order(graph.outputs) if n.primitive.library), None)
        self._pieces: dict[int, Any] = {}
        if self._library is not None:
            return
        with suppress(NeedsRowCountError):
            self._generic = _program(self.graph, self._donated)

    def program(self, n_rows: int = 0) -> Program:
        """The program for a batch of ``n_rows``: the same for all, unless a layout depends on the number of rows."""
        return self.bound(n_rows)[0]

    @property
    def is_generic(self) -> bool:
        """Whether one program works for every number of rows."""
        return self._generic is not None

    def bound(self, n_rows: int) -> tuple[Program, list[np.ndarray]]:
        """The program, and the constant arrays of the graph, which are passed after the arguments.

        A batch of one row has its own program: since its size is known, a gradient need not be stored.
        """
        if self._library is not None:
            raise TraceError(
                f"{self._library.primitive.name} is computed by a library between native programs, so this function "
                "is not one program: it cannot be described, and cannot be a layer, loss or metric of a trained net."
            )
        if self._generic is not None and not (n_rows == 1 and self._donated):
            return self._generic
        found = self._programs.get(n_rows)
        if found is None:
            found = _program(with_rows(self.graph, n_rows), self._donated)
            if len(self._programs) >= CACHE_SIZE:
                self._programs.clear()
            self._programs[n_rows] = found
        return found

    def __call__(self, arguments: Sequence[Any], n_rows: int = 0) -> list[np.ndarray]:
        """The outputs for these arguments, one for each input of the graph."""
        if self._has_batch and not n_rows:
            with_rows(self.graph, 0)  # the shape rules reject the maximum of nothing
        return self.run_by(run_program, arguments, n_rows)

    def run_by(self, run: Runner, arguments: Sequence[Any], n_rows: int = 0) -> list[np.ndarray]:
        """The outputs, by this executor: a function of a program, its arrays and the number of rows."""
        if self._library is None:
            program, constants = self.bound(n_rows)
            return run(program, [*arguments, *constants], n_rows)
        pieces = self._pieces.get(n_rows)
        if pieces is None:
            if len(self._pieces) >= CACHE_SIZE:
                self._pieces.clear()
            graph = with_rows(self.graph, n_rows) if self._has_batch else self.graph
            pieces = self._pieces[n_rows] = Pieces(graph, _part)
        return list(pieces(arguments, run))


Runner = Callable[[Program, list[Any], int], list[np.ndarray]]


def _part(graph: Graph) -> Callable[[Runner, list[Any]], list[np.ndarray]]:
    """A graph without library primitives, ready to run."""
    return Executable(graph).run_by


def run_program(program: Program, arguments: list[Any], n_rows: int) -> list[np.ndarray]:
    """The outputs of a program for these arguments, by the executor in use."""
    module = None if executor() == "reference" else core()
    if module is None:
        given = zip(arguments, program.inputs, strict=True)
        return reference.run(program, [np.asarray(value, dtype=node.dtype) for value, node in given], n_rows)
    return native.run(program, arguments, n_rows, core=module, threads=get_threads())


def executor() -> str:
    """The executor, ``native`` by default or the value of ``MADALINE_EXECUTOR``."""
    asked = os.environ.get("MADALINE_EXECUTOR", "native")
    if asked not in ("native", "reference"):
        raise ConfigError(f"MADALINE_EXECUTOR={asked!r} is not an executor. Use 'native' or 'reference'.")
    return asked


def _program(graph: Graph, donated: dict[int, int]) -> tuple[Program, list[np.ndarray]]:
    """The program of a graph, planned or cached, and the constant arrays of the graph, which are its last arguments."""
    key, arrays = structure(graph)
    key = (key, tuple(sorted(donated.items())))
    program = CACHE.find(key)
    if program is None:
        program = plan(with_arrays_as_inputs(graph, arrays), donated)
        CACHE.keep(key, program)
    return program, arrays


def with_copied_arrays(graph: Graph) -> Graph:
    """The graph with copies of its constant arrays."""
    copies: dict[int, np.ndarray] = {}
    constants: dict[int, Node] = {}
    for node in topological_order(graph.outputs):
        if node.primitive is CONSTANT:
            value = node.params["value"]
            copy = copies.setdefault(id(value), value.copy())
            constants[id(node)] = Node(CONSTANT, (), {"value": copy}, node.shape, node.dtype)
    return Graph(graph.inputs, tuple(substitute(graph.outputs, constants)))


def with_arrays_as_inputs(graph: Graph, arrays: list[np.ndarray]) -> Graph:
    """The graph with its constant arrays replaced by inputs, so that its program works for other arrays too."""
    if not arrays:
        return graph
    extra = {id(array): new_input(len(graph.inputs) + i, array.shape, array.dtype) for i, array in enumerate(arrays)}
    constants = {
        id(node): extra[id(node.params["value"])]
        for node in topological_order(graph.outputs)
        if node.primitive is CONSTANT and id(node.params["value"]) in extra
    }
    return Graph((*graph.inputs, *extra.values()), tuple(substitute(graph.outputs, constants)))


def structure(graph: Graph) -> tuple[Any, list[np.ndarray]]:
    """A key that is equal for graphs that can share a program, and the arrays in which they may differ."""
    number: dict[int, int] = {}
    arrays: list[np.ndarray] = []
    seen: dict[int, int] = {}
    parts: list[Any] = []
    # Each node after its inputs. No recursion: chains may be 100,000 nodes long.
    pending = [*reversed(graph.outputs), *reversed(graph.inputs)]
    while pending:
        node = pending[-1]
        key = id(node)
        if key in number:
            pending.pop()
            continue
        inputs = node.inputs
        if inputs:
            missing = [item for item in inputs if id(item) not in number]
            if missing:
                pending.extend(missing)
                continue
            places = [number[id(item)] for item in inputs]
            parts.append((node.primitive.name, *places, node.dtype, *node.params.items()))
        elif node.primitive is CONSTANT:
            value = node.params["value"]
            if is_chain_constant(value):
                parts.append((node.dtype, value.tobytes()))
            else:
                # The same array twice is one constant, so which arrays coincide is part of the structure.
                if id(value) not in seen:
                    seen[id(value)] = len(arrays)
                    arrays.append(value)
                parts.append((node.dtype, node.shape, seen[id(value)]))
        elif node.primitive is INPUT:
            parts.append((node.shape, node.dtype))
        else:
            parts.append((node.primitive.name, node.dtype, *node.params.items()))
        number[key] = len(number)
        pending.pop()
    # With the number of inputs: an input that is not an argument, of another call, is not taken for one that is.
    return (len(graph.inputs), tuple(parts), tuple([number[id(node)] for node in graph.outputs])), arrays


def is_chain_constant(value: np.ndarray) -> bool:
    """Whether an instruction can store the value itself: one number that is exact as a double."""
    return value.ndim == 0 and (value.dtype.kind != "i" or abs(int(value)) <= 2**53)


def with_rows(graph: Graph, n_rows: int) -> Graph:
    """The graph for one number of rows: every size is known."""
    new: dict[int, Node] = {}
    for node in [*graph.inputs, *topological_order(graph.outputs)]:
        if id(node) in new:
            continue
        params = {key: resolve(value, n_rows) for key, value in node.params.items()}
        if node.primitive.name == "row_count":
            value = np.array(node.params["rows"].at(n_rows), dtype=node.dtype)
            new[id(node)] = Node(CONSTANT, (), {"value": value}, (), node.dtype)
        elif is_symbolic(node.shape) or params != node.params or any(new[id(i)] is not i for i in node.inputs):
            inputs = tuple(new[id(item)] for item in node.inputs)
            shape: Shape = resolve(node.shape, n_rows)
            if inputs:
                shape = node.primitive.shape(*(item.shape for item in inputs), **params)
            new[id(node)] = Node(node.primitive, inputs, params, shape, node.dtype)
        else:
            new[id(node)] = node
    return Graph(tuple(new[id(node)] for node in graph.inputs), tuple(new[id(node)] for node in graph.outputs))
