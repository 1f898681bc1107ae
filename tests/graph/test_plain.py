"""Graphs become plain data and come back; what is no graph is refused before anything is run."""

from __future__ import annotations

import copy
import json
import math
import random

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, MadalineError
from madaline.graph.plain import MAX_NODES, graph_from_dict, graph_to_dict
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import resolve
from madaline.graph.trace import Graph
from madaline.kernels.execute import Executable


def formula(x, y):
    """Products, sums over both axes, picks, choices, sizes, sorted and shifted values."""
    z = np.where(x > 0.5, x, np.exp(x)) @ np.array([[1.5, math.inf, -0.0], [0.1, math.nan, 2.0]], dtype=x.dtype)
    top = np.take_along_axis(z, y[:, None] % 3, axis=1)
    centred = z - z.mean(axis=0)
    joined = np.concatenate([top, centred[:, ::-1], np.sort(x, axis=1)], axis=1)
    return md.functional.logsumexp(joined[:, 1:], axis=1), np.sum(joined) / x.shape[0], np.cumsum(x, axis=0).T


def traced(dtype=np.float32):
    return md.trace(formula, np.ones((4, 2), dtype=dtype), np.arange(4), rows=[0, 1])


def again(graph: Graph) -> Graph:
    return graph_from_dict(json.loads(json.dumps(graph_to_dict(graph), allow_nan=False)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_graph_comes_back_with_the_same_text_shapes_and_types(dtype):
    graph = traced(dtype)
    found = again(graph)
    assert str(found) == str(graph)
    assert graph_to_dict(found) == graph_to_dict(graph)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_its_values_are_the_same_bits_for_every_batch(dtype, rng):
    graph, found = traced(dtype), again(traced(dtype))
    for n_rows in (1, 5, 300):
        args = [rng.normal(size=(n_rows, 2)).astype(dtype), rng.integers(0, 3, size=n_rows)]
        for a, b in zip(Executable(graph)(args, n_rows), Executable(found)(args, n_rows), strict=True):
            assert a.size
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("primitive", [p for p in PRIMITIVES if p.name not in ("input", "constant", "row_count")])
def test_every_primitive_survives(primitive, rng):
    for args, params in primitive.samples(rng):
        graph = md.trace(lambda *args, params=params: primitive(*args, **params), *args)
        assert graph_to_dict(again(graph)) == graph_to_dict(graph)
        for a, b in zip(Executable(graph)(args), Executable(again(graph))(args), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_constants_keep_every_bit(dtype):
    if np.dtype(dtype).kind == "f":
        info = np.finfo(dtype)
        values = np.array([0.0, -0.0, math.nan, math.inf, -math.inf, info.max, info.tiny, info.smallest_subnormal, 0.1])
    else:
        values = np.array([0, 1, -(2**63), 2**63 - 1], dtype=np.int64)
    values = values.astype(dtype)
    graph = md.trace(lambda x: (x, values), 1.0)
    (found,) = [node.params["value"] for node in again(graph).nodes if "value" in node.params]
    assert found.dtype == values.dtype
    if np.dtype(dtype).kind == "f":
        np.testing.assert_array_equal(np.signbit(found), np.signbit(values))
    np.testing.assert_array_equal(found, values)


def sum_of(**changes):
    data = {
        "version": 1,
        "inputs": [{"name": "x", "type": "float64", "shape": ["n", 3]}],
        "nodes": [{"do": "sum", "of": [0], "with": {"axes": [1]}}],
        "outputs": [1],
    }
    return data | changes


def node(**entries):
    return sum_of(nodes=[entries])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "A graph must be a dict with the entries version"),
        (sum_of(version=2), "version 2; this madaline reads version 1"),
        (sum_of(more=1), "must be a dict with the entries"),
        (sum_of(nodes=[{}] * (MAX_NODES + 1)), f"at most {MAX_NODES}"),
        (sum_of(inputs=[{"name": "x", "type": "object", "shape": []}]), "type='object' is not known"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": [-1]}]), "sizes that are not negative"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": ["n-1"]}]), "sizes that are not negative"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": [2**30]}]), "elements; 134217728 are allowed"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": ["__import__('os')"]}]), "neither a number nor"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": ["2n", 3]}]), "may have n only as its first size"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": [3, "n"]}]), "may have n only as its first size"),
        (sum_of(inputs=[{"name": "x", "type": "float64", "shape": [3]}], nodes=[
            {"do": "row_count", "type": "float64", "rows": "n"}]), "Value 1 .* no input has rows"),
        (sum_of(outputs=[2]), "outputs must be a list of numbers"),
        (sum_of(outputs=[True]), "outputs must be a list of numbers"),
        (node(do="eval", of=[0]), "do='eval' is not a known primitive"),
        (node(do="input", of=[0]), "input cannot be a node"),
        (node(do="sum", of=[]), "sum cannot be a node that is made of 0 others"),
        (node(do="sum", of=[1]), "numbers of values that were made before"),
        (node(do="sum", of=[-1]), "numbers of values that were made before"),
        (node(do="sum", of=[0]), "Value 1 of the graph cannot be made: missing a required argument: 'axes'"),
        (node(do="sum", of=[0], **{"with": {"axes": [1], "where": [0]}}), "unexpected keyword argument 'where'"),
        (node(do="sum", of=[0], **{"with": {"axes": [2]}}), "are not axes of"),
        (node(do="sum", of=[0], **{"with": {"axes": [1, 0]}}), "in increasing order"),
        (node(do="sum", of=[0], **{"with": {"axes": 1}}), "cannot be made"),
        (node(do="add", of=[0]), "add takes 2 values and no parameters"),
        (node(do="tanh", of=[0], **{"with": {"axis": 0}}), "tanh takes 1 values and no parameters"),
        (node(do="cast", of=[0], **{"with": {"to": "complex128"}}), "type='complex128' is not known"),
        (node(do="matmul", of=[0, 0]), "columns, W has"),
        (node(do="transpose", of=[0], **{"with": {"axes": [0, 0]}}), "are not all axes of"),
        (node(do="reshape", of=[0], **{"with": {"shape": ["n", 4]}}), "cannot be reshaped"),
        (node(do="slice", of=[0], **{"with": {"starts": [0, 1], "shape": ["n", 3], "steps": [1, 1]}}), "do not lie"),
        (node(do="slice", of=[0], **{"with": {"starts": [0, -1], "shape": ["n", 1], "steps": [1, 1]}}), "do not lie"),
        (node(do="slice", of=[0], **{"with": {"starts": [0, 0], "shape": ["n", 3], "steps": [1, -1]}}), "do not lie"),
        (node(do="slice", of=[0], **{"with": {"starts": [0, 0], "shape": [5, 3], "steps": [1, 1]}}), "do not lie"),
        (node(do="place", of=[0], **{"with": {"shape": ["n", 3], "starts": [[0, 1]], "steps": [[1, 1]]}}), "not lie"),
        (node(do="take", of=[0, 0], **{"with": {"axis": 1}}), "Indices of type float64 cannot index"),
        (node(do="constant", type="int64", shape=[], values=[0.5]), "a value of a constant does not have type int64"),
        (node(do="constant", type="float64", shape=[2], values=[0.5]), "cannot reshape"),
        (node(do="constant", type="float64", shape=["n"], values=[0.5]), "cannot be made"),
        (node(do="constant", type="float64", shape=[], values=["1.0"]), "does not have type float64"),
    ],
)  # fmt: skip
def test_what_is_no_graph_is_refused_and_the_value_is_named(data, text):
    with pytest.raises(ConfigError, match=text):
        graph_from_dict(data)


def mutated(data, chance):
    data = copy.deepcopy(data)
    entry = chance.choice([*data["inputs"], *data["nodes"]])
    entry = chance.choice([part for part in (entry, entry.get("with"), entry.get("shape")) if part])
    keys = list(entry) if isinstance(entry, dict) else range(len(entry))
    key = chance.choice(list(keys))
    names = [primitive.name for primitive in PRIMITIVES]
    entry[key] = chance.choice([0, 1, 2, 3, 7, -1, "n", "2n", "n+1", [0], [1], [0, 1], [1, 0], chance.choice(names)])
    return data


def test_a_graph_changed_at_random_is_refused_or_gives_what_its_shapes_say():
    chance = random.Random(0)
    plain = graph_to_dict(traced())
    n_valid = 0
    for _ in range(600):
        try:
            graph = graph_from_dict(mutated(plain, chance))
            args = [np.ones(resolve(x.shape, 4), x.dtype) for x in graph.inputs]
            results = Executable(graph)(args, n_rows=4)
        except (MadalineError, IndexError):  # an index may be out of range when it runs
            continue
        n_valid += 1
        assert [y.shape for y in results] == [resolve(node.shape, 4) for node in graph.outputs]
    assert n_valid > 10
