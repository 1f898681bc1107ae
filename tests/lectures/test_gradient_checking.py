"""Gradient checking as the lecture asks for it, on nets. Lecture row B7."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import madaline as md


def net(params, X, y):
    h = X
    for W, b in params[:-1]:
        h = md.functional.relu(h @ W + b)
    W, b = params[-1]
    return np.mean((h @ W + b - y) ** 2)


def random_net(rng, sizes):
    return [(rng.normal(size=(n, m)) / np.sqrt(n), rng.normal(size=m)) for n, m in pairwise(sizes)]


def test_centred_differences_confirm_the_gradient_of_a_net(rng):  # B7
    report = md.check_gradient(net, random_net(rng, [3, 5, 4, 1]), rng.normal(size=(6, 3)), rng.normal(size=(6, 1)))
    assert report
    assert report.error < 1e-7
    assert [argument.name for argument in report.arguments][:2] == ["params[0][0]", "params[0][1]"]


def test_centred_differences_are_better_than_one_sided_ones():  # B7
    """The error falls with h^2 instead of h."""
    f, x, h = np.exp, 1.0, 1e-4
    exact = md.grad(f)(x)
    one_sided = abs((f(x + h) - f(x)) / h - exact)
    centred = abs((f(x + h) - f(x - h)) / (2 * h) - exact)
    assert centred < one_sided * h


@pytest.mark.parametrize(
    "mistake",
    [
        lambda h: h * 0.5 + md.functional.stop_gradient(h) * 0.5,  # half the derivative
        md.functional.stop_gradient,  # none
        lambda h: 2 * md.functional.stop_gradient(h) - h,  # the wrong sign
    ],
)
def test_a_mistake_in_one_layer_is_found_in_the_layers_before_it(mistake, rng):  # B7
    X, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 1))

    def broken(params):
        (W1, b1), (W2, b2) = params
        return np.mean((mistake(np.tanh(X @ W1 + b1)) @ W2 + b2 - y) ** 2)

    report = md.check_gradient(broken, random_net(rng, [3, 4, 1]))
    assert not report
    wrong = {failure.where.rpartition("[")[0] for failure in report.failures}
    assert wrong == {"params[0][0]", "params[0][1]"}


def test_kinks_of_relu_units_are_reported_apart(rng):  # B7
    """With all weights zero every unit sits exactly on its kink."""
    params = [(np.zeros((3, 4)), np.zeros(4)), (rng.normal(size=(4, 1)), np.zeros(1))]
    report = md.check_gradient(net, params, rng.normal(size=(6, 3)), rng.normal(size=(6, 1)))
    assert report
    assert {kink.where.rpartition("[")[0] for kink in report.kinks} == {"params[0][0]", "params[0][1]"}
    assert not md.check_gradient(net, params, rng.normal(size=(6, 3)), rng.normal(size=(6, 1)), count_kinks=True)


def test_a_large_net_is_sampled(rng):  # B7
    params = random_net(rng, [30, 40, 1])
    report = md.check_gradient(net, params, rng.normal(size=(10, 30)), rng.normal(size=(10, 1)), max_elements=15)
    assert report
    assert report.arguments[0].size == 1200
    assert report.arguments[0].n_elements == 15
    assert report.arguments[0].n_directions > 0
    assert "15 of 1200" in str(report)
