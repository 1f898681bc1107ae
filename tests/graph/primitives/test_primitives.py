"""One set of samples, many questions: every primitive is asked all of them."""

from __future__ import annotations

import numpy as np
import pytest

from bound_primitive import sample_of
from madaline.graph.node import Node, new_input
from madaline.graph.numpy_api import dispatch as _  # noqa: F401 - nodes need NumPy's functions
from madaline.graph.primitive import PRIMITIVES, ZERO
from madaline.graph.trace import Graph

LEAVES = {"input", "constant", "row_count"}  # they have no rules: a graph starts with them


def cases():
    rng = np.random.default_rng(7)
    for primitive in PRIMITIVES:
        if primitive.name not in LEAVES:
            for number, (args, params) in enumerate(primitive.samples(rng)):
                bound, given = sample_of(primitive, args)
                yield pytest.param(bound, given, params, id=f"{primitive.name}-{number}")


def floats(args):
    return [position for position, arg in enumerate(args) if np.asarray(arg).dtype.kind == "f"]


def is_differentiable(primitive, args, params):
    return (
        bool(floats(args)) and value_of(primitive, args, params).dtype.kind == "f" and primitive.name != "stop_gradient"
    )


def traced(primitive, args, params):
    """A graph of this one primitive."""
    inputs = tuple(new_input(index, arg.shape, arg.dtype) for index, arg in enumerate(map(np.asarray, args)))
    return Graph(inputs, (primitive(*inputs, **params),))


def value_of(primitive, args, params):
    with np.errstate(all="ignore"):
        return np.asarray(primitive.value(*args, **params))


def random_dots(args, rng):
    """A tangent for each float argument, ZERO for the others."""
    return [rng.standard_normal(arg.shape) if np.asarray(arg).dtype.kind == "f" else ZERO for arg in args]


def inner(a, b):
    return 0.0 if a is None or b is ZERO else float(np.vdot(a, b))


each_sample = pytest.mark.parametrize(("primitive", "args", "params"), list(cases()))
each_differentiable_sample = pytest.mark.parametrize(
    ("primitive", "args", "params"), [case for case in cases() if is_differentiable(*case.values)]
)


def test_every_primitive_brings_samples():
    swept = {case.values[0].name for case in cases()}
    assert swept == set(PRIMITIVES.names()) - LEAVES


@each_sample
def test_the_shape_and_dtype_rules_foretell_the_value(primitive, args, params, evaluate):
    graph = traced(primitive, args, params)
    (value,) = evaluate(graph, *args)  # which compares every node's shape and dtype
    np.testing.assert_array_equal(value, value_of(primitive, args, params))


@each_differentiable_sample
def test_forward_mode_agrees_with_central_differences(primitive, args, params, rng, directional_difference):
    args = tuple(arg.astype(np.float64) if arg.dtype.kind == "f" else arg for arg in args)
    dots = random_dots(args, rng)
    y_dot = primitive.jvp(*args, value_of(primitive, args, params), *dots, **params)
    (difference,) = directional_difference(
        lambda *x: primitive.value(*x, **params), args, [dot for dot in dots if dot is not ZERO]
    )
    np.testing.assert_allclose(0.0 if y_dot is ZERO else y_dot, difference, rtol=1e-6, atol=1e-8)


@each_differentiable_sample
def test_forward_mode_takes_one_argument_at_a_time(primitive, args, params, rng):
    """The tangent is linear: its parts by single arguments, the others ZERO, add up to the whole."""
    y = value_of(primitive, args, params)
    dots = random_dots(args, rng)
    whole = primitive.jvp(*args, y, *dots, **params)
    parts = [
        primitive.jvp(*args, y, *(dot if position == only else ZERO for position, dot in enumerate(dots)), **params)
        for only in floats(args)
    ]
    total = sum((part for part in parts if part is not ZERO), start=np.zeros(y.shape))
    np.testing.assert_allclose(total, np.zeros(y.shape) if whole is ZERO else whole, rtol=1e-12, atol=1e-14)


@each_differentiable_sample
def test_reverse_mode_is_the_transpose_of_forward_mode(primitive, args, params, rng):
    """<y_bar, J x_dot> equals <J^T y_bar, x_dot>: each rule vouches for the other."""
    y = value_of(primitive, args, params)
    dots = random_dots(args, rng)
    y_bar = rng.standard_normal(y.shape)
    bars = primitive.vjp(*args, y, y_bar, **params)
    assert len(bars) == len(args)
    for arg, bar in zip(args, bars, strict=True):
        assert bar is None or bar.shape == arg.shape
    y_dot = primitive.jvp(*args, y, *dots, **params)
    forward = 0.0 if y_dot is ZERO else float(np.vdot(y_bar, np.broadcast_to(y_dot, y.shape)))
    reverse = sum(inner(bar, dot) for bar, dot in zip(bars, dots, strict=True))
    exact = all(arg.dtype != np.float32 for arg in args)
    assert forward == pytest.approx(reverse, rel=1e-12 if exact else 1e-6, abs=1e-13)


