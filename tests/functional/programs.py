"""Forty programs as NumPy users write them: statistics, physics, signals, finance, nets, numerics.

Each takes the namespace it computes with (NumPy, or ``jax.numpy`` for the comparison with JAX) and its arguments.
"""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(2024)
T = np.linspace(0.0, 1.0, 9)
DATA, LABELS = rng.normal(size=(12, 3)), (rng.random(12) > 0.5).astype(float)
SERIES = np.cumsum(rng.normal(size=16)) / 4.0
PRICES = 100.0 * np.exp(np.cumsum(0.02 * rng.normal(size=(10, 3)), axis=0))


def logistic_regression(np, w):
    z = DATA @ w[:3] + w[3]
    return np.mean(np.logaddexp(0.0, z) - LABELS * z) + 0.1 * np.sum(w**2)


def softmax_regression(np, W):
    scores = DATA @ W
    scores = scores - np.max(scores, axis=1, keepdims=True)
    logs = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(12), LABELS.astype(int)])


def poisson_likelihood(np, w):
    rate = np.exp(DATA @ w)
    counts = np.arange(12.0) % 4
    return np.sum(rate - counts * np.log(rate))


def gaussian_mixture(np, p):
    weights, means, scales = p[:2] - np.log(np.sum(np.exp(p[:2]))), p[2:4], np.exp(p[4:])
    x = SERIES[:, None]
    parts = weights - 0.5 * ((x - means) / scales) ** 2 - np.log(scales)
    top = np.max(parts, axis=1)
    return -np.sum(top + np.log(np.sum(np.exp(parts - top[:, None]), axis=1)))


def gaussian_process(np, p):
    gap = T[:, None] - T
    K = np.exp(p[0]) * np.exp(-0.5 * (gap / np.exp(p[1])) ** 2) + np.exp(p[2]) * np.eye(9)
    y = np.sin(6.0 * T)
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(K)[1]


def multivariate_normal(np, p):
    L = np.eye(3) + np.tril(p.reshape(3, 3), -1) * 0.3
    precision = np.linalg.inv(L @ L.T)
    return 0.5 * np.einsum("ni,ij,nj->", DATA, precision, DATA) - 6.0 * np.log(np.linalg.det(precision))


def ridge_by_normal_equations(np, alpha):
    w = np.linalg.solve(DATA.T @ DATA + np.exp(alpha) * np.eye(3), DATA.T @ LABELS)
    return np.sum((DATA @ w - LABELS) ** 2) + np.sum(w**2)


def principal_components(np, X):
    centred = X - np.mean(X, axis=0)
    values = np.linalg.eigvalsh(centred.T @ centred)
    return values[-1] / np.sum(values)


def correlation_matrix(np, X):
    c = np.corrcoef(X.T)
    return np.sum(c[0] * c[1])


def trimmed_statistics(np, x):
    ordered = np.sort(x)
    return np.mean(ordered[2:-2]) + np.median(x) * np.std(x) + np.percentile(x, 30)


def kernel_density(np, h):
    gaps = (SERIES[:, None] - SERIES) / np.exp(h)
    density = np.mean(np.exp(-0.5 * gaps**2), axis=1) / np.exp(h)
    return np.sum(np.log(density))


def hidden_markov(np, p):
    move = np.exp(p[:4].reshape(2, 2))
    move = move / np.sum(move, axis=1, keepdims=True)
    emit = np.exp(-0.5 * (SERIES[:, None] - p[4:6]) ** 2)
    state, total = np.ones(2) / 2.0, 0.0
    for row in emit:
        state = (state @ move) * row
        total = total + np.log(np.sum(state))
        state = state / np.sum(state)
    return -total


def pendulum(np, p):
    angle, speed, energy = p[0], p[1], 0.0
    for _ in range(25):
        speed = speed - 0.05 * 9.81 / p[2] * np.sin(angle)
        angle = angle + 0.05 * speed
        energy = energy + speed**2
    return angle**2 + 0.1 * energy


def runge_kutta(np, p):
    def slope(y):
        return np.stack([p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]])

    y, h = np.stack([p[0] * 0.0 + 1.0, p[1] * 0.0 + 1.0, p[2] * 0.0 + 1.0]), 0.01
    for _ in range(10):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y**2)


def heat_equation(np, u):
    for _ in range(10):
        u = u + 0.2 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
    return np.sum(np.diff(u) ** 2) + u[3]


def lennard_jones(np, x):
    gaps = x[:, None, :] - x[None, :, :]
    square = np.sum(gaps**2, axis=-1) + np.eye(len(x))
    attraction = (1.0 / square) ** 3
    return np.sum(np.triu(attraction**2 - attraction, 1))


def n_body_energy(np, state):
    position, velocity = state[:3], state[3:]
    distance = np.sqrt(np.sum((position[:, None] - position[None]) ** 2, axis=-1) + np.eye(3))
    return 0.5 * np.sum(velocity**2) - np.sum(np.triu(1.0 / distance, 1))


