"""Both modes of differentiation on whole graphs."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.graph.forward_mode import tangents
from madaline.graph.node import constant
from madaline.graph.primitives.elementwise import stop_gradient
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, trace


def bars_of(graph, *, seeds=None):
    seeds = seeds or [constant(np.ones(node.shape), node.dtype) for node in graph.outputs]
    return cotangents(graph.outputs, graph.inputs, seeds)


def test_what_nothing_depends_on_has_no_derivative():
    graph = trace(lambda x, y: np.exp(x), 1.0, 2.0)
    first, second = bars_of(graph)
    assert first is not None
    assert second is None
    assert tangents(graph.outputs, graph.inputs[1:], [constant(1.0)]) == [None]


@pytest.mark.parametrize(
    "function",
    [
        np.argmax,
        lambda x: x > 0.0,
        lambda x: x.astype(int),
        stop_gradient,
        lambda x: np.where(x > 0, 1.0, 0.0),
        lambda x: np.floor(stop_gradient(x)),
        np.zeros_like,
    ],
)
def test_steps_and_stopped_values_carry_no_derivative(function):
    graph = trace(function, np.ones(3))
    assert bars_of(graph) == [None]
    assert tangents(graph.outputs, graph.inputs, [constant(np.ones(3))]) == [None]


def test_an_input_that_is_an_output_has_derivative_one(evaluate):
    graph = trace(lambda x: (x, 3.0 * x), 2.0)
    (bar,) = bars_of(graph)
    assert evaluate(Graph(graph.inputs, (bar,)), 2.0)[0] == 4.0
    dots = tangents(graph.outputs, graph.inputs, [constant(1.0)])
    assert [float(value) for value in evaluate(Graph(graph.inputs, tuple(dots)), 2.0)] == [1.0, 3.0]


def test_an_output_given_twice_counts_twice(evaluate):
    graph = trace(lambda x: [np.sin(x)] * 2, 0.5)
    assert graph.outputs[0] is graph.outputs[1]
    (bar,) = bars_of(graph)
    assert evaluate(Graph(graph.inputs, (bar,)), 0.5)[0] == pytest.approx(2 * np.cos(0.5))


def test_derivatives_by_an_intermediate_value(evaluate):
    """The lectures' adjoint of any node v_i, not of inputs alone."""
    kept = []

    def function(x):
        kept.append(np.sin(x))
        return kept[0] ** 3 + x

    graph = trace(function, 0.7)
    middle, whole = cotangents(graph.outputs, [kept[0], graph.inputs[0]], [constant(1.0)])
    by_middle, by_input = evaluate(Graph(graph.inputs, (middle, whole)), 0.7)
    assert by_middle == pytest.approx(3 * np.sin(0.7) ** 2)
    assert by_input == pytest.approx(3 * np.sin(0.7) ** 2 * np.cos(0.7) + 1)


@pytest.mark.parametrize("order", range(1, 7))
def test_derivatives_of_any_order(order, evaluate):
    """Reverse mode over itself: the derivatives of exp(2x) are powers of 2 times it."""
    graph = trace(lambda x: np.exp(2.0 * x), 0.3)
    for _ in range(order):
        graph = Graph(graph.inputs, tuple(bars_of(graph)))
    assert evaluate(graph, 0.3)[0] == pytest.approx(2.0**order * np.exp(0.6), rel=1e-12)


def test_mixed_modes_commute(evaluate, rng):
    x, v = rng.normal(size=4), rng.normal(size=4)
    graph = trace(lambda x: np.sum(np.tanh(x) * np.exp(x[::-1]) / (1.0 + x**2)), x)
    gradient = Graph(graph.inputs, tuple(bars_of(graph)))
    forward_over_reverse = Graph(graph.inputs, tuple(tangents(gradient.outputs, graph.inputs, [constant(v)])))
    slope = Graph(graph.inputs, tuple(tangents(graph.outputs, graph.inputs, [constant(v)])))
    reverse_over_forward = Graph(graph.inputs, tuple(bars_of(slope)))
    np.testing.assert_allclose(evaluate(forward_over_reverse, x)[0], evaluate(reverse_over_forward, x)[0], rtol=1e-12)


def test_speelpennings_product_in_both_modes(evaluate, rng):
    """The gradient of a product is the product of the others (lecture row A7)."""
    x = rng.uniform(0.5, 1.5, size=12)

    def product(x):
        result = 1.0
        for item in x:
            result = result * item
        return result

    graph = trace(product, x)
    (bar,) = bars_of(graph)
    closed = np.prod(x) / x
    np.testing.assert_allclose(evaluate(Graph(graph.inputs, (bar,)), x)[0], closed, rtol=1e-13)
    for i, direction in enumerate(np.eye(12)):
        (dot,) = tangents(graph.outputs, graph.inputs, [constant(direction)])
        assert evaluate(Graph(graph.inputs, (dot,)), x)[0] == pytest.approx(closed[i], rel=1e-13)


def test_the_jacobian_of_softmax_is_the_lectures_formula(evaluate, rng):
    """dy_i/dx_j = y_i (delta_ij - y_j)."""
    x = rng.normal(size=5)
    graph = trace(lambda x: np.exp(x) / np.sum(np.exp(x)), x)
    (y,) = evaluate(graph, x)
    rows = [cotangents(graph.outputs, graph.inputs, [constant(row)])[0] for row in np.eye(5)]
    np.testing.assert_allclose(
        np.stack(evaluate(Graph(graph.inputs, tuple(rows)), x)), np.diag(y) - np.outer(y, y), atol=1e-15
    )


def test_the_hand_derived_gradients_of_one_hidden_layer(evaluate, rng):
    """Half the mean square error of y = tanh(x W1 + b1) W2 + b2, layer by layer (lecture rows C5, A8)."""
    x, t = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    params = [rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 2)), rng.normal(size=2)]

    def loss(W1, b1, W2, b2):
        return 0.5 * np.mean(np.sum((np.tanh(x @ W1 + b1) @ W2 + b2 - t) ** 2, axis=1))

    graph = trace(loss, *params)
    found = evaluate(Graph(graph.inputs, tuple(bars_of(graph))), *params)
    W1, b1, W2, b2 = params
    h = np.tanh(x @ W1 + b1)
    delta2 = (h @ W2 + b2 - t) / len(x)
    delta1 = (delta2 @ W2.T) * (1 - h * h)
    for ours, by_hand in zip(found, [x.T @ delta1, delta1.sum(0), h.T @ delta2, delta2.sum(0)], strict=True):
        np.testing.assert_allclose(ours, by_hand, rtol=1e-12)


def test_slices_come_back_into_one_array():
    """Twenty slices of one vector are placed together, not added up as twenty arrays."""
    graph = trace(lambda x: sum(x[i] * x[i + 1] for i in range(19)), np.ones(20))
    counts = Graph(graph.inputs, tuple(bars_of(graph))).counts()
    assert counts["place"] == 1
