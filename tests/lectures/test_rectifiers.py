"""Maxout, and rectifiers that learn their own shape. Lecture row B5."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

x = np.linspace(-3.0, 3.0, 601)[:, None]


def maxout(slopes, offsets):
    """One unit, max_i (slopes_i x + offsets_i)."""
    model = md.nn.Maxout(1, k=len(slopes)).init(1, dtype="float64")
    model.params["W"], model.params["b"] = [slopes], offsets
    return model


@pytest.mark.parametrize(
    ("slopes", "offsets", "function"),
    [
        ([0, 1], [0, 0], lambda x: np.maximum(x, 0)),
        ([0.1, 1], [0, 0], lambda x: np.maximum(0.1 * x, x)),
        ([-1, 1], [0, 0], np.abs),
        ([1, 1], [0, 0], lambda x: x),
        ([-2, 0, 1], [-2, 0, -1], lambda x: np.maximum(np.maximum(-2 * x - 2, 0), x - 1)),
    ],
    ids=["relu", "leaky relu", "abs", "linear", "three pieces"],
)
def test_maxout_generalises_relu_leaky_relu_and_any_convex_line_of_pieces(slopes, offsets, function):  # B5
    np.testing.assert_allclose(maxout(slopes, offsets)(x), function(x), atol=1e-14)


@pytest.mark.parametrize("k", [2, 4, 8, 16])
def test_more_pieces_approximate_a_convex_function_better(k):  # B5
    """Tangents of a parabola: the error is that of halfway between two of them, (3/k)^2 on [-3, 3]."""
    touching = -3.0 + 3.0 / k * (2 * np.arange(k) + 1)
    model = maxout(2 * touching, -(touching**2))
    assert np.abs(model(x) - x**2).max() == pytest.approx((3.0 / k) ** 2, rel=0.02)


def test_two_maxout_units_make_what_is_not_convex():  # B5
    """Any continuous function of linear pieces is a difference of two convex ones. Goodfellow et al. 2013, sec. 3."""
    model = md.Sequential(md.nn.Maxout(2, k=2), md.Linear(1, bias=False)).init(1, dtype="float64")
    model.params["0.W"], model.params["0.b"] = [[-1, 1, 0, 2]], [0, 0, 0, -2]  # |x| and max(0, 2x - 2)
    model.params["1.W"] = [[1], [-1]]
    np.testing.assert_allclose(model(x), np.where(x < 1, np.abs(x), 2 - x), atol=1e-14)


def test_maxout_does_not_saturate_and_does_not_die(rng):  # B5
    """Some piece is active for every input, so its weights get a gradient; but there are k times as many of them."""
    X = rng.normal(size=(50, 4)) - 100.0  # inputs that silence relu units for good
    dead, alive = md.Sequential(md.Linear(8, init="ones"), "relu").init(X), md.nn.Maxout(8).init(X)

    def slopes(model):
        return md.grad(lambda w: np.sum(model.network.run(w, model.state.flat, X.astype(np.float32)).outputs[""]))(
            model.params.flat
        )

    assert not slopes(dead).any()
    per_unit = alive.network.params["W"].of(slopes(alive)).reshape(4, 8, 2)
    assert per_unit.any(axis=(0, 2)).all()
    assert md.nn.Maxout(8).init(4).params.flat.size == 2 * md.Linear(8).init(4).params.flat.size


def trained(net, optimizer, X, y, epochs):
    trainer = md.Trainer(net, loss="mse", optimizer=optimizer, dtype="float64")
    trainer.fit(X, y, epochs=epochs, batch_size=None)
    return trainer.model


def test_a_parametric_rectifier_learns_its_slope():  # B5
    model = trained(md.nn.PReLU(), md.SGD(0.3), x, np.maximum(x, 0.1 * x), 100)
    assert model.params["slope"] == pytest.approx(0.1, abs=1e-6)


def test_its_hinge_can_be_learned_too():  # B5
    """How about shifting the hinge? How about the slope? y = c + prelu(x - c, a)."""
    model = trained(md.nn.LearnedHinge(), md.Adam(0.03), x, np.where(x > -1.0, x, -1.0 + 0.5 * (x + 1.0)), 800)
    assert model.params["slope"] == pytest.approx(0.5, abs=0.01)
    assert model.params["shift"] == pytest.approx(-1.0, abs=0.03)


def test_a_diversity_of_rectifiers_is_one_for_each_unit():  # B5
    slopes = np.array([0.0, 0.01, 0.1, 0.25, 1.0, -1.0])
    X = np.tile(x, (1, 6))
    target = np.where(X > 0, X, slopes * X)
    model = trained(md.nn.PReLU(), md.SGD(1.0), X, target, 100)
    np.testing.assert_allclose(model.params["slope"], slopes, atol=1e-6)
    shared = trained(md.nn.PReLU(per="layer"), md.SGD(0.3), X, target, 100)
    assert shared.params["slope"] == pytest.approx(slopes.mean(), abs=1e-6)


def test_any_formula_of_ones_own_is_a_rectifier():  # B5
    """How about changing the shape of the right side? Here it bends like a root."""
    model = md.nn.Activation(lambda z: np.where(z > 0, np.sqrt(1 + 2 * np.maximum(z, 0)) - 1, 0.1 * z)).init(1)
    y = model(np.array([[-1.0], [0.0], [4.0]]))
    np.testing.assert_allclose(y[:, 0], [-0.1, 0.0, 2.0], rtol=1e-6)
