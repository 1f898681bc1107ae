"""A mixture density network recovers both answers of an inverse problem. Lecture row E5.

The example ``inverse_problem`` of the gallery has more rows, and the true density.
"""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

PLACES = np.linspace(0.3, 0.9, 7)[:, None]
ROOTS = np.sqrt(PLACES)


def parabola(n, seed):
    """Pairs (x, t) with x = t^2 plus noise: given x, t is near one of the two roots, mostly the positive one."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.0, 1.0, n) * np.where(rng.random(n) < 0.7, 1.0, -1.0)
    return (t**2 + 0.05 * rng.normal(size=n))[:, None], t


@pytest.fixture(scope="module")
def models():
    """One Gaussian, and a mixture of two."""
    settings = {
        "hidden_layer_sizes": (50,),
        "activation": "tanh",
        "learning_rate_init": 0.01,
        "schedule": "cosine",
        "n_iter_no_change": np.inf,
        "max_iter": 150,
        "random_state": 0,
    }
    single, double = md.GaussianMLPRegressor(**settings), md.MixtureDensityRegressor(components=2, **settings)
    return single.fit(*parabola(1500, 0)), double.fit(*parabola(1500, 0))


def test_both_roots_are_found_with_their_weights(models):  # E5
    found = models[1].distribution(PLACES)
    order = np.argsort(found.means[:, :, 0], axis=1)
    means = np.take_along_axis(found.means[:, :, 0], order, axis=1)
    np.testing.assert_allclose(means, np.hstack([-ROOTS, ROOTS]), atol=0.05)
    np.testing.assert_allclose(np.take_along_axis(found.weights, order, axis=1), [[0.3, 0.7]] * 7, atol=0.08)


def test_the_likelihood_of_the_mixture_is_far_larger(models):  # E5
    single, double = (model.log_density(*parabola(2000, 1)).mean() for model in models)
    assert single < double - 1.0
    assert double > 0.8  # the true density has 0.98


def test_one_answer_lies_between_the_roots(models):  # E5
    assert np.all(np.abs(models[0].predict(PLACES)) < 0.8 * ROOTS[:, 0])


def test_densities_integrate_to_one(models):  # E5
    t = np.linspace(-3, 3, 3001)
    for model in models:
        assert np.trapezoid(model.density(np.full((3001, 1), 0.5), t), t) == pytest.approx(1.0, abs=1e-3)
