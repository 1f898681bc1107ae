"""A whole training step written in NumPy: what planning is made for."""

from __future__ import annotations

import itertools

import numpy as np

import madaline as md


def net(params, x):
    for W, b in params[:-1]:
        x = np.maximum(x @ W + b, 0.0)
    W, b = params[-1]
    return x @ W + b


def cross_entropy(params, x, y):
    z = net(params, x)
    return np.mean(md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], axis=1)[:, 0])


def adam_step(params, m, v, x, y, t):
    """One training step of a net: loss, gradient, update."""
    value, slopes = md.value_and_grad(cross_entropy)(params, x, y)
    new = []
    for layer in zip(params, slopes, m, v, strict=True):
        row = []
        for w, g, m1, v1 in zip(*layer, strict=True):
            m2, v2 = 0.9 * m1 + 0.1 * g, 0.999 * v1 + 0.001 * g * g
            row.append((w - 1e-3 * (m2 / (1 - 0.9**t)) / (np.sqrt(v2 / (1 - 0.999**t)) + 1e-8), m2, v2))
        new.append(tuple(row))
    return value, new


def adam_arguments(sizes=(20, 64, 64, 64, 10), n_rows=200):
    rng = np.random.default_rng(0)
    params = [
        (rng.normal(size=(a, b)).astype(np.float32) / np.float32(a) ** 0.5, np.zeros(b, np.float32))
        for a, b in itertools.pairwise(sizes)
    ]
    zeros = [tuple(np.zeros_like(w) for w in layer) for layer in params]
    x = rng.normal(size=(n_rows, sizes[0])).astype(np.float32)
    return params, zeros, zeros, x, rng.integers(0, sizes[-1], size=n_rows), 1.0
