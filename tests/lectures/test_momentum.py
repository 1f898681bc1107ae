"""Momentum in the lectures' forms (rows A10, A11) and what their pictures of descent show (rows E10, E20)."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.optim.adam import Adam
from madaline.optim.sgd import SGD

CURVATURE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 4.0]])
START = np.array([1.0, -2.0, 0.5])
STEPS = 60


def loss(w):
    """A bowl with ripples: nothing here depends on the function being quadratic."""
    return 0.5 * w @ CURVATURE @ w + np.sum(np.cos(2.0 * w))


slope = md.compile(md.grad(loss))

CONSTANT = (np.full(STEPS, 0.05), np.full(STEPS, 0.8))
VARYING = (0.1 / np.sqrt(1.0 + np.arange(STEPS)), 1.0 - 1.0 / (2.0 + np.arange(STEPS)))
coefficients = pytest.mark.parametrize(
    ("eta", "beta"), [pytest.param(*CONSTANT, id="constant"), pytest.param(*VARYING, id="varying")]
)


# A10: Polyak's momentum


def heavy_ball(eta, beta):
    """w_{t+1} = w_t - eta_t g(w_t) + beta_t (w_t - w_{t-1})."""
    path, last = [START], START
    for eta_t, beta_t in zip(eta, beta, strict=True):
        w = path[-1]
        path.append(w - eta_t * slope(w) + beta_t * (w - last))
        last = w
    return np.array(path)


def extrapolation(eta, beta):
    """w_{t+1} = (1 + beta_t) w_t - beta_t w_{t-1} - eta_t g(w_t)."""
    path, last = [START], START
    for eta_t, beta_t in zip(eta, beta, strict=True):
        w = path[-1]
        path.append((1 + beta_t) * w - beta_t * last - eta_t * slope(w))
        last = w
    return np.array(path)


def velocity(eta, beta):
    """v_{t+1} = beta_t v_t + eta_t g(w_t), the step w_t - w_{t+1}."""
    path, v = [START], np.zeros(3)
    for eta_t, beta_t in zip(eta, beta, strict=True):
        v = beta_t * v + eta_t * slope(path[-1])
        path.append(path[-1] - v)
    return np.array(path)


def gradient_averaging(eta, beta):
    """v_{t+1} = (1 - gamma_t) v_t + gamma_t g(w_t), w_{t+1} = w_t - alpha_t v_{t+1}."""
    path, v, alpha = [START], np.zeros(3), 0.0
    for eta_t, beta_t in zip(eta, beta, strict=True):
        alpha = alpha * beta_t + eta_t
        gamma = eta_t / alpha
        assert 0 <= gamma <= 1
        v = (1 - gamma) * v + gamma * slope(path[-1])
        path.append(path[-1] - alpha * v)
    return np.array(path)


def descend(rule, *, rates=None, start=START, steps=STEPS, gradient=slope):
    path, slots = [start], rule.state(start)
    for t in range(1, steps + 1):
        w, slots = rule.step(path[-1], gradient(path[-1]), slots, t=t, lr=None if rates is None else rates[t - 1])
        path.append(w)
    return np.array(path)


@coefficients
@pytest.mark.parametrize("form", [extrapolation, velocity, gradient_averaging])
def test_a10_the_forms_of_polyaks_momentum_are_equal(form, eta, beta):  # A10
    np.testing.assert_allclose(form(eta, beta), heavy_ball(eta, beta), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", [heavy_ball, velocity, gradient_averaging])
def test_a10_our_sgd_is_all_of_them_at_a_constant_rate(form):  # A10
    np.testing.assert_allclose(descend(SGD(0.05, momentum=0.8)), form(*CONSTANT), rtol=1e-10, atol=1e-12)


def test_a10_our_sgd_takes_coefficients_that_vary():  # A10
    eta, beta = CONSTANT[0], VARYING[1]
    ours = descend(SGD(0.05, momentum=lambda t: 1.0 - 1.0 / (1.0 + t)))
    np.testing.assert_allclose(ours, heavy_ball(eta, beta), rtol=1e-10, atol=1e-12)


def test_a10_with_a_schedule_our_sgd_is_the_heavy_ball_whose_coefficient_follows_the_rate():  # A10
    """The rate stands outside of the velocity, as in PyTorch: beta_t = momentum * eta_t / eta_{t-1}."""
    eta = VARYING[0]
    beta = 0.8 * eta / np.concatenate([eta[:1], eta[:-1]])
    ours = descend(SGD(0.05, momentum=0.8), rates=eta)
    np.testing.assert_allclose(ours, heavy_ball(eta, beta), rtol=1e-10, atol=1e-12)
    assert np.abs(ours - heavy_ball(eta, np.full(STEPS, 0.8))).max() > 1e-3


# A11: Nesterov's momentum


def nesterov(eta, beta):
    """w_{t+1} = z_t - eta_t g(z_t), z_{t+1} = w_{t+1} + beta_t (w_{t+1} - w_t)."""
    w, z, path, ahead = START, START, [START], [START]
    for eta_t, beta_t in zip(eta, beta, strict=True):
        after = z - eta_t * slope(z)
        w, z = after, after + beta_t * (after - w)
        path.append(w)
        ahead.append(z)
    return np.array(path), np.array(ahead)


def nesterov_steps(eta, beta):
    """w_{t+1} = w_t - eta_t g(z_t) + beta_{t-1} (w_t - w_{t-1}), the same z."""
    path, last, z, before = [START], START, START, 0.0
    for eta_t, beta_t in zip(eta, beta, strict=True):
        w = path[-1]
        after = w - eta_t * slope(z) + before * (w - last)
        z, last, before = after + beta_t * (after - w), w, beta_t
        path.append(after)
    return np.array(path)


def nesterov_velocity(eta, beta):
    """v_{t+1} = beta_{t-1} v_t + eta_t g(w_t - beta_{t-1} v_t)."""
    path, v, before = [START], np.zeros(3), 0.0
    for eta_t, beta_t in zip(eta, beta, strict=True):
        v = before * v + eta_t * slope(path[-1] - before * v)
        path.append(path[-1] - v)
        before = beta_t
    return np.array(path)


def nesterov_averaging(eta, beta):
    """v_{t+1} = (1 - gamma_t) v_t + gamma_t g(w_t - alpha_t (1 - gamma_t) v_t), w_{t+1} = w_t - alpha_t v_{t+1}."""
    path, v, alpha, before = [START], np.zeros(3), 0.0, 0.0
    for eta_t, beta_t in zip(eta, beta, strict=True):
        alpha = alpha * before + eta_t
        gamma = eta_t / alpha
        z = path[-1] - alpha * (1 - gamma) * v
        v = (1 - gamma) * v + gamma * slope(z)
        path.append(path[-1] - alpha * v)
        before = beta_t
    return np.array(path)


@coefficients
@pytest.mark.parametrize("form", [nesterov_steps, nesterov_velocity, nesterov_averaging])
def test_a11_the_forms_of_nesterovs_momentum_are_equal(form, eta, beta):  # A11
    np.testing.assert_allclose(form(eta, beta), nesterov(eta, beta)[0], rtol=1e-10, atol=1e-12)


def test_a11_our_sgd_walks_the_points_looked_ahead_to():  # A11
    ours = descend(SGD(0.05, momentum=0.8, nesterov=True))
    np.testing.assert_allclose(ours, nesterov(*CONSTANT)[1], rtol=1e-10, atol=1e-12)


def test_a11_our_sgd_takes_coefficients_that_vary():  # A11
    eta, beta = CONSTANT[0], VARYING[1]
    ours = descend(SGD(0.05, momentum=lambda t: 1.0 - 1.0 / (1.0 + t), nesterov=True))
    np.testing.assert_allclose(ours, nesterov(eta, beta)[1], rtol=1e-10, atol=1e-12)


def test_nesterov_and_polyak_are_not_the_same():  # A11
    assert np.abs(nesterov(*CONSTANT)[0] - heavy_ball(*CONSTANT)).max() > 0.01


# E20: descent minimises a local quadratic model


def test_e20_the_step_is_the_minimum_of_the_local_quadratic_model():  # E20
    eta = 0.05
    step = descend(SGD(eta), steps=1)[1] - START

    def model(e):
        return loss(START) + e @ slope(START) + np.sum(e * e) / (2 * eta)

    np.testing.assert_allclose(md.grad(model)(step), 0.0, atol=1e-12)
    assert model(step) < min(model(0.9 * step), model(1.1 * step))


# E10: the pictures. The deck prints rates and no functions; these have the pictures' shape.


def two_wells(w):
    """A local minimum near 1 and the global one near -1, a barrier between."""
    return np.sum(w**4 / 4 - w**2 / 2 + 0.2 * w)


def wells(start, rule, steps=300):
    return descend(rule, start=np.array([start]), steps=steps, gradient=md.compile(md.grad(two_wells)))[:, 0]


def test_e10_descent_finds_the_minimum_of_the_basin_it_starts_in():  # E10
    roots = np.roots([1.0, 0.0, -1.0, 0.2]).real
    assert wells(-1.8, SGD(0.125))[-1] == pytest.approx(roots.min(), abs=1e-9)
    assert wells(1.8, SGD(0.125))[-1] == pytest.approx(roots.max(), abs=1e-9)
    assert two_wells(wells(1.8, SGD(0.125))[-1:]) > two_wells(wells(-1.8, SGD(0.125))[-1:]) + 0.3


def test_e10_too_large_a_rate_diverges():  # E10
    """On a parabola of curvature 1 the border is 2."""
    for rate, grows in ((0.125, False), (1.99, False), (2.01, True)):
        path = descend(SGD(rate), start=np.ones(1), steps=100, gradient=lambda w: w)
        assert bool(abs(path[-1, 0]) > 1) is grows


def test_e20_momentum_passes_a_barrier_that_holds_plain_descent():  # E20
    assert wells(2.0, SGD(0.05))[-1] > 0.5
    assert wells(2.0, SGD(0.05, momentum=0.9))[-1] < -0.5


VALLEY = np.array([1.0, 36.0])
"Curvatures along and across the valley."


def valley(rule, steps):
    return descend(rule, start=np.array([-8.0, 1.0]), steps=steps, gradient=lambda w: VALLEY * w)


def test_e10_in_an_anisotropic_valley_plain_descent_oscillates_across_and_crawls_along():  # E10
    """eta = 5e-2, gamma = 0."""
    path = valley(SGD(5e-2), 30)
    assert (np.diff(np.sign(path[:, 1])) != 0).all()
    np.testing.assert_allclose(path[:, 0], -8.0 * 0.95 ** np.arange(31), rtol=1e-12)


def test_e10_momentum_dampens_the_oscillation_and_is_faster_along_the_valley():  # E10
    """eta = 5e-2, gamma = 0 and 0.5."""
    plain, momentum = valley(SGD(5e-2), 40), valley(SGD(5e-2, momentum=0.5), 40)
    assert np.abs(momentum[20:, 1]).max() < 0.1 * np.abs(plain[20:, 1]).max()
    assert abs(momentum[-1, 0]) < 0.25 * abs(plain[-1, 0])


def test_e10_adam_takes_both_directions_alike():  # E10
    """eta = 0.1: it cares nothing for the curvatures, only for the distance."""
    path = descend(Adam(0.1), start=np.array([1.0, 1.0]), steps=60, gradient=lambda w: VALLEY * w)
    np.testing.assert_allclose(path[:, 0], path[:, 1], rtol=1e-6, atol=1e-6)
    far = valley(Adam(0.1), 300)
    assert np.abs(far[-1]).max() < 0.01


def spectral_radius(eta, beta, curvature):
    """How much one step of the heavy ball shrinks an error, in the long run, in a direction of this curvature."""
    return np.abs(np.roots([1.0, -(1.0 + beta - eta * curvature), beta])).max()


@pytest.mark.parametrize("beta", [0.0, 0.6, 0.8, 0.9])
def test_e10_why_momentum_really_works(beta):  # E10
    """Step size 0.003, momentum 0, 0.6, 0.8, 0.9: the error shrinks at the rate that the two eigenvalues give."""
    curvatures = np.array([4.0, 600.0])
    rule = SGD(0.003, momentum=beta)
    path = np.abs(descend(rule, start=np.ones(2), steps=600, gradient=lambda w: curvatures * w))
    for direction, curvature in enumerate(curvatures):
        early, late = path[100:200, direction].max(), path[500:, direction].max()  # the largest, since it swings
        assert (late / early) ** (1 / 400) == pytest.approx(spectral_radius(0.003, beta, curvature), rel=5e-3)


def test_e10_more_momentum_is_faster_up_to_a_point():  # E10
    slowest = {b: max(spectral_radius(0.003, b, c) for c in (4.0, 600.0)) for b in (0.0, 0.6, 0.8, 0.9)}
    assert slowest[0.0] > slowest[0.6] > slowest[0.8]
    assert slowest[0.9] > slowest[0.8]


def test_e10_momentum_allows_a_larger_range_of_step_sizes():  # E10
    """The border is 2 / curvature without and 2 (1 + beta) / curvature with momentum."""
    for beta in (0.0, 0.6, 0.9):
        border = 2 * (1 + beta) / 600.0
        for eta, grows in ((0.99 * border, False), (1.01 * border, True)):
            path = descend(SGD(eta, momentum=beta), start=np.ones(1), steps=2000, gradient=lambda w: 600.0 * w)
            assert bool(abs(path[-1, 0]) > 1) is grows
