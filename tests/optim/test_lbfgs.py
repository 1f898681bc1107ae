"""L-BFGS through SciPy on compiled functions."""

from __future__ import annotations

import json

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.optim.lbfgs import LBFGS, SOLVERS
from madaline.optim.sgd import SGD


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


value_and_grad = md.compile(md.value_and_grad(rosenbrock))


def test_it_finds_the_end_of_rosenbrocks_valley():
    start = np.full(6, -1.0)
    found = LBFGS(tol=1e-8, value_tol=0.0).minimize(value_and_grad, start)
    np.testing.assert_allclose(found.w, 1.0, atol=1e-6)
    assert found.converged
    assert found.value == pytest.approx(0.0, abs=1e-10)
    assert found.n_iter <= found.n_evaluations < 200
    np.testing.assert_array_equal(start, -1.0)


def test_for_the_same_budget_it_goes_further_than_gradient_descent_on_a_small_smooth_problem():
    start = np.full(6, -1.0)
    found = LBFGS().minimize(value_and_grad, start)
    w = start
    for t in range(1, found.n_evaluations + 1):
        w, _ = SGD(1e-3).step(w, value_and_grad(w)[1], (), t=t)
    assert found.value < 1e-3 * rosenbrock(w)


def test_on_a_net_many_cheap_steps_go_further_for_the_same_passes_over_the_rows(rng):  # E11
    """An iteration of L-BFGS needs the gradient of all rows at least once; Adam takes 40 steps in one pass."""
    X = rng.normal(size=(2000, 6)).astype(np.float32)
    y = np.sin(2 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]
    net, losses = md.mlp(32, 32, 1), {}
    for name, optimizer in {"lbfgs": LBFGS(15), "adam": md.Adam(0.003), "descent": SGD(0.1)}.items():
        trainer = md.Trainer(net, optimizer=optimizer)
        trainer.fit(X, y, epochs=15, batch_size=None if name == "descent" else 50)
        losses[name] = trainer.evaluate(X, y)["loss"]
    assert losses["adam"] < 0.5 * losses["lbfgs"]
    assert losses["lbfgs"] < losses["descent"]


def test_a_hessian_costs_as_many_gradients_as_there_are_parameters():  # E11
    costs = [
        md.trace(md.hessian(rosenbrock), np.zeros(n)).flops() / md.trace(md.grad(rosenbrock), np.zeros(n)).flops()
        for n in (10, 20, 40)
    ]
    assert costs[1] > 1.7 * costs[0]
    assert costs[2] > 1.7 * costs[1]


def test_it_stops_after_max_iter_and_says_that_it_did_not_converge():
    seen = []
    found = LBFGS(3).minimize(value_and_grad, np.full(6, -1.0), callback=lambda w: seen.append(w.copy()))
    assert found.n_iter == len(seen) == 3
    assert not found.converged
    assert "ITERATIONS" in found.message.upper()


def test_it_keeps_the_type_of_the_parameters():
    kinds = set()

    def loss(w):
        kinds.add(w.dtype)
        return value_and_grad(w)

    found = LBFGS(20).minimize(loss, np.zeros(4, np.float32))
    assert found.w.dtype == np.float32
    assert kinds == {np.dtype(np.float32)}


def test_its_description_is_plain_data():
    rule = LBFGS(50, history=5)
    assert LBFGS.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule
    assert SOLVERS.names() == ("lbfgs",)
    with pytest.raises(ConfigError, match=r"max_iter=0 must be a number in \[1, inf\); history=0 must be"):
        LBFGS(0, history=0)
