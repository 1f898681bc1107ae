"""Gradients, Jacobians of any shape, the vector chain rule, and the softmax. Lecture rows C4 and E8."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


def test_the_jacobian_of_a_vector_function_is_q_by_p_with_gradients_as_rows(rng):  # C4
    P, Q = 3, 4
    A = rng.normal(size=(Q, P))
    x = rng.normal(size=P)
    f = lambda x: np.tanh(A @ x)  # noqa: E731 - one line says it
    J = md.jacobian(f)(x)
    assert J.shape == (Q, P)
    for i in range(Q):
        np.testing.assert_allclose(J[i], md.grad(lambda x, i=i: f(x)[i])(x), rtol=1e-13)


def test_the_jacobian_of_a_matrix_function_has_four_axes(rng):  # C4
    """f from P x Q to R x S: the Jacobian is R x S x P x Q."""
    P, Q, R, S = 2, 3, 4, 5
    A, B, X = rng.normal(size=(R, P)), rng.normal(size=(Q, S)), rng.normal(size=(P, Q))
    J = md.jacobian(lambda X: A @ X @ B)(X)
    assert J.shape == (R, S, P, Q)
    np.testing.assert_allclose(J, np.einsum("rp,qs->rspq", A, B), rtol=1e-13)


@pytest.mark.parametrize(
    ("in_shape", "out_shape"), [((), (2, 2)), ((2, 3, 2), ()), ((2, 1, 3), (3, 2)), ((2,), (1, 2, 3, 1))]
)
def test_the_jacobian_of_any_tensor_function_has_output_axes_then_input_axes(in_shape, out_shape, rng):  # C4
    A = rng.normal(size=out_shape + in_shape)
    x = rng.normal(size=in_shape)
    J = md.jacobian(lambda x: np.sum(A * x, axis=tuple(range(len(out_shape), A.ndim))))(x)
    assert J.shape == out_shape + in_shape
    np.testing.assert_allclose(J, A, rtol=1e-13)


def test_the_vector_chain_rule_is_a_product_of_jacobians(rng):  # C4
    """dz/dx = grad f(y) J^g is 1 x P; its sum form is sum_i dz/dy_i dy_i/dx."""
    P, Q = 3, 4
    A, x = rng.normal(size=(Q, P)), rng.normal(size=P)
    g = lambda x: np.sin(A @ x)  # noqa: E731 - one line says it
    f = lambda y: np.sum(y**2) * y[0]  # noqa: E731 - one line says it
    y = g(x)
    gradient_of_f, J_g = md.grad(f)(y), md.jacobian(g)(x)
    whole = md.grad(lambda x: f(g(x)))(x)
    np.testing.assert_allclose(whole, gradient_of_f @ J_g, rtol=1e-12)
    np.testing.assert_allclose(whole, sum(gradient_of_f[i] * J_g[i] for i in range(Q)), rtol=1e-12)


def test_three_jacobians_multiply_in_order(rng):  # C4
    """dz/dw = J^f J^g J^h is S x P."""
    P, Q, R, S = 2, 3, 4, 5
    A, B, C = rng.normal(size=(Q, P)), rng.normal(size=(R, Q)), rng.normal(size=(S, R))
    h, g, f = (lambda w: np.tanh(A @ w)), (lambda x: np.sin(B @ x)), (lambda y: md.functional.softplus(C @ y))
    w = rng.normal(size=P)
    x = h(w)
    product = md.jacobian(f)(g(x)) @ md.jacobian(g)(x) @ md.jacobian(h)(w)
    assert product.shape == (S, P)
    np.testing.assert_allclose(md.jacobian(lambda w: f(g(h(w))))(w), product, rtol=1e-11)


def test_the_jacobians_of_the_two_layer_net_have_the_right_sizes(rng):  # C4
    """With W2 as K1 x K2 and z2 = W2^T h1: dh2/dW2 is K2 x K1 x K2, the loss's 1 x K1 x K2.

    The lecture prints K2 x K2 x K1 and 1 x K2 x K1.
    """
    K1, K2 = 3, 4
    W2, h1, v, y = rng.normal(size=(K1, K2)), rng.normal(size=K1), rng.normal(size=K2), 0.5
    hidden = lambda W2: np.tanh(W2.T @ h1)  # noqa: E731 - one line says it
    loss = lambda W2: np.reshape((y - v @ hidden(W2)) ** 2, (1,))  # noqa: E731 - one line says it
    J_h, J_l = md.jacobian(hidden)(W2), md.jacobian(loss)(W2)
    assert J_h.shape == (K2, K1, K2)
    assert J_l.shape == (1, K1, K2)
    z = W2.T @ h1
    J_z = md.jacobian(lambda W2: W2.T @ h1)(W2)
    diagonal = np.diag(1 - np.tanh(z) ** 2)  # dh2/dz2 is diag(g'(z))
    np.testing.assert_allclose(md.jacobian(np.tanh)(z), diagonal, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(J_h, np.einsum("ij,jkl->ikl", diagonal, J_z), rtol=1e-12, atol=1e-15)
    slope = -2 * (y - v @ np.tanh(z))  # l'(y, y_hat)
    np.testing.assert_allclose(J_l[0], slope * np.einsum("i,ikl->kl", v, J_h), rtol=1e-12, atol=1e-15)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@pytest.mark.parametrize("x", [[0.0, 0.0], [1.0, 2.0, 3.0], [-40.0, 0.0, 40.0], [1000.0, 1001.0, 0.0]])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_softmax_jacobian_is_p_times_one_minus_p_and_minus_p_times_p(x, mode):  # E8
    x = np.array(x)
    p = softmax(x)
    J = md.jacobian(softmax, mode=mode)(x)
    for i in range(len(x)):
        for j in range(len(x)):
            expected = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
            assert J[i, j] == pytest.approx(expected, rel=1e-10, abs=1e-16)


def test_the_softmax_jacobian_is_symmetric_and_its_rows_sum_to_zero(rng):  # E8
    J = md.jacobian(softmax)(rng.normal(size=6))
    np.testing.assert_allclose(J, J.T, rtol=1e-12)
    np.testing.assert_allclose(J.sum(axis=1), 0.0, atol=1e-15)


def test_softmax_and_cross_entropy_together_give_p_minus_the_target(rng):  # E8
    x, target = rng.normal(size=5), np.eye(5)[2]
    slope = md.grad(lambda x: md.functional.logsumexp(x) - x @ target)(x)
    np.testing.assert_allclose(slope, softmax(x) - target, rtol=1e-12)
    np.testing.assert_allclose(md.jacobian(softmax)(x).T @ (-target / softmax(x)), slope, rtol=1e-11)


def test_the_softmax_of_a_batch_has_no_derivative_across_rows(rng):  # C4, E8
    def rowwise(X):
        E = np.exp(X - np.max(X, axis=1, keepdims=True))
        return E / np.sum(E, axis=1, keepdims=True)

    X = rng.normal(size=(3, 4))
    J = md.jacobian(rowwise)(X)
    assert J.shape == (3, 4, 3, 4)
    for n in range(3):
        for m in range(3):
            expected = md.jacobian(softmax)(X[n]) if n == m else np.zeros((4, 4))
            np.testing.assert_allclose(J[n, :, m], expected, rtol=1e-11, atol=1e-16)
