"""From a function to its graph: names, nesting, constants, what is kept and what is not."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import madaline as md
from madaline.errors import ShapeError
from madaline.graph.node import CONSTANT
from madaline.graph.trace import trace, trace_tree
from madaline.graph.tree import describe, flatten, paths, tree_map, unflatten


class Layer(NamedTuple):
    W: object
    b: object


TREE = {"a": 1.0, "layers": [Layer(2.0, (3.0,)), Layer(4.0, ())], "c": 5.0}


def test_a_tree_is_taken_apart_and_put_together():
    leaves, structure = flatten(TREE)
    assert leaves == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert unflatten(structure, leaves) == TREE
    assert isinstance(unflatten(structure, leaves)["layers"][0], Layer)
    assert hash(structure) == hash(flatten(TREE)[1])


def test_paths_say_how_to_reach_each_leaf():
    assert paths(flatten(TREE)[1]) == ["['a']", "['layers'][0][0]", "['layers'][0][1][0]", "['layers'][1][0]", "['c']"]


def test_trees_of_other_structure_are_refused_with_both_shown():
    with pytest.raises(ShapeError, match=r"\[\*\] differs from that of \(\*, \*\)"):
        tree_map(lambda a, b: a, (1.0, 2.0), [1.0])
    assert describe(flatten({"W": (1.0,), "b": [2.0]})[1]) == "{'W': (*,), 'b': [*]}"
    assert tree_map(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]}) == {"x": [11, 22]}


def test_inputs_are_named_after_the_arguments():
    def function(x, params, *rest):
        return x * params["W"][0] + rest[0]

    graph = trace(function, 1.0, {"W": [2.0], "b": 3.0}, 4.0)
    assert [node.params["name"] for node in graph.inputs] == ["x", "params['W'][0]", "params['b']", "x3"]


def test_a_method_and_a_gradient_name_their_inputs_too():
    class Net:
        def loss(self, w):
            return np.sum(w**2)

    for function in (Net().loss, md.grad(Net().loss), md.grad(lambda w: w**2)):
        assert [node.params["name"] for node in trace(function, 1.0).inputs] == ["w"]


def test_a_graph_that_was_pickled_or_copied_is_the_same_graph():
    graph = trace(lambda x: np.tanh(x) * np.ones(2), 1.0)
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert str(other) == str(graph)
        assert [node.primitive for node in other.nodes] == [node.primitive for node in graph.nodes]


def test_a_function_without_code_gets_numbered_names():
    assert [node.params["name"] for node in trace(np.add, 1.0, 2.0).inputs] == ["x1", "x2"]


def test_the_result_keeps_its_nesting():
    graph, structure, leaves = trace_tree(lambda x: {"y": [x, 2.0 * x], "n": 3}, (1.0,))
    assert len(graph.outputs) == 3
    assert unflatten(structure, ["a", "b", "c"]) == {"y": ["a", "b"], "n": "c"}
    assert leaves[2] == 3


def test_inputs_come_first_even_if_unused_and_each_node_after_its_arguments():
    graph = trace(lambda a, b, c: np.exp(c) * b + np.exp(c), 1.0, 2.0, 3.0)
    nodes = graph.nodes
    assert tuple(nodes[:3]) == graph.inputs
    place = {id(node): position for position, node in enumerate(nodes)}
    assert len(place) == len(nodes)
    for node in nodes:
        assert all(place[id(item)] < place[id(node)] for item in node.inputs)


def test_only_what_the_result_needs_is_in_the_graph():
    def function(x):
        np.exp(x)
        return x + 1.0

    assert "exp" not in trace(function, 1.0).counts()


def test_numpy_on_constants_alone_is_done_while_tracing():
    graph = trace(lambda x: x * np.linalg.inv(np.eye(2)).sum() * np.random.default_rng(0).normal(), 1.0)
    assert graph.counts() == {"multiply": 2, "input": 1}


def test_scalar_constants_are_folded():
    graph = trace(lambda x: x * (np.sqrt(x.dtype.type(4.0)) + 1), 1.0)
    (factor,) = [node for node in graph.nodes if node.primitive is CONSTANT]
    assert factor.params["value"] == 3.0


def test_shapes_steer_python_code():
    def function(x):
        return np.exp(x) if x.ndim == 1 and x.shape[0] > 2 and len(x) == x.size else x

    assert "exp" in trace(function, np.ones(3)).counts()
    assert "exp" not in trace(function, np.ones(2)).counts()


def test_float16_is_computed_in_float32_and_integers_in_int64():
    graph = trace(lambda a, b, c, d: (a, b, c, d), np.float16(1), np.int8(1), np.uint8(1), np.array(True))
    assert [node.dtype.name for node in graph.outputs] == ["float32", "int64", "int64", "bool"]


def test_the_other_byte_order_is_understood():
    assert trace(lambda x: x, np.ones(2, dtype=">f8")).outputs[0].dtype == np.dtype("=f8")
