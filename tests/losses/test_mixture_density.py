"""The density a mixture density network predicts. Lecture row E5."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.errors import ConfigError, ShapeError
from madaline.losses.density import HeteroscedasticGaussian
from madaline.losses.mixture import MixtureDensity
from madaline.losses.mixture_density import GaussianMixture
from madaline.losses.targets import Target

COVARIANCES = ("full", "diagonal", "tied")
each_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


def predicted(rng, covariance, D, n=3, K=3):
    """Raw outputs of moderate spread, and their densities."""
    loss = MixtureDensity(components=K, covariance=covariance)
    raw = 0.7 * rng.normal(size=(n, loss.n_outputs(Target(width=D))))
    return loss, raw, loss.distribution(raw)


@each_covariance
@pytest.mark.parametrize("D", [1, 2, 4])
def test_the_loss_is_minus_the_log_density(covariance, D, rng):
    loss, raw, density = predicted(rng, covariance, D)
    y = rng.normal(size=(3, D))
    np.testing.assert_allclose(-density.log_density(y), loss(raw, y, reduction="none"), rtol=1e-12)
    np.testing.assert_allclose(density.density(y), np.exp(-loss(raw, y, reduction="none")), rtol=1e-12)


@each_covariance
def test_the_density_of_one_column_integrates_to_one(covariance, rng):
    _, _, density = predicted(rng, covariance, 1)
    grid = np.linspace(-40.0, 40.0, 40_001)
    values = density.density(np.broadcast_to(grid[:, None, None], (grid.size, 3, 1)))
    np.testing.assert_allclose(np.trapezoid(values, grid, axis=0), 1.0, rtol=1e-9)


@each_covariance
def test_the_density_of_two_columns_integrates_to_one(covariance, rng):
    _, _, density = predicted(rng, covariance, 2, n=1)
    grid = np.linspace(-25.0, 25.0, 601)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 1, 2)
    total = density.density(points).sum() * (grid[1] - grid[0]) ** 2
    assert total == pytest.approx(1.0, rel=1e-6)


@each_covariance
def test_samples_have_the_mean_and_covariance_of_the_density(covariance, rng):
    _, _, density = predicted(rng, covariance, 2)
    draws = density.sample(100_000, seed=7)
    assert draws.shape == (100_000, 3, 2)
    spread = np.sqrt(np.diagonal(density.covariance(), axis1=1, axis2=2))
    off = (draws.mean(axis=0) - density.mean()) / (spread / np.sqrt(100_000))
    assert np.abs(off).max() < 4.5  # standard errors
    for row in range(3):
        np.testing.assert_allclose(
            np.cov(draws[:, row].T), density.covariance()[row], atol=0.05 * spread[row].max() ** 2
        )


def test_the_same_seed_gives_the_same_samples(rng):
    _, _, density = predicted(rng, "full", 2)
    np.testing.assert_array_equal(density.sample(5, seed=1), density.sample(5, seed=1))
    assert (density.sample(5, seed=1) != density.sample(5, seed=2)).all()


@each_covariance
def test_quantiles_invert_the_distribution_function_of_each_column(covariance, rng):
    _, _, density = predicted(rng, covariance, 2)
    levels = np.array([1e-6, 0.1, 0.5, 0.9, 0.999])
    at = density.quantiles(levels)
    assert at.shape == (5, 3, 2)
    np.testing.assert_allclose(density.cdf(at), np.broadcast_to(levels[:, None, None], at.shape), rtol=1e-9)
    assert (np.diff(at, axis=0) > 0).all()


def test_quantiles_agree_with_samples(rng):
    _, _, density = predicted(rng, "full", 2)
    draws = density.sample(100_000, seed=3)
    share = (draws <= density.quantiles(0.3)[0]).mean(axis=0)
    np.testing.assert_allclose(share, 0.3, atol=5 * np.sqrt(0.21 / 100_000))


@each_covariance
@pytest.mark.parametrize("D", [1, 2])
def test_nothing_drawn_is_denser_than_the_mode(covariance, D, rng):
    _, _, density = predicted(rng, covariance, D)
    mode = density.mode()
    top = density.log_density(mode)
    assert (density.log_density(density.sample(20_000, seed=5)) <= top + 1e-12).all()
    for step in 1e-3 * np.concatenate([np.eye(D), -np.eye(D)]):
        assert (density.log_density(mode + step) < top).all()


def test_one_component_is_a_gaussian(rng):
    """With a diagonal covariance, the joint loss is D times the mean loss of the columns."""
    raw, y = rng.normal(size=(4, 6)), rng.normal(size=(4, 3))
    joint = MixtureDensity(components=1, covariance="diagonal")(np.c_[np.zeros(4), raw], y, reduction="none")
    np.testing.assert_allclose(joint, 3 * HeteroscedasticGaussian()(raw, y, reduction="none"), rtol=1e-13)
    density = MixtureDensity(components=1, covariance="diagonal").distribution(np.c_[np.zeros(4), raw])
    np.testing.assert_allclose(density.mean(), raw[:, :3])
    np.testing.assert_allclose(density.mode(), raw[:, :3])
    np.testing.assert_allclose(density.quantiles(0.5)[0], raw[:, :3])


def test_components_of_a_tied_covariance_share_it_and_full_ones_do_not(rng):
    tied, full = predicted(rng, "tied", 2)[2].covariances(), predicted(rng, "full", 2)[2].covariances()
    np.testing.assert_array_equal(tied[:, 0], tied[:, 1])
    assert (full[:, 0] != full[:, 1]).any()
    diagonal = predicted(rng, "diagonal", 2)[2].covariances()
    assert not diagonal[..., 0, 1].any()
    assert full[..., 0, 1].all()


def test_predictions_are_the_means(rng):
    loss, raw, density = predicted(rng, "full", 2)
    np.testing.assert_array_equal(loss.predict(raw), density.mean())


def test_float32_outputs_are_answered_in_float64(rng):
    loss, raw, _ = predicted(rng, "full", 2)
    narrow = raw.astype(np.float32)
    density, exact = loss.distribution(narrow), loss.distribution(narrow.astype(np.float64))
    for name in ("mean", "covariance", "mode"):
        np.testing.assert_array_equal(getattr(density, name)(), getattr(exact, name)())
    np.testing.assert_array_equal(density.quantiles([0.1, 0.9]), exact.quantiles([0.1, 0.9]))
    assert loss.predict(narrow).dtype == np.float32


def test_a_component_of_weight_zero_is_never_drawn():
    means = np.array([[[0.0], [100.0], [0.0]]])
    density = GaussianMixture(np.array([[0.5, 0.0, 0.5]]), means, np.ones((1, 3, 1, 1)))
    assert np.abs(density.sample(10_000, seed=0)).max() < 50
    assert density.log_density([[0.0]]) == pytest.approx(-0.5 * np.log(2 * np.pi))
    assert density.mode() == pytest.approx(0.0)


def test_questions_without_an_answer_are_refused(rng):
    loss, raw, density = predicted(rng, "full", 2)
    with pytest.raises(ConfigError, match=r"q=1.0 must hold levels between 0 and 1"):
        density.quantiles(1.0)
    with pytest.raises(ShapeError, match=r"y has shape \(2, 2\); 3 densities of 2 columns take \(..., 3, 2\)"):
        density.log_density(np.zeros((2, 2)))
    with pytest.raises(ShapeError, match=r"raw has shape \(3, 17\), which is not a possible shape of the outputs"):
        loss.distribution(raw[:, :17])


def test_a_spread_that_overflows_is_infinite():
    """Far from all training rows, the exponential of an output of the net may round to 0."""
    density = GaussianMixture(np.ones((1, 1)), np.zeros((1, 1, 2)), np.zeros((1, 1, 2, 2)))
    with np.errstate(over="ignore"):
        assert np.isinf(density.spreads()).all()
