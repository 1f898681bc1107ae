"""The graph in words and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.graph.node import constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, trace


def test_assignments_read_like_the_lectures():
    graph = trace(lambda x1, x2: np.log(x1) + x1 * x2 - np.sin(x2), 2.0, 5.0)
    assert str(graph).splitlines() == [
        "v1 = input x1 : float64 ()",
        "v2 = input x2 : float64 ()",
        "v3 = log(v1) : float64 ()",
        "v4 = multiply(v1, v2) : float64 ()",
        "v5 = add(v3, v4) : float64 ()",
        "v6 = sin(v2) : float64 ()",
        "v7 = subtract(v5, v6) : float64 ()",
        "return v7",
    ]


def test_parameters_constants_and_rows_are_shown():
    graph = trace(
        lambda x, W: np.mean(np.maximum(x @ W["a"], 0) * np.array([1.0, 0.5]), axis=0),
        np.ones((4, 3)),
        {"a": np.ones((3, 2), np.float32)},
        rows=[0],
    )
    assert str(graph).splitlines() == [
        "v1 = input x : float64 (n, 3)",
        "v2 = input W['a'] : float32 (3, 2)",
        "v3 = cast(v2) : float64 (3, 2)",
        "v4 = matmul(v1, v3) : float64 (n, 2)",
        "v5 = maximum(v4, 0) : float64 (n, 2)",
        "v6 = constant [1, 0.5] : float64 (2,)",
        "v7 = multiply(v5, v6) : float64 (n, 2)",
        "v8 = sum(v7, axes=(0,)) : float64 (2,)",
        "v9 = divide(v8, n) : float64 (2,)",
        "return v9",
    ]


def test_several_outputs_are_returned_in_order_and_constants_in_place():
    assert str(trace(lambda x: (x, 2.0, -x, True), 1.0)).splitlines()[-1] == "return v1, 2, v2, True"


def test_long_arguments_are_abbreviated():
    text = str(trace(lambda x: np.stack([x[i] for i in range(100)]), np.ones(100)))
    longest = max(text.splitlines(), key=len)
    assert len(longest) < 200
    assert "... 94 more" in longest


def test_large_constants_are_not_spelled_out():
    assert "v2 = constant : float64 (50,)" in str(trace(lambda x: x + np.arange(50.0), np.ones(50)))


def test_kinds_are_counted_most_frequent_first():
    graph = trace(lambda x: np.exp(x) * np.exp(2.0 * x) * x, 1.0)
    assert list(graph.counts().items()) == [("multiply", 3), ("exp", 2), ("input", 1)]


@pytest.mark.parametrize(("d", "expected"), [(2, 1), (5, 4), (20, 19)])
def test_flops_of_speelpennings_product(d, expected):
    graph = trace(product, np.ones(d))
    assert graph.flops() == expected


def product(x):
    result = x[0]
    for i in range(1, len(x)):
        result = result * x[i]
    return result


@pytest.mark.parametrize("d", [2, 5, 20, 100])
def test_reverse_mode_of_speelpennings_product_costs_at_most_four_times_as_much(d):
    """The cheap gradient principle: value and whole gradient together (lecture row A6)."""
    graph = trace(product, np.ones(d))
    bars = cotangents(graph.outputs, graph.inputs, [constant(1.0, np.float64)])
    both = Graph(graph.inputs, (*graph.outputs, *bars))
    assert both.flops() <= 4 * graph.flops() + 1


def test_flops_of_a_product_grow_with_the_batch():
    graph = trace(lambda x, W: x @ W, np.ones((1, 3)), np.ones((3, 5)), rows=[0])
    assert graph.flops(n_rows=1) == 2 * 3 * 5
    assert graph.flops(n_rows=10) == 10 * 2 * 3 * 5


def test_bytes_count_every_value_once():
    graph = trace(lambda x: np.exp(x) + 1.0, np.ones((3, 4), dtype=np.float32))
    assert graph.bytes() == 3 * 12 * 4
    batch = trace(lambda x: np.exp(x) + 1.0, np.ones((3, 4)), rows=[0])
    assert batch.bytes(n_rows=7) == 3 * 7 * 4 * 8
