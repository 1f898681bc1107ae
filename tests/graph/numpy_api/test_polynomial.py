"""NumPy's polynomials on traced values."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ShapeError, TraceError

rng = np.random.default_rng(17)


def normal(*shape):
    return rng.normal(size=shape)


A, P, Q = normal(3, 4), normal(4), normal(2)
SINGLE = normal(4).astype(np.float32)
T = np.linspace(-1.0, 1.5, 7)

EXAMPLES = {
    np.polyval: [
        (lambda x: np.polyval([1.0, -2.0, 0.5], x), A),
        (lambda c: np.polyval(c, 0.7), P),
        (np.polyval, normal(3), A),
        (lambda x: np.polyval([2, 1], x), SINGLE),
    ],
    np.polyder: [(np.polyder, P), (lambda p: np.polyder(p, 2), P), (lambda p: np.polyder(p, m=0), P)],
    np.polyint: [
        (np.polyint, P),
        (lambda p: np.polyint(p, 2, [0.5, -1.0]), P),
        (lambda p: np.polyint(p, k=3.0), P),
    ],
    np.polyadd: [(np.polyadd, P, Q), (lambda p: np.polyadd([1.0, 2.0, 3.0, 4.0, 5.0], p), P)],
    np.polysub: [(np.polysub, P, Q), (lambda p: np.polysub(Q, p), P)],
    np.polymul: [(np.polymul, P, Q), (lambda p: np.polymul(p, 2.0), P)],
    np.polyfit: [
        (lambda y: np.polyfit(T, y, 2), normal(7)),
        (lambda x, y: np.polyfit(x, y, 1), T, normal(7)),
        (lambda y: np.polyfit(T, y, deg=1), normal(7, 3)),
        (lambda y, w: np.polyfit(T, y, 2, w=w), normal(7), rng.uniform(0.5, 2.0, size=7)),
        (lambda y, w: np.polyfit(T, y, 1, w=w), normal(7, 2), rng.uniform(0.5, 2.0, size=7)),
    ],
}


def test_value(example, ask):
    ask.value(example)


def test_program(example, ask):
    ask.program(example)


def test_derivative(smooth_example, ask):
    ask.derivative(smooth_example)


def test_curvature(smooth_example, ask):
    ask.curvature(smooth_example)


def test_every_function_has_an_example(without_example):
    assert without_example("madaline.graph.numpy_api.polynomial") == []


def test_a_fit_gives_coefficients_only():
    with pytest.raises(TraceError, match="gives coefficients only"):
        md.grad(lambda y: np.polyfit(T, y, 1, cov=True)[0].sum())(T)
    with pytest.raises(ShapeError, match=r"not \(7,\), \(3,\)"):
        md.grad(lambda y: np.polyfit(T, y, 1).sum())(np.ones(3))
