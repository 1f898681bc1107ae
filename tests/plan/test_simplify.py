"""Simplification: fewer nodes, the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import madaline as md
from agreement import assert_same_bits
from graph_values import evaluate
from madaline.graph.node import constant, new_input, topological_order
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.trace import Graph, trace
from madaline.plan.simplify import simplify
from random_graphs import cases

# Everything that could tell two formulas apart.
NUMBERS = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-310, 1e308])


def values(graph, *arguments):
    """The outputs, node by node, with nothing simplified on the way."""
    found = dict(zip(map(id, graph.inputs), arguments, strict=True))
    with np.errstate(all="ignore"):
        for node in topological_order(graph.outputs):
            if id(node) not in found:
                found[id(node)] = np.asarray(evaluate(node, [found[id(item)] for item in node.inputs], 0))
    return [found[id(node)] for node in graph.outputs]


def names(graph):
    return [node.primitive.name for node in topological_order(graph.outputs)]


def operations(graph):
    return [name for name in names(graph) if name not in ("input", "constant")]


GONE = {
    "x * 1": lambda x: x * 1.0,
    "1 * x": lambda x: 1.0 * x,
    "x / 1": lambda x: x / 1.0,
    "x - 0": lambda x: x - 0.0,
    "-(-x)": lambda x: np.negative(-x),
    "x.T.T": lambda x: x.T.T,
    "reshaped and back": lambda x: x.reshape(3, 3).reshape(9),
    "broadcast to its own shape": lambda x: np.broadcast_to(x, (9,)),
    "cast to its own type": lambda x: x.astype(np.float64),
    "stop_gradient": lambda x: md.functional.stop_gradient(x) * 1.0,
    "where(True)": lambda x: np.where(True, x, 2.0 * x),
    "where(False)": lambda x: np.where(False, 2.0 * x, x),
}
KEPT = {
    "x + 0, which makes -0 a 0": lambda x: x + 0.0,
    "0 - x, which is not -x for 0": lambda x: 0.0 - x,
    "x * 0, which is NaN for infinity": lambda x: x * 0.0,
    "x - x, which is NaN for infinity": lambda x: x - x,
    "x / x, which is NaN for 0": lambda x: x / x,
    "x * -1, whose NaN has another sign than that of -x": lambda x: x * -1.0,
    "1 / (1 / x), which rounds": lambda x: 1.0 / (1.0 / x),
    "(x + 1) - 1, which rounds": lambda x: (x + 1.0) - 1.0,
    "x through float32": lambda x: x.astype(np.float32).astype(np.float64),
}


@pytest.mark.parametrize("f", GONE.values(), ids=GONE.keys())
def test_what_changes_nothing_goes(f):
    graph = trace(f, NUMBERS)
    simple = simplify(graph)
    assert operations(simple) == []
    assert_same_bits(values(simple, NUMBERS), values(graph, NUMBERS))


@pytest.mark.parametrize("f", KEPT.values(), ids=KEPT.keys())
def test_what_changes_a_bit_stays(f):
    graph = trace(f, NUMBERS)
    simple = simplify(graph)
    assert operations(simple) != []
    assert_same_bits(values(simple, NUMBERS), values(graph, NUMBERS))


@settings(max_examples=200)
@given(cases())
def test_no_result_changes_by_a_single_bit(case):
    simple = simplify(case.graph)
    assert_same_bits(values(simple, *case.arguments()), values(case.graph, *case.arguments()))
    assert len(topological_order(simple.outputs)) <= len(topological_order(case.graph.outputs))
    assert [node.shape for node in simple.outputs] == [node.shape for node in case.graph.outputs]
    assert [node.dtype for node in simple.outputs] == [node.dtype for node in case.graph.outputs]


@settings(max_examples=100)
@given(cases(batch=True))
def test_what_is_simple_stays_as_it_is(case):
    once = simplify(case.graph)
    twice = simplify(once)
    assert names(twice) == names(once)
    assert all(a is b for a, b in zip(once.outputs, twice.outputs, strict=True))


def test_a_value_computed_twice_is_computed_once():
    graph = simplify(trace(lambda x: np.exp(x * 2.0) + np.exp(x * 2.0), NUMBERS))
    assert sorted(operations(graph)) == ["add", "exp", "multiply"]


def test_equal_parameters_make_equal_nodes_and_others_do_not():
    x = np.ones((4, 4))
    same = simplify(trace(lambda x: x.sum(axis=0) + x.sum(axis=0), x))
    other = simplify(trace(lambda x: x.sum(axis=0) + x.sum(axis=1), x))
    assert operations(same).count("sum") == 1
    assert operations(other).count("sum") == 2


@pytest.mark.parametrize(("a", "b"), [(0.0, -0.0), (1.0, 1), (np.float32(1), np.float64(1))])
def test_constants_that_differ_in_sign_or_type_are_not_one(a, b):
    x = new_input(0, (3,), np.float64)
    first, second = (PRIMITIVES["copysign"](x, constant(value).astype(np.float64)) for value in (a, b))
    assert (simplify(Graph((x,), (first, second))).outputs[0] is simplify(Graph((x,), (first, second))).outputs[1]) == (
        np.float64(a).tobytes() == np.float64(b).tobytes()
    )


def test_subtracting_negative_zero_stays():
    """-0 - (-0) is 0, so it is not the argument."""
    assert operations(simplify(trace(lambda x: x - 0.0, NUMBERS))) == []
    assert operations(simplify(trace(lambda x: x - (-0.0), NUMBERS))) == ["subtract"]


def test_nan_constants_are_one():
    graph = simplify(trace(lambda x: (x + np.nan, x + np.nan), NUMBERS))
    assert graph.outputs[0] is graph.outputs[1]


def test_an_array_used_twice_is_one_constant_but_equal_arrays_are_not_compared():
    table = np.arange(9.0)
    graph = simplify(trace(lambda x: x * table + x / table, NUMBERS))
    assert names(graph).count("constant") == 1


def test_dead_nodes_go():
    def f(x):
        _ = np.exp(x).sum()
        return x * 2.0

    assert operations(simplify(trace(f, NUMBERS))) == ["multiply"]


def test_arithmetic_on_numbers_is_done_while_planning():
    graph = simplify(trace(lambda x: x * (np.stack([2.0 * np.ones(()), 3.0])[0] + 0.0), NUMBERS))
    assert operations(graph) == ["multiply"]


def test_broadcasts_before_elementwise_operations_go():
    """They broadcast by themselves."""
    graph = trace(lambda x, b: x + np.broadcast_to(b, (5, 3)), np.ones((5, 3)), np.ones(3))
    assert operations(graph) == ["broadcast_to", "add"]
    assert operations(simplify(graph)) == ["add"]


def test_a_broadcast_that_gives_the_result_its_shape_stays():
    graph = simplify(trace(lambda b: np.exp(np.broadcast_to(b, (5, 3))), np.ones(3)))
    assert operations(graph) == ["broadcast_to", "exp"]
    assert graph.outputs[0].shape == (5, 3)


def test_chains_of_reshapes_transposes_and_broadcasts_become_one():
    x = np.ones((2, 3, 4))
    assert operations(simplify(trace(lambda x: x.reshape(6, 4).reshape(24), x))) == ["reshape"]
    assert operations(simplify(trace(lambda x: x.transpose(1, 2, 0).transpose(1, 2, 0), x))) == ["transpose"]
    twice = trace(lambda x: np.broadcast_to(np.broadcast_to(x, (5, 2, 3, 4)), (6, 5, 2, 3, 4)), x)
    assert operations(simplify(twice)) == ["broadcast_to"]


def test_the_inputs_stay_even_if_nothing_needs_them():
    graph = trace(lambda x, y: x * 2.0, NUMBERS, NUMBERS)
    assert simplify(graph).inputs == graph.inputs


def test_the_gradient_of_a_sum_of_squares_is_one_multiplication():
    f = md.grad(lambda x: np.sum(x * x))
    graph = simplify(trace(f, NUMBERS))
    assert len(operations(graph)) <= 3, operations(graph)


def test_what_is_repeated_is_doubled_before():
    b = np.array([1.0, -0.0, np.nan, np.inf, 1e308])

    def twice(b, x):
        repeated = np.broadcast_to(b.reshape(1, 5), (4, 5))
        return (repeated + repeated) * x

    x = np.random.default_rng(0).normal(size=(4, 5))
    graph = trace(twice, b, x)
    small = simplify(graph)
    assert [node.shape for node in topological_order(small.outputs) if node.primitive.name == "add"] == [(5,)]
    assert_same_bits(values(small, b, x)[0], values(graph, b, x)[0])


def test_equal_formulas_that_become_smaller_are_still_one():
    def f(b):
        left, right = (np.broadcast_to(b, (3, 2)) for _ in range(2))
        return (left + left).T @ np.ones((3, 1)) + (right + right).T @ np.ones((3, 1))

    assert operations(simplify(trace(f, np.ones(2)))).count("add") == 2


def test_the_slope_of_squares_summed_down_the_rows_is_one_pass_over_them():
    f = md.grad(lambda x, w: np.sum(np.sum(x * x, axis=0) * w))
    graph = simplify(trace(f, np.ones((4, 3)), np.ones(3)))
    large = [node.primitive.name for node in topological_order(graph.outputs) if node.shape == (4, 3)]
    assert [name for name in large if name not in ("input", "broadcast_to")] == ["multiply"]