@each_differentiable_sample
def test_rules_give_the_same_on_nodes_as_on_arrays(
    primitive, args, params, rng, evaluate, gradient_graph, tangent_graph
):
    graph = traced(primitive, args, params)
    y = value_of(primitive, args, params)
    dots, y_bar = random_dots(args, rng), rng.standard_normal(y.shape)
    y_dot = primitive.jvp(*args, y, *dots, **params)
    (on_nodes,) = evaluate(tangent_graph(graph, [dot for dot in dots if dot is not ZERO]), *args)
    np.testing.assert_allclose(on_nodes, np.zeros(y.shape) if y_dot is ZERO else y_dot, rtol=1e-6, atol=1e-12)
    bars = primitive.vjp(*args, y, y_bar, **params)
    expected = [np.zeros(args[i].shape) if bars[i] is None else bars[i] for i in floats(args)]
    for on_nodes, bar in zip(evaluate(gradient_graph(graph, [y_bar]), *args), expected, strict=True):
        np.testing.assert_allclose(on_nodes, bar, rtol=1e-6, atol=1e-12)


@each_differentiable_sample
def test_the_gradient_can_be_differentiated_again(
    primitive, args, params, rng, evaluate, gradient_graph, tangent_graph
):
    """Forward mode over reverse mode, against central differences of the gradient."""
    args = tuple(arg.astype(np.float64) if arg.dtype.kind == "f" else arg for arg in args)
    graph = traced(primitive, args, params)
    y_bar = rng.standard_normal(graph.outputs[0].shape)
    gradient = gradient_graph(graph, [y_bar])
    directions = [rng.standard_normal(args[i].shape) for i in floats(args)]
    curvature = evaluate(tangent_graph(gradient, directions), *args)
    step = 1e-6

    def gradient_at(t):
        moves = iter(directions)
        return evaluate(gradient, *(arg + t * next(moves) if arg.dtype.kind == "f" else arg for arg in args))

    for exact, high, low in zip(curvature, gradient_at(step), gradient_at(-step), strict=True):
        np.testing.assert_allclose(exact, (high - low) / (2 * step), rtol=1e-5, atol=1e-7)


@each_differentiable_sample
def test_reverse_over_reverse_equals_forward_over_reverse(
    primitive, args, params, rng, evaluate, gradient_graph, tangent_graph
):
    """The Hessian is symmetric: v by H from either side."""
    graph = traced(primitive, args, params)
    gradient = gradient_graph(graph, [rng.standard_normal(graph.outputs[0].shape)])
    directions = [rng.standard_normal(args[i].shape) for i in floats(args)]
    forward = evaluate(tangent_graph(gradient, directions), *args)
    reverse = evaluate(gradient_graph(gradient, directions), *args)
    for one, other in zip(forward, reverse, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@each_sample
def test_float32_in_gives_float32_out(primitive, args, params, rng, evaluate, gradient_graph, tangent_graph):
    if "to" in params:
        return
    args = tuple(arg.astype(np.float32) if arg.dtype.kind == "f" else arg for arg in args)
    graph = traced(primitive, args, params)
    (value,) = evaluate(graph, *args)
    if graph.outputs[0].dtype.kind != "f":
        return
    assert value.dtype == np.float32
    y_bar = rng.standard_normal(value.shape)
    directions = [rng.standard_normal(args[i].shape) for i in floats(args)]
    for derivative in (gradient_graph(graph, [y_bar]), tangent_graph(graph, directions)):
        assert all(node.dtype == np.float32 for node in derivative.outputs)
        assert all(node.dtype != np.float64 for node in derivative.nodes), "float64 crept into a float32 derivative"
        evaluate(derivative, *args)


@each_sample
def test_a_node_goes_through_the_primitive_called_on_nodes(primitive, args, params):
    assert isinstance(traced(primitive, args, params).outputs[0], Node)
    with np.errstate(all="ignore"):
        assert not isinstance(primitive(*args, **params), Node)


@each_sample
def test_flops_are_counted_without_error(primitive, args, params):
    graph = traced(primitive, args, params)
    assert graph.flops() >= 0
    assert graph.bytes() >= 0
