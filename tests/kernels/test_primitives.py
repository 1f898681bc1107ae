"""Every primitive, every sample, its derivatives: the native core against the reference, on every instruction set."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import madaline.graph.numpy_api.dispatch  # noqa: F401 - nodes need NumPy's functions
from agreement import ISAS, assert_executors_agree, needs_core, run_native, run_reference
from bound_primitive import sample_of
from madaline.graph.forward_mode import tangents
from madaline.graph.node import is_float, new_input
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph

pytestmark = needs_core

LEAVES = {"input", "constant", "row_count"}


def cases():
    rng = np.random.default_rng(7)
    for primitive in PRIMITIVES:
        for number, (args, params) in enumerate(primitive.samples(rng) if primitive.name not in LEAVES else ()):
            bound, given = sample_of(primitive, args)
            yield pytest.param(bound, given, params, id=f"{primitive.name}-{number}")


each_sample = pytest.mark.parametrize(("primitive", "args", "params"), list(cases()))
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


def graph_of(primitive, args, params):
    inputs = tuple(new_input(index, arg.shape, arg.dtype) for index, arg in enumerate(args))
    return Graph(inputs, (primitive(*inputs, **params),))


def in_dtype(args, params, dtype):
    args = [np.asarray(arg).astype(dtype) if np.asarray(arg).dtype.kind == "f" else np.asarray(arg) for arg in args]
    return args, params | {"to": dtype} if "to" in params else params


def differentiable(graph):
    return [node for node in graph.inputs if is_float(node.dtype)], is_float(graph.outputs[0].dtype)


@each_dtype
@each_sample
def test_the_value_agrees(primitive, args, params, dtype):
    args, params = in_dtype(args, params, dtype)
    assert_executors_agree(graph_of(primitive, args, params), args)


@each_dtype
@each_sample
def test_the_cotangents_agree(primitive, args, params, dtype, rng):
    args, params = in_dtype(args, params, dtype)
    graph = graph_of(primitive, args, params)
    by, has_derivative = differentiable(graph)
    if not by or not has_derivative:
        assert_executors_agree(graph, args)  # a gap stays one
        return
    (y,) = graph.outputs
    y_bar = new_input(len(args), y.shape, y.dtype)
    bars = cotangents([y], by, [y_bar])
    slopes = tuple(node._zeros() if bar is None else bar for node, bar in zip(by, bars, strict=True))
    assert_executors_agree(Graph((*graph.inputs, y_bar), slopes), [*args, rng.standard_normal(y.shape)])


@each_dtype
@each_sample
def test_the_tangent_agrees(primitive, args, params, dtype, rng):
    args, params = in_dtype(args, params, dtype)
    graph = graph_of(primitive, args, params)
    by, has_derivative = differentiable(graph)
    if not by or not has_derivative:
        assert_executors_agree(graph, args)
        return
    dots = [new_input(len(args) + i, node.shape, node.dtype) for i, node in enumerate(by)]
    (y_dot,) = tangents(graph.outputs, by, dots)
    forward = Graph((*graph.inputs, *dots), (graph.outputs[0]._zeros() if y_dot is None else y_dot,))
    assert_executors_agree(forward, [*args, *(rng.standard_normal(dot.shape) for dot in dots)])


# Ends, kinks and rounding cases of every function; denormals; halves for rint.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-30, 1e-42, 1e10, -1e10, np.inf, -np.inf, np.nan]
EITHER_ZERO = {"maximum", "minimum", "relu"}  # of two equal zeros NumPy takes either, as its own instruction set has it
ELEMENTWISE = [
    p for p in PRIMITIVES if isinstance(p, Elementwise) and p.types in ("float", "number", "compare") and not p.library
]
"Those with a kernel; a library function is the same in all executors."


@each_dtype
@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
def test_special_numbers_travel_as_in_numpy(primitive, dtype):
    """NaN, infinities, both zeros, denormals, ties and kinks, in every combination of the arguments."""
    params = {"to": dtype} if primitive.name == "cast" else {}
    count = len(primitive.domains)
    columns = np.array(list(itertools.product(SPECIAL, repeat=count))).T if count < 3 else special_triples()
    args = [column.astype(dtype) for column in columns]
    if primitive.name == "where":
        args[0] = args[0] > 0
    graph = graph_of(primitive, args, params)
    (expected,) = run_reference(graph, args)
    for isa in ISAS:
        (found,) = run_native(graph, args, isa=isa)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=isa)
        if found.dtype.kind != "f":
            np.testing.assert_array_equal(found, expected, err_msg=isa)
            continue
        tiny = np.finfo(dtype).tiny
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps, atol=tiny, err_msg=isa)
        if primitive.name not in EITHER_ZERO:
            zeros = (expected == 0) & (found == 0)
            signs = np.signbit(found[zeros]), np.signbit(expected[zeros])
            np.testing.assert_array_equal(*signs, err_msg=f"{isa}: sign of zero")


def special_triples():
    pairs = np.array(list(itertools.product(SPECIAL, repeat=2))).T
    return [np.where(np.arange(pairs.shape[1]) % 2, 1.0, -1.0), *pairs]


INTEGER_PRIMITIVES = ("add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "fmod")


@pytest.mark.parametrize("name", INTEGER_PRIMITIVES)
def test_integer_arithmetic_is_numpys(name):
    """Up to 2**62, beyond what a double can hold, and with divisors of either sign."""
    a = np.array([0, 1, -1, 7, -7, 2**53 + 1, -(2**53) - 1, 2**62, 12, -12])
    b = np.array([3, -3, 2, -2, 7, 1, -1, 2, 5, -5])
    left, right = (grid.ravel() for grid in np.meshgrid(a, b))
    graph = graph_of(PRIMITIVES[name], [left, right], {})
    assert_executors_agree(graph, [left, right])


@pytest.mark.parametrize("name", ["negative", "absolute", "sign", "square", "relu"])
def test_integer_functions_are_numpys(name):
    x = np.array([0, 1, -1, 7, -7, 2**31, -(2**31), 2**53 + 1, -(2**53) - 1])
    if name == "square":
        x = x[:-2]
    assert_executors_agree(graph_of(PRIMITIVES[name], [x], {}), [x])


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_large_integers_are_compared_exactly(name):
    a, b = np.array([2**53, 2**53 + 1, 2**53 + 1, -(2**60)]), np.array([2**53 + 1, 2**53 + 1, 2**53, -(2**60) - 1])
    assert_executors_agree(graph_of(PRIMITIVES[name], [a, b], {}), [a, b])


@pytest.mark.parametrize("to", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_casts_are_numpys(dtype, to):
    x = np.array([0.0, -0.0, 0.4, -0.6, 1.0, 1.5, -2.5, 3.0, 1e6, -(2.0**24) - 1]).astype(dtype)
    assert_executors_agree(graph_of(PRIMITIVES["cast"], [x], {"to": to}), [x])


@pytest.mark.parametrize("to", ["float32", "float64", "bool"])
def test_casts_of_special_floats_are_numpys(to):
    x = np.array([np.nan, np.inf, -np.inf, 1e300, 1e-300, 1e-42, 16777217.0])
    (expected,) = run_reference(graph_of(PRIMITIVES["cast"], [x], {"to": to}), [x])
    for isa in ISAS:
        (found,) = run_native(graph_of(PRIMITIVES["cast"], [x], {"to": to}), [x], isa=isa)
        np.testing.assert_array_equal(found, expected, err_msg=isa)
