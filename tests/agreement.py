"""Run a graph by both executors and compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from graph_values import largest_value, output_values
from madaline.graph.node import Node, topological_order
from madaline.graph.trace import Graph
from madaline.kernels import core, native, reference
from madaline.kernels.execute import Executable

ISAS = core.cpu_isas()
needs_core = pytest.mark.skipif(not ISAS, reason="needs the native core")
ROUNDINGS = 200
"How many roundings of the largest value in the graph two executors may lie apart."


def bound(graph: Graph, arguments: Sequence[Any], n_rows: int = 0) -> tuple[Any, list[np.ndarray]]:
    """The program of a graph and all its arguments: those given, then the arrays the graph holds."""
    program, constants = Executable(graph).bound(n_rows)
    given = zip([*arguments, *constants], program.inputs, strict=True)
    return program, [np.asarray(value, dtype=node.dtype) for value, node in given]


def by_reference(program: Any, arguments: Sequence[Any], n_rows: int) -> list[np.ndarray]:
    given = zip(arguments, program.inputs, strict=True)
    return reference.run(program, [np.asarray(value, dtype=node.dtype) for value, node in given], n_rows)


def run_reference(graph: Graph, arguments: Sequence[Any], n_rows: int = 0) -> list[np.ndarray]:
    return Executable(graph).run_by(by_reference, arguments, n_rows)


def run_native(
    graph: Graph, arguments: Sequence[Any], n_rows: int = 0, *, isa: str | None = None, threads: int = 2
) -> list[np.ndarray]:
    def by_core(program: Any, arrays: Sequence[Any], n_rows: int) -> list[np.ndarray]:
        return native.run(program, arrays, n_rows, core=core.load(isa or ISAS[-1]), threads=threads)

    return Executable(graph).run_by(by_core, arguments, n_rows)


def assert_executors_agree(
    graph: Graph, arguments: Sequence[Any], n_rows: int = 0, *, isas: Iterable[str] = ISAS, threads: int = 2
) -> list[np.ndarray]:
    """The program gives what the graph says, by both executors; returns what the reference gives.

    The reference against the graph checks the planner, the native core against the reference checks the core.
    """
    arrays = [np.asarray(value, dtype=node.dtype) for value, node in zip(arguments, graph.inputs, strict=True)]
    expected = run_reference(graph, arrays, n_rows)
    scale = largest_value(graph, arrays, n_rows)
    assert_close(expected, output_values(graph, arrays, n_rows), graph.outputs, scale=scale, what="reference")
    for isa in isas:
        found = run_native(graph, arrays, n_rows, isa=isa, threads=threads)
        assert_close(found, expected, graph.outputs, scale=scale, what=isa)
    return expected


def assert_close(
    found: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    outputs: Sequence[Node],
    *,
    scale: float,
    what: str,
    roundings: float = ROUNDINGS,
) -> None:
    """Floats to some roundings of the largest value, everything else exactly; NaN where NaN is expected."""
    epsilon = coarsest(outputs)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        where = f"{what}, output {number}"
        assert one.shape == other.shape, where
        assert one.dtype == other.dtype, where
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=0.0, atol=roundings * epsilon * scale, err_msg=where)
        else:
            np.testing.assert_array_equal(one, other, err_msg=where)


def coarsest(outputs: Sequence[Node]) -> float:
    """The rounding of the coarsest type in the graph."""
    return max((float(np.finfo(n.dtype).eps) for n in topological_order(outputs) if n.dtype.kind == "f"), default=0.0)


def assert_same_bits(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Equal to the last bit, the sign of zero and NaN included."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
