"""Chains of thousands of nodes: no recursion anywhere, and work in proportion to the length."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from madaline.graph.draw import svg
from madaline.graph.forward_mode import tangents
from madaline.graph.node import constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, trace
from steps import steps

LENGTH = 10_000
"Ten times as deep as Python lets functions call each other; longer chains show nothing more, and take longer."


def chain(x):
    for _ in range(LENGTH):
        x = x * 0.99999
    return x


@pytest.fixture(scope="module")
def graph():
    return trace(chain, 1.0)


def test_a_long_chain_is_traced_and_evaluated(graph, evaluate):
    assert len(graph.nodes) == LENGTH + 2, "each product, the input, and the number, which is one node"
    assert evaluate(graph, 1.0)[0] == pytest.approx(0.99999**LENGTH, rel=1e-9)


def test_a_long_chain_is_differentiated_in_reverse_mode(graph, evaluate):
    (bar,) = cotangents(graph.outputs, graph.inputs, [constant(1.0)])
    assert evaluate(Graph(graph.inputs, (bar,)), 1.0)[0] == pytest.approx(0.99999**LENGTH, rel=1e-9)


def test_a_long_chain_is_differentiated_in_forward_mode(graph, evaluate):
    (dot,) = tangents(graph.outputs, graph.inputs, [constant(1.0)])
    assert evaluate(Graph(graph.inputs, (dot,)), 1.0)[0] == pytest.approx(0.99999**LENGTH, rel=1e-9)


def test_a_long_chain_is_printed_counted_and_drawn(graph):
    lines = str(graph).splitlines()
    assert len(lines) == LENGTH + 2
    assert lines[-2] == f"v{LENGTH + 1} = multiply(v{LENGTH}, 0.99999) : float64 ()"
    assert graph.counts() == {"multiply": LENGTH, "input": 1}
    assert graph.flops() == LENGTH
    assert f"{LENGTH + 1 - 300} nodes in the middle left out" in svg(graph)


def test_work_is_in_proportion_to_the_length_of_a_chain():
    """Four times the nodes are four times the work; it would be sixteen times if each node looked at all others."""

    def work(length):
        def chain(x):
            for _ in range(length):
                x = x * 0.99999
            return x

        def every_use():
            graph = trace(chain, 1.0)
            cotangents(graph.outputs, graph.inputs, [constant(1.0)])
            tangents(graph.outputs, graph.inputs, [constant(1.0)])
            str(graph)
            graph.counts()
            graph.flops()
            svg(graph)

        return steps(every_use)

    assert work(2_000) < 5 * work(500)


def test_a_long_chain_is_freed_without_recursion():
    """In a thread with a small stack, which recursion in C would overflow: 26 bytes for each level are enough."""
    freed = []

    def free():
        last = trace(chain, 1.0).outputs[0]
        gone = weakref.ref(last)
        del last
        gc.collect()
        freed.append(gone() is None)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=free)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert freed == [True]


def test_a_value_used_many_times_sums_its_cotangents_in_linear_size(evaluate):
    """The derivative of a sum over 2,000 slices has about as many nodes as the sum."""

    def total(x):
        result = 0.0
        for i in range(2_000):
            result = result + x[i] * x[i]
        return result

    graph = trace(total, np.ones(2_000))
    (bar,) = cotangents(graph.outputs, graph.inputs, [constant(1.0)])
    derivative = Graph(graph.inputs, (bar,))
    assert len(derivative.nodes) < 10 * len(graph.nodes)
    assert derivative.bytes() < 20 * graph.bytes()
    np.testing.assert_array_equal(evaluate(derivative, np.arange(2_000.0))[0], 2 * np.arange(2_000.0))


def test_a_wide_fan_is_differentiated_without_recursion(evaluate):
    graph = trace(lambda x: sum(np.sin(x * float(k)) for k in range(3_000)), 0.1)
    (bar,) = cotangents(graph.outputs, graph.inputs, [constant(1.0)])
    expected = sum(k * np.cos(0.1 * k) for k in range(3_000))
    assert evaluate(Graph(graph.inputs, (bar,)), 0.1)[0] == pytest.approx(expected, rel=1e-9)
