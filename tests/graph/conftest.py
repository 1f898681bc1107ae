"""A second, tiny evaluator of graphs, so that these tests rest on nothing above ``graph``; and central differences."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.graph.forward_mode import tangents
from madaline.graph.node import CONSTANT, INPUT, ROW_COUNT, constant, is_float
from madaline.graph.reverse_mode import cotangents
from madaline.graph.shapes import resolve
from madaline.graph.trace import Graph, trace_tree
from madaline.graph.tree import flatten, unflatten


def _evaluate(graph, *leaves, n_rows=None):
    """Values of the outputs; each node's value must have the shape and type the node says."""
    values = {}
    for node in graph.nodes:
        if node.primitive is INPUT:
            value = np.asarray(leaves[node.params["index"]]).astype(node.dtype)
        elif node.primitive is CONSTANT:
            value = node.params["value"]
        elif node.primitive is ROW_COUNT:
            value = np.asarray(node.params["rows"].at(n_rows), dtype=node.dtype)
        else:
            params = {key: resolve(item, n_rows) for key, item in node.params.items()}
            with np.errstate(all="ignore"):
                value = np.asarray(node.primitive.value(*(values[id(item)] for item in node.inputs), **params))
        assert value.shape == resolve(node.shape, n_rows), f"{node!r} gave shape {value.shape}"
        assert value.dtype == node.dtype, f"{node!r} gave dtype {value.dtype}"
        values[id(node)] = value
    return [values[id(node)] for node in graph.outputs]


def _gradient_graph(graph, seeds):
    """The graph of d(sum of seed * output)/d(input) for every float input."""
    by = [node for node in graph.inputs if is_float(node.dtype)]
    outputs = [node for node in graph.outputs if is_float(node.dtype)]
    bars = cotangents(outputs, by, [constant(seed, node.dtype) for seed, node in zip(seeds, outputs, strict=True)])
    return Graph(graph.inputs, tuple(node._zeros() if bar is None else bar for node, bar in zip(by, bars, strict=True)))


def _tangent_graph(graph, directions):
    """The graph of the float outputs' tangents along directions of the float inputs."""
    by = [node for node in graph.inputs if is_float(node.dtype)]
    outputs = [node for node in graph.outputs if is_float(node.dtype)]
    dots = tangents(outputs, by, [constant(d, node.dtype) for d, node in zip(directions, by, strict=True)])
    return Graph(
        graph.inputs, tuple(node._zeros() if dot is None else dot for node, dot in zip(outputs, dots, strict=True))
    )


def _run(function, *args, rows=(), n_rows=None):
    """What ``function`` gives when it is traced at ``args`` and the graph is evaluated there."""
    graph, structure, _ = trace_tree(function, args, rows=rows)
    return unflatten(structure, _evaluate(graph, *flatten(args)[0], n_rows=n_rows))


def _gradients(function, *args, rows=(), n_rows=None):
    """The gradient of a scalar function by reverse mode, one array for each float argument."""
    graph, _, _ = trace_tree(function, args, rows=rows)
    return _evaluate(_gradient_graph(graph, [np.ones(())]), *flatten(args)[0], n_rows=n_rows)


def _directional_difference(function, args, directions, step=1e-6):
    """Central difference of the float leaves of ``function`` along directions of the float arguments."""
    moved = iter(directions)
    moves = [next(moved) if np.asarray(arg).dtype.kind == "f" else None for arg in args]

    def at(t):
        with np.errstate(all="ignore"):
            result = function(*(arg if move is None else arg + t * move for arg, move in zip(args, moves, strict=True)))
        return [np.asarray(leaf) for leaf in flatten(result)[0]]

    return [(high - low) / (2 * step) for high, low in zip(at(step), at(-step), strict=True) if high.dtype.kind == "f"]


@pytest.fixture
def rng():
    return np.random.default_rng(20240917)


@pytest.fixture
def evaluate():
    return _evaluate


@pytest.fixture
def gradient_graph():
    return _gradient_graph


@pytest.fixture
def tangent_graph():
    return _tangent_graph


@pytest.fixture
def run():
    return _run


@pytest.fixture
def gradients():
    return _gradients


@pytest.fixture
def directional_difference():
    return _directional_difference
