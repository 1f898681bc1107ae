"""Penalties: their values by hand, their derivatives by differences, natively and by NumPy."""

from __future__ import annotations

import json

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, ShapeError
from madaline.optim.regularizers import L1, L2, REGULARIZERS, Activity, Elastic, GroupLasso, Orthogonality, Regularizer

RULES = [
    *(kind(0.3) for kind in REGULARIZERS),
    Elastic(0.3, ratio=0.9),
    GroupLasso(0.3, groups="outputs"),
    Activity(0.3, norm="l2"),
]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)

W = np.array([[3.0, 0.0, -1.0], [-4.0, 0.0, 2.0]])
BY_HAND = [
    (L2(0.1), 0.1 * (9 + 1 + 16 + 4)),
    (L1(0.1), 0.1 * (3 + 1 + 4 + 2)),
    (Elastic(0.1, ratio=0.25), 0.1 * (0.25 * 10 + 0.75 * 30)),
    (GroupLasso(0.1), 0.1 * np.sqrt(3) * (np.sqrt(10) + np.sqrt(20))),
    (GroupLasso(0.1, groups="outputs"), 0.1 * np.sqrt(2) * (5 + 0 + np.sqrt(5))),
    (Orthogonality(0.1), 0.1 * ((10 - 1) ** 2 + (20 - 1) ** 2 + 2 * 14**2)),
    (Activity(0.1), 0.1 * (4 + 6) / 2),
    (Activity(0.1, norm="l2"), 0.1 * (10 + 20) / 2),
]


@pytest.mark.parametrize(("rule", "expected"), BY_HAND, ids=lambda x: repr(x) if isinstance(x, Regularizer) else "")
def test_the_penalty_is_the_one_worked_by_hand(rule, expected):
    assert float(rule(W)) == pytest.approx(expected, rel=1e-14)


@every_rule
def test_its_gradient_is_right(rule, rng):
    assert md.check_gradient(rule, rng.normal(size=(5, 3)))


@every_rule
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_traced_penalty_is_the_numpy_penalty(rule, dtype, rng, executor):
    W = rng.normal(size=(6, 4)).astype(dtype)
    value, slope = md.compile(md.value_and_grad(rule))(W)
    assert slope.dtype == dtype
    np.testing.assert_allclose(value, rule(W), rtol=1e-13 if dtype == np.float64 else 1e-5)


@every_rule
def test_at_zero_nothing_is_infinite(rule):
    value, slope = md.value_and_grad(rule)(np.zeros((4, 3)))
    assert np.isfinite(value)
    np.testing.assert_array_equal(slope, 0.0)


@pytest.mark.parametrize("rule", [L1(0.3), L2(0.3), Elastic(0.3)], ids=lambda rule: rule.name)
def test_masked_parameters_are_not_penalised(rule, rng):
    w, mask = rng.normal(size=10), (np.arange(10) < 6).astype(float)
    assert float(rule(w, mask)) == pytest.approx(float(rule(w[:6])), rel=1e-14)
    slope = md.grad(lambda w: rule(w, mask))(w)
    np.testing.assert_array_equal(slope[6:], 0.0)
    np.testing.assert_allclose(slope[:6], md.grad(rule)(w[:6]), rtol=1e-14)


def test_the_gradient_of_l2_is_twice_lambda_w(rng):  # E6
    w = rng.normal(size=7)
    np.testing.assert_allclose(md.grad(L2(0.3))(w), 0.6 * w, rtol=1e-14)


def test_orthonormal_columns_and_orthonormal_rows_cost_nothing(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(6, 4)))
    assert float(Orthogonality(1.0)(Q)) == pytest.approx(0.0, abs=1e-25)
    assert float(Orthogonality(1.0)(Q.T)) == pytest.approx(0.0, abs=1e-25)
    assert float(Orthogonality(1.0)(2.0 * Q)) == pytest.approx(4 * 3.0**2)


def test_group_lasso_drives_whole_rows_to_zero(rng):
    """Two inputs of four matter; the rows of the others shrink to nothing, which L2 does not do."""
    X = rng.normal(size=(200, 4))
    Y = X[:, :2] @ rng.normal(size=(2, 3))

    def fitted(rule):
        slope = md.compile(md.grad(lambda W: np.mean((X @ W - Y) ** 2) + rule(W)))
        W = rng.normal(size=(4, 3))
        for t in range(3000):
            W = W - 0.3 / (1.0 + 0.01 * t) * slope(W)
        return np.linalg.norm(W, axis=1)

    lasso, ridge = fitted(GroupLasso(0.05)), fitted(L2(0.05))
    assert lasso[2:].max() < 0.01
    assert lasso[:2].min() > 0.2
    assert 0.01 < ridge[2:].max() < ridge[:2].min()


def test_activity_is_a_mean_over_rows_of_any_batch():
    penalty = md.compile(Activity(0.5), rows=[0])
    for n_rows in (1, 7, 200):
        assert penalty(np.full((n_rows, 3), -2.0)) == pytest.approx(0.5 * 6.0)


@pytest.mark.parametrize("rule", [GroupLasso(), Orthogonality()], ids=lambda rule: rule.name)
def test_what_needs_a_matrix_says_so(rule):
    with pytest.raises(ShapeError, match=r"needs a matrix of shape \(n_in, n_out\), not \(3,\)"):
        rule(np.ones(3))


@every_rule
def test_descriptions_survive_json(rule):
    assert Regularizer.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_names_and_wrong_parameters():
    assert REGULARIZERS.names() == ("activity", "elastic", "group_lasso", "l1", "l2", "orthogonality")
    assert {kind.on for kind in REGULARIZERS} == {"weights", "matrix", "activations"}
    with pytest.raises(ConfigError, match=r"L2: strength=-1 must be a number in \[0, inf\)"):
        L2(-1)
    assert Regularizer.of("l1", strength=0.5) == Regularizer.of(L1(0.5)) == Regularizer.of(L1(0.5).to_dict()) == L1(0.5)
    with pytest.raises(ConfigError, match="groups='rows' must be 'inputs' or 'outputs'"):
        GroupLasso(groups="rows")
    with pytest.raises(ConfigError, match="norm='l3' must be 'l1' or 'l2'"):
        Activity(norm="l3")
