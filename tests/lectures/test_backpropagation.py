"""Backpropagation written out by hand, equal to the general reverse mode. Lecture rows A8, C5 and E21."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import madaline as md


def softmax(y):
    e = np.exp(y - np.max(y))
    return e / np.sum(e)


ACTIVATIONS = {  # sigma and its derivative
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "sigmoid": (md.functional.sigmoid, lambda z: md.functional.sigmoid(z) * (1 - md.functional.sigmoid(z))),
    "relu": (md.functional.relu, lambda z: (z > 0) * 1.0),
    "softplus": (md.functional.softplus, md.functional.sigmoid),
}


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_layer_by_layer_backpropagation_with_a_regulariser_equals_grad(activation, depth, rng):  # A8
    """The lecture's algorithm, line by line; W_k is d_k x d_{k-1} there, and r = lambda sum of squares."""
    sigma, sigma_prime = ACTIVATIONS[activation]
    sizes = [4, *[5, 6, 3, 7, 4][:depth], 3]
    W = [rng.normal(size=(m, n)) / np.sqrt(n) for n, m in pairwise(sizes)]
    b = [rng.normal(size=m) for m in sizes[1:]]
    x, label, lam = rng.normal(size=4), 1, 0.05

    def objective(W, b):
        h = x
        for W_k, b_k in zip(W[:-1], b[:-1], strict=True):
            h = sigma(W_k @ h + b_k)
        p = softmax(W[-1] @ h + b[-1])
        return -np.log(p[label]) + lam * sum(np.sum(W_k**2) for W_k in W)

    h, z = [x], []
    for W_k, b_k in zip(W[:-1], b[:-1], strict=True):  # feature map: layer by layer
        z.append(W_k @ h[-1] + b_k)
        h.append(sigma(z[-1]))
    p = softmax(W[-1] @ h[-1] + b[-1])
    l_p = -np.eye(3)[label] / p[label]  # dl/dp of -log p_label
    l_y = (np.diag(p) - np.outer(p, p)) @ l_p  # through the softmax
    W_bar, b_bar = [np.outer(l_y, h[-1]) + 2 * lam * W[-1]], [l_y]
    l_h = W[-1].T @ l_y
    for k in reversed(range(depth)):  # backward: accumulate derivatives
        l_z = sigma_prime(z[k]) * l_h  # diag(sigma'(z_k)) dl/dh_k
        W_bar.insert(0, np.outer(l_z, h[k]) + 2 * lam * W[k])
        b_bar.insert(0, l_z)
        l_h = W[k].T @ l_z

    W_auto, b_auto = md.grad(objective, argnums=(0, 1))(W, b)
    for by_hand, automatic in zip([*W_bar, *b_bar], [*W_auto, *b_auto], strict=True):
        np.testing.assert_allclose(automatic, by_hand, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "softplus"])
def test_hand_derived_gradients_of_a_one_hidden_layer_regression_equal_grad(activation, rng):  # C5
    """L = 1/2 sum (y_n - v^T g(W^T x_n))^2. With e_n = y_n - v^T h_n both gradients carry a minus sign.

    The lecture writes dL/dv_k once as + sum e_n h_nk; with its own e_n the sign must be minus, as in the other line.
    """
    g, g_prime = ACTIVATIONS[activation]
    N, D, K = 20, 4, 6
    X, y, W, v = rng.normal(size=(N, D)), rng.normal(size=N), rng.normal(size=(D, K)), rng.normal(size=K)

    def loss(W, v):
        return 0.5 * np.sum((y - g(X @ W) @ v) ** 2)

    H = g(X @ W)
    e = y - H @ v
    v_by_hand = np.array([-sum(e[n] * H[n, k] for n in range(N)) for k in range(K)])
    slope = g_prime(X @ W)
    W_by_hand = np.array(
        [[sum(-e[n] * v[k] * slope[n, k] * X[n, d] for n in range(N)) for k in range(K)] for d in range(D)]
    )
    W_auto, v_auto = md.grad(loss, argnums=(0, 1))(W, v)
    np.testing.assert_allclose(v_auto, v_by_hand, rtol=1e-11)
    np.testing.assert_allclose(W_auto, W_by_hand, rtol=1e-11)


def two_path_loss(W1, W2, x, y, lam):
    """l = cross_entropy(y, sigma(W2^T sigma(W1^T x))) + lambda (|W1|^2 + |W2|^2); the lecture omits the squares."""
    y_hat = md.functional.sigmoid(W2 @ md.functional.sigmoid(W1.T @ x))
    return -y * np.log(y_hat) - (1 - y) * np.log(1 - y_hat) + lam * (np.sum(W1**2) + np.sum(W2**2))


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_the_total_derivative_sums_over_the_two_paths_to_the_weights(y, rng):  # E21
    """dl/dW1 = dl/du8 du8/dW1 (through the net) + dl/du4 du4/dW1 (through the penalty)."""
    p, q, lam = 5, 3, 0.1
    x, W1, W2 = rng.normal(size=p), rng.normal(size=(p, q)), rng.normal(size=q)
    h = md.functional.sigmoid(W1.T @ x)
    error = md.functional.sigmoid(W2 @ h) - y
    through_the_net = np.outer(x, error * W2 * h * (1 - h))
    through_the_penalty = 2 * lam * W1
    total = md.grad(two_path_loss)(W1, W2, x, y, lam)
    np.testing.assert_allclose(total, through_the_net + through_the_penalty, rtol=1e-12)


def test_closing_one_path_leaves_the_other(rng):  # E21
    """stop_gradient cuts an edge of the graph; the two halves add up to the whole."""
    x, W1, W2, lam = rng.normal(size=5), rng.normal(size=(5, 3)), rng.normal(size=3), 0.1

    def loss(W1, in_net, in_penalty):
        y_hat = md.functional.sigmoid(W2 @ md.functional.sigmoid(in_net(W1).T @ x))
        return -np.log(y_hat) + lam * np.sum(in_penalty(W1) ** 2)

    def same(w):
        return w

    def slope(in_net, in_penalty):
        return md.grad(lambda W1: loss(W1, in_net, in_penalty))(W1)

    whole = slope(same, same)
    np.testing.assert_allclose(
        slope(same, md.functional.stop_gradient) + slope(md.functional.stop_gradient, same), whole, rtol=1e-12
    )
    np.testing.assert_allclose(slope(md.functional.stop_gradient, same), 2 * lam * W1, rtol=1e-14)
    np.testing.assert_array_equal(slope(md.functional.stop_gradient, md.functional.stop_gradient), np.zeros((5, 3)))
