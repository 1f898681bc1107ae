"""Programs that use what is around NumPy: SciPy, dataclasses, dicts of lists, recursion with a cache, permutations.

Each takes its argument only and is called several times at different points, as in a training loop.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

import madaline as md

rng = np.random.default_rng(3)


def sinkhorn(C):
    K, u = np.exp(-C / 0.3), np.ones(4)
    for _ in range(30):
        v = 1.0 / (K.T @ u)
        u = 1.0 / (K @ v)
    return np.sum(u[:, None] * K * v * C)


def polygon_area(p):
    order = np.argsort(np.arctan2(p[:, 1] - p[:, 1].mean(), p[:, 0] - p[:, 0].mean()))
    x, y = p[order].T
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def epidemic(p):
    beta, gamma, infected = p
    s, i, r = 1 - infected, infected, 0.0
    history = []
    for _ in range(40):
        new, recovered = beta * s * i, gamma * i
        s, i, r = s - new, i + new - recovered, r + recovered
        history.append(i)
    return np.max(np.stack(history)) + r**2


def haar_shrinkage(x):
    x = x.reshape(3, 4)
    a, d = (x[:, ::2] + x[:, 1::2]) / np.sqrt(2), (x[:, ::2] - x[:, 1::2]) / np.sqrt(2)
    d = np.sign(d) * np.maximum(np.abs(d) - 0.2, 0)
    out = np.empty_like(x)
    out[:, ::2], out[:, 1::2] = (a + d) / np.sqrt(2), (a - d) / np.sqrt(2)
    return np.sum((out - np.arange(12.0).reshape(3, 4) / 5) ** 2)


def page_rank(w):
    G = np.zeros((5, 5))
    G[np.arange(5), (np.arange(5) + 1) % 5] = G[0, 2] = G[3, 1] = 1
    A = G * w[:, None] + 0.05
    A /= A.sum(axis=1, keepdims=True)
    r = np.full(5, 0.2)
    for _ in range(25):
        r = r @ A
    return r @ np.arange(5.0) ** 2


def slerp(v):
    start, n = np.array([1.0, 0, 0, 0]), np.linalg.norm(v)
    end = np.concatenate([[np.cos(n / 2)], np.sin(n / 2) * v / n])
    angle = np.arccos(np.clip(start @ end, -1, 1))
    steps = [
        (np.sin((1 - t) * angle) * start + np.sin(t * angle) * end) / np.sin(angle) for t in np.linspace(0.1, 0.9, 4)
    ]
    return sum(np.sum(q**3) for q in steps)


def mahalanobis_outliers(X):
    d, S = X - np.median(X, axis=0), np.cov(X.T) + 0.1 * np.eye(3)
    m = np.einsum("ij,jk,ik->i", d, np.linalg.inv(S), d)
    return np.sum(np.where(m > np.percentile(m, 60), np.sqrt(m), m))


def censored_weibull(p):
    shape, scale, extra = np.exp(p)
    t, event = np.array([0.5, 1.2, 2.2, 3.1]), np.array([1, 0, 1, 1], bool)
    seen = scipy.stats.weibull_min.logpdf(t[event], shape, scale=scale).sum()
    return -seen + np.sum((t[~event] / scale) ** shape) + extra


def smoothed_energy(x):
    return np.sum(scipy.signal.savgol_filter(x, 5, 2) ** 2) + np.sum(scipy.signal.detrend(x) ** 2)


def groups_in_a_dict(x):
    groups = collections.defaultdict(list)
    for i, value in enumerate(x):
        groups["ab"[i % 2]].append(value)
    return sum(np.std(np.stack(group)) ** 2 * len(group) for group in groups.values())


@dataclasses.dataclass
class Decay:
    """A model as people write it: parameters and a call."""

    height: float
    rate: float

    def __call__(self, x):
        return self.height * np.exp(-self.rate * x)


def dataclass_model(p):
    x = np.linspace(0, 2, 9)
    return np.trapezoid((Decay(*p)(x) - np.exp(-x)) ** 2, x)


def permanent(A):
    chosen = ([A[i, s[i]] for i in range(3)] for s in itertools.permutations(range(3)))
    return sum(functools.reduce(lambda a, b: a * b, items) for items in chosen)


def cached_recursion(p):
    @functools.cache
    def count(n, k):
        return p[k] * 1.0 if k == 0 or n == 0 else 0.5 * count(n - 1, k) + 0.4 * count(n - 1, k - 1)

    return count(6, 2) ** 2


def nearest_neighbours(X):
    d = np.linalg.norm(X[:, None] - X[None], axis=-1)
    return np.sum(np.take_along_axis(d, np.argpartition(d, 2, axis=1)[:, :3], axis=1) ** 2)


def toeplitz_determinant(x):
    T = scipy.linalg.toeplitz(x[:4], np.r_[x[0], x[4:]])
    return np.linalg.slogdet(T @ T.T + np.eye(4))[1]


def vectorized_branch(x):
    return np.sum(np.vectorize(lambda v: v**2 if v > 1 else 2 * v - 1)(x))


def filled_mask(x):
    weights = np.ma.masked_array(np.arange(5.0), [0, 1, 0, 0, 1])
    return np.sum(x * weights.filled(0.0)) + np.sum(x**2)


def adaptive_steps(k):
    y, t, h = np.array([1.0, 0.0, 0.0]), 0.0, 0.1

    def f(y):
        first, second = k[0] * y[0] - k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return md.array([-first, first - second, second])

    while t < 1 - 1e-9:
        h = min(h, 1 - t)
        a = f(y)
        b = f(y + h * a)
        if np.max(np.abs(b - a)) * h / 2 < 1e-2:
            y, t, h = y + h * (a + b) / 2, t + h, 1.3 * h
        else:
            h /= 2
    return y @ np.array([1.0, 2.0, 3.0])


def circular_mean(x):
    z = np.mean(np.exp(1j * np.angle(np.exp(1j * x))), axis=1)
    return np.sum(np.abs(z)) + np.sum(np.angle(z))


def dirichlet_multinomial(a):
    n = np.array([3, 1, 0, 2])
    gammaln = scipy.special.gammaln
    return gammaln(a.sum()) - gammaln(a.sum() + n.sum()) + np.sum(gammaln(a + n) - gammaln(a))


def blocks(x):
    A, B = np.meshgrid(x[:3], x[3:6])
    M = np.block([[A, B], [B.T, A.T]])
    return np.trace(M @ M.T) + np.linalg.norm(M[:, :3], axis=0).max() + np.ptp(np.diagonal(M))


PROGRAMS = {
    sinkhorn: rng.uniform(0.5, 1.5, size=(4, 4)),
    polygon_area: rng.normal(size=(6, 2)),
    epidemic: np.array([0.6, 0.2, 0.1]),
    haar_shrinkage: rng.normal(size=12),
    page_rank: rng.uniform(0.2, 1.0, size=5),
    slerp: np.array([0.3, 0.5, -0.2]),
    mahalanobis_outliers: rng.normal(size=(5, 3)),
    censored_weibull: np.array([1.1, 0.4, 2.0]),
    smoothed_energy: rng.normal(size=8),
    groups_in_a_dict: rng.normal(size=6),
    dataclass_model: np.array([0.5, 1.5]),
    permanent: rng.normal(size=(3, 3)),
    cached_recursion: np.array([0.2, 0.3, 0.4]),
    nearest_neighbours: rng.normal(size=(5, 2)),
    toeplitz_determinant: rng.normal(size=7),
    vectorized_branch: rng.uniform(0.5, 2.0, size=(2, 3)),
    filled_mask: rng.normal(size=5),
    adaptive_steps: rng.uniform(1.0, 2.0, size=3),
    circular_mean: rng.normal(size=(2, 5)),
    dirichlet_multinomial: rng.uniform(0.2, 1.0, size=4),
    blocks: rng.normal(size=9),
}
"""Every program with the first point at which it is differentiated."""
