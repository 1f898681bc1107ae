"""Forward mode and reverse mode, by the lecture's recursions and by the package. Lecture rows A6 and A7."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import madaline as md
from madaline.plan.simplify import simplify


def f(w):
    """Eight nodes over two inputs, some used twice, two outputs."""
    a, b = w[0], w[1]
    c = np.log(a) + a * b
    return np.stack([c - np.sin(b), c * np.exp(-a)])


def evaluated(graph, w):
    v = {}
    for node in graph.nodes:
        if node.primitive.name == "input":
            v[id(node)] = w
        elif node.primitive.name == "constant":
            v[id(node)] = np.asarray(node.params["value"])
        else:
            v[id(node)] = np.asarray(node.primitive.value(*(v[id(i)] for i in node.inputs), **node.params))
    return v


def local_gradient(node, position, v):
    """The partial derivatives of f_i by v_j, d_j x d_i as in the lecture, from differences of the value alone."""
    args = [v[id(item)] for item in node.inputs]
    x, columns, step = args[position], [], 1e-6
    for element in range(x.size):
        moved = []
        for sign in (1.0, -1.0):
            shifted = np.array(x, dtype=float)
            shifted.reshape(-1)[element] += sign * step
            given = [*args[:position], shifted, *args[position + 1 :]]
            moved.append(np.asarray(node.primitive.value(*given, **node.params)).reshape(-1))
        columns.append((moved[0] - moved[1]) / (2 * step))
    return np.stack(columns) if columns else np.zeros((0, v[id(node)].size))


def forward_by_hand(graph, v):
    """U_i = sum over j in I_i of U_j grad_j f_i, from the inputs to the outputs."""
    (w,) = graph.inputs
    U = {id(w): np.eye(v[id(w)].size)}
    for node in graph.nodes:
        if id(node) not in U:
            U[id(node)] = np.zeros((v[id(w)].size, v[id(node)].size))
            for position, item in enumerate(node.inputs):
                U[id(node)] = U[id(node)] + U[id(item)] @ local_gradient(node, position, v)
    return U[id(graph.outputs[0])]


def reverse_by_hand(graph, v):
    """V_i = sum over j in O_i of grad_i f_j V_j, from the outputs to the inputs."""
    (p,) = graph.outputs
    m = v[id(p)].size
    V = {id(node): np.zeros((v[id(node)].size, m)) for node in graph.nodes}
    V[id(p)] = np.eye(m)
    for node in reversed(graph.nodes):
        for position, item in enumerate(node.inputs):
            V[id(item)] = V[id(item)] + local_gradient(node, position, v) @ V[id(node)]
    return V[id(graph.inputs[0])]


@pytest.mark.parametrize("by_hand", [forward_by_hand, reverse_by_hand])
def test_both_recursions_give_what_both_modes_give(by_hand):  # A6
    w = np.array([2.0, 5.0])
    graph = md.trace(f, w)
    expected = by_hand(graph, evaluated(graph, w)).T  # the lecture's d x m is our Jacobian transposed
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(md.jacobian(f, mode=mode)(w), expected, rtol=1e-7, atol=1e-8)


def test_one_forward_pass_is_one_column_and_one_reverse_pass_one_row():  # A6
    w = np.array([2.0, 5.0])
    J = md.jacobian(f)(w)
    for j, e in enumerate(np.eye(2)):
        np.testing.assert_allclose(md.jvp(f, (w,), (e,))[1], J[:, j], rtol=1e-13)
    _, pullback = md.vjp(f, w)
    for i, e in enumerate(np.eye(2)):
        np.testing.assert_allclose(pullback(e)[0], J[i], rtol=1e-13)


def cost(function, *args):
    """Floating-point operations of a graph without needless nodes."""
    return simplify(md.trace(function, *args)).flops()


def test_forward_mode_pays_by_inputs_and_reverse_mode_by_outputs():  # A6
    """If N >> M reverse mode is cheaper, if M >> N forward mode (E as well)."""
    rng = np.random.default_rng(0)

    def passes(n_in, n_out, mode):
        A = rng.normal(size=(n_out, n_in))
        g = lambda x: np.tanh(A @ np.sin(x))  # noqa: E731 - one line says it
        x = rng.normal(size=n_in)
        return cost(md.jacobian(g, mode=mode), x) / cost(g, x)

    for n in (4, 8, 16):
        assert n / 2 < passes(n, 2, "forward") < 2 * n  # about one function for each input
        assert passes(n, 2, "reverse") < 6
        assert n / 2 < passes(2, n, "reverse") < 2 * n  # about one for each output
        assert passes(2, n, "forward") < 6


# Speelpenning's product: p = w_1 w_2 ... w_d


def product_loop(w):
    v = 1.0
    for j in range(len(w)):
        v = v * w[j]
    return v


PRODUCTS = {"loop": product_loop, "np.prod": np.prod}


def closed_form(w):
    """dp/dw_j is the product of all the others."""
    return np.array([np.prod(np.delete(w, j)) for j in range(len(w))])


def lecture_forward(w):
    """The lecture's algorithm: dv_{j+1}/dw = dv_j/dw * w_j + v_j e_j."""
    v, dv = 1.0, np.zeros(len(w))
    for j, e in enumerate(np.eye(len(w))):
        v, dv = v * w[j], dv * w[j] + v * e
    return dv