def rotation(np, v):
    angle = np.sqrt(np.sum(v**2))
    axis = v / angle
    x = np.array([1.0, 2.0, 3.0])
    turned = x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * (axis @ x) * (1.0 - np.cos(angle))
    return np.sum(turned * np.array([0.3, -1.0, 0.5]))


def thin_lens_rays(np, p):
    def free(d):
        return np.stack([np.stack([d * 0.0 + 1.0, d]), np.array([0.0, 1.0])])

    def lens(f):
        return np.stack([np.array([1.0, 0.0]), np.stack([-1.0 / f, f * 0.0 + 1.0])])

    system = free(p[0]) @ lens(p[1]) @ free(p[2])
    return np.sum((system @ np.array([0.1, 0.02])) ** 2)


def planck_spectrum(np, t):
    wave = np.linspace(0.5, 3.0, 12)
    power = wave**-5.0 / np.expm1(1.0 / (wave * t))
    return np.trapezoid(power, wave) / np.max(power)


def ising_mean_field(np, p):
    m = np.tanh(p)
    for _ in range(30):
        m = np.tanh(0.3 * (np.roll(m, 1) + np.roll(m, -1)) + p)
    return np.sum(m**2)


def power_spectrum(np, x):
    spectrum = np.abs(np.fft.rfft(x * np.hanning(16))) ** 2
    share = spectrum / np.sum(spectrum)
    return -np.sum(share * np.log(share + 1e-12))


def matched_filter(np, h):
    return np.max(np.convolve(SERIES, h, mode="valid")) + np.sum(np.correlate(SERIES, h, mode="same") ** 2)


def fft_low_pass(np, x):
    keep = np.exp(-np.arange(9.0) / 3.0)
    return np.sum((np.fft.irfft(np.fft.rfft(x) * keep, 16) - x) ** 2)


def exponential_smoothing(np, p):
    alpha = 1.0 / (1.0 + np.exp(-p))
    level, loss = SERIES[0], 0.0
    for value in SERIES[1:]:
        loss = loss + (value - level) ** 2
        level = alpha * value + (1.0 - alpha) * level
    return loss


def ar_likelihood(np, p):
    past = np.stack([SERIES[1:-1], SERIES[:-2]], axis=1)
    errors = SERIES[2:] - past @ p[:2]
    return 0.5 * np.sum(errors**2) / np.exp(p[2]) + 7.0 * p[2]


def kalman_filter(np, p):
    q, r = np.exp(p[0]), np.exp(p[1])
    mean, variance, loss = 0.0, 1.0, 0.0
    for value in SERIES:
        variance = variance + q
        error, spread = value - mean, variance + r
        loss = loss + 0.5 * (error**2 / spread + np.log(spread))
        gain = variance / spread
        mean, variance = mean + gain * error, (1.0 - gain) * variance
    return loss


def total_variation(np, x):
    return 0.5 * np.sum((x - SERIES) ** 2) + np.sum(np.sqrt(np.diff(x) ** 2 + 1e-2))


def resampled(np, p):
    at = np.clip(T * p[0] + p[1], 0.05, 14.9)
    return np.sum(np.interp(at, np.arange(16.0), SERIES) ** 2)


def markowitz(np, w):
    returns = np.diff(PRICES, axis=0) / PRICES[:-1]
    weights = np.exp(w) / np.sum(np.exp(w))
    return np.sqrt(weights @ np.cov(returns.T) @ weights) - 0.5 * np.mean(returns, axis=0) @ weights


def black_scholes(np, p):
    price, strike, rate, vol = p[0], 100.0, p[1], p[2]
    d1 = (np.log(price / strike) + rate + 0.5 * vol**2) / vol
    d2 = d1 - vol

    def normal_cdf(x):
        t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
        tail = np.exp(-(x**2) / 2) * 0.3989423 * t * (0.3193815 + t * (-0.3565638 + t * (1.781478 + t * -1.821256)))
        return np.where(x > 0, 1.0 - tail, tail)

    return price * normal_cdf(d1) - strike * np.exp(-rate) * normal_cdf(d2)


def maximum_drawdown(np, r):
    value = np.cumprod(1.0 + 0.1 * r)
    peak = np.max(np.where(np.tri(16, dtype=bool), value[None, :], -1.0), axis=1)
    return np.mean(1.0 - value / peak)


def bond_price(np, y):
    times = np.arange(1.0, 11.0)
    flows = np.where(times == 10.0, 105.0, 5.0)
    return np.sum(flows / (1.0 + y) ** times)


def binomial_option(np, p):
    up, rate = np.exp(p[0]), 1.0 + p[1] / 20.0
    chance = (rate - 1.0 / up) / (up - 1.0 / up)
    value = np.maximum(100.0 * up ** np.arange(-8.0, 9.0, 2.0) - 100.0, 0.0)
    for _ in range(8):
        value = (chance * value[1:] + (1.0 - chance) * value[:-1]) / rate
    return value[0]


def two_layer_net(np, W):
    h = np.tanh(DATA @ W[:3] + W[3])
    return np.mean((h @ W[4] - LABELS) ** 2)