def lecture_reverse(w):
    """The lecture's algorithm: dp/dv_j = dp/dv_{j+1} w_j and dp/dw_j = dp/dv_{j+1} v_j."""
    v = [1.0]
    for x in w:
        v.append(v[-1] * x)
    bar, slope = 1.0, np.zeros(len(w))
    for j in reversed(range(len(w))):
        slope[j] = bar * v[j]
        bar = bar * w[j]
    return slope


def point(d):
    return np.random.default_rng(d).uniform(0.9, 1.1, size=d)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("name", PRODUCTS)
def test_both_modes_give_the_closed_form(name, d):  # A7
    w = point(d)
    np.testing.assert_allclose(lecture_forward(w), closed_form(w), rtol=1e-13)
    np.testing.assert_allclose(lecture_reverse(w), closed_form(w), rtol=1e-13)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(md.jacobian(PRODUCTS[name], mode=mode)(w), closed_form(w), rtol=1e-13)
    np.testing.assert_allclose(md.grad(PRODUCTS[name])(w), closed_form(w), rtol=1e-13)


@pytest.mark.parametrize(("name", "d"), [("loop", 1000), ("np.prod", 1000), ("np.prod", 5000)])
def test_reverse_mode_is_right_for_thousands_of_factors(name, d):  # A7
    w = point(d)
    np.testing.assert_allclose(md.grad(PRODUCTS[name])(w), np.prod(w) / w, rtol=1e-11)


@pytest.mark.parametrize("w", [[2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
@pytest.mark.parametrize("name", PRODUCTS)
def test_factors_that_are_zero_do_no_harm(name, w):  # A7
    """Dividing the product by w_j would give 0 / 0."""
    w = np.array(w)
    np.testing.assert_array_equal(md.grad(PRODUCTS[name])(w), closed_form(w))


@pytest.mark.parametrize("d", [10, 100, 1000])
@pytest.mark.parametrize("name", PRODUCTS)
def test_reverse_mode_costs_at_most_four_products(name, d):  # A7
    """Value and gradient together, however many factors there are."""
    p = PRODUCTS[name]
    assert cost(p, point(d)) in (d - 1, d)  # the loop's first factor is 1
    assert cost(md.value_and_grad(p), point(d)) <= 4 * d
    assert cost(md.grad(p), point(d)) <= 4 * d


@pytest.mark.parametrize("name", PRODUCTS)
def test_forward_mode_costs_as_many_products_as_there_are_factors(name):  # A7
    p = PRODUCTS[name]
    forward = [cost(md.jacobian(p, mode="forward"), point(d)) for d in (8, 16, 32)]
    reverse = [cost(md.grad(p), point(d)) for d in (8, 16, 32)]
    for smaller, larger in pairwise(forward):
        assert 3 < larger / smaller < 5  # d passes over d factors
    for smaller, larger in pairwise(reverse):
        assert 1.8 < larger / smaller < 2.5
    assert forward[-1] > 5 * reverse[-1]