def layer_norm_and_gelu(np, W):
    h = DATA @ W
    h = (h - np.mean(h, axis=1, keepdims=True)) / np.sqrt(np.var(h, axis=1, keepdims=True) + 1e-5)
    return np.mean(0.5 * h * (1.0 + np.tanh(0.79788456 * (h + 0.044715 * h**3))))


def attention(np, W):
    q, k, v = DATA @ W[:3], DATA @ W[3:6], DATA @ W[6:]
    scores = q @ k.T / np.sqrt(3.0)
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return np.sum(np.square(weights / np.sum(weights, axis=1, keepdims=True) @ v))


def recurrent_net(np, W):
    h = np.zeros(3)
    for row in DATA:
        h = np.tanh(row @ W[:3] + h @ W[3:])
    return np.sum(h**2)


def convolution(np, K):
    image = np.reshape(np.sin(np.arange(36.0)), (6, 6))
    patches = np.stack([image[i : i + 4, j : j + 4] for i in range(3) for j in range(3)], axis=-1)
    return np.mean(np.maximum(patches @ np.ravel(K), 0.0) ** 2)


def contrastive_loss(np, W):
    z = DATA @ W
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    similar = z @ z.T / 0.5 - 1e3 * np.eye(12)
    partner = np.arange(12) ^ 1
    return np.mean(np.log(np.sum(np.exp(similar), axis=1)) - similar[np.arange(12), partner])


def polynomial_fit(np, x):
    A = np.vander(x, 4)
    c = np.linalg.lstsq(A, np.sin(3.0 * x), rcond=None)[0]
    return np.sum((A @ c - np.sin(3.0 * x)) ** 2) + np.sum(c**2)


def matrix_square_root(np, x):
    A = x @ x.T + np.eye(3)
    values, vectors = np.linalg.eigh(A)
    return np.sum((vectors * np.sqrt(values)) @ vectors.T * np.arange(9.0).reshape(3, 3))


def low_rank_error(np, x):
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    return np.sum((x - (u[:, :1] * s[:1]) @ vt[:1]) ** 2) + np.sum(np.abs(s))


def spline_energy(np, y):
    slope = np.gradient(y, T)
    return np.trapezoid(np.gradient(slope, T) ** 2, T) + np.sum(np.cumsum(y) ** 2)


PROGRAMS = {
    logistic_regression: np.zeros(4),
    softmax_regression: rng.normal(size=(3, 2)),
    poisson_likelihood: 0.3 * rng.normal(size=3),
    gaussian_mixture: np.array([0.1, -0.2, -0.5, 0.6, 0.0, -0.3]),
    gaussian_process: np.array([0.1, -1.0, -2.0]),
    multivariate_normal: rng.normal(size=9),
    ridge_by_normal_equations: np.float64(-0.5),
    principal_components: rng.normal(size=(6, 3)),
    correlation_matrix: rng.normal(size=(6, 3)),
    trimmed_statistics: rng.normal(size=9),
    kernel_density: np.float64(-0.4),
    hidden_markov: np.array([0.5, -0.5, -0.3, 0.8, -0.4, 0.7]),
    pendulum: np.array([0.4, 0.1, 1.2]),
    runge_kutta: np.array([10.0, 28.0, 2.6]),
    heat_equation: rng.normal(size=10),
    lennard_jones: 1.5 * np.array([[0.0, 0.1], [1.0, 0.0], [0.2, 1.1], [1.1, 1.2]]),
    n_body_energy: rng.normal(size=(6, 2)) * 2.0,
    rotation: np.array([0.3, -0.5, 0.8]),
    thin_lens_rays: np.array([1.0, 0.7, 2.0]),
    planck_spectrum: np.float64(0.8),
    ising_mean_field: 0.2 * rng.normal(size=6),
    power_spectrum: SERIES + 0.1,
    matched_filter: rng.normal(size=4),
    fft_low_pass: SERIES.copy(),
    exponential_smoothing: np.float64(0.3),
    ar_likelihood: np.array([0.5, 0.2, -0.1]),
    kalman_filter: np.array([-1.0, -0.5]),
    total_variation: SERIES + 0.1 * rng.normal(size=16),
    resampled: np.array([12.3, 0.37]),
    markowitz: np.array([0.1, -0.2, 0.3]),
    black_scholes: np.array([102.0, 0.03, 0.25]),
    maximum_drawdown: rng.normal(size=16),
    bond_price: np.float64(0.04),
    binomial_option: np.array([0.07, 0.02]),
    two_layer_net: rng.normal(size=(5, 4)),
    layer_norm_and_gelu: rng.normal(size=(3, 4)),
    attention: 0.5 * rng.normal(size=(9, 3)),
    recurrent_net: 0.5 * rng.normal(size=(6, 3)),
    convolution: rng.normal(size=(3, 3)),
    contrastive_loss: rng.normal(size=(3, 4)),
    polynomial_fit: np.linspace(-1.0, 1.0, 8) + 0.05 * rng.normal(size=8),
    matrix_square_root: rng.normal(size=(3, 3)),
    low_rank_error: rng.normal(size=(4, 3)),
    spline_energy: rng.normal(size=9),
}
"""Every program with the point at which it is differentiated."""
