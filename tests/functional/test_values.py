"""Outside ``md.compile`` the arguments are known numbers: Python may branch on them, and masks may choose."""

from __future__ import annotations

import math

import numpy as np
import pytest

import madaline as md
from madaline.errors import TraceError

X = np.array([0.3, -1.2, 2.5, 0.9])


def newton(x):
    y = x[0]
    while abs(y * y - x[2]) > 1e-12:
        y = 0.5 * (y + x[2] / y)
    return y


def branches(x):
    total = 0.0
    for item in x:
        if item > 0 and item < 2:
            total += item**2
        elif not item > -2:
            total -= 100.0 * item
        else:
            total -= item
    return total


def chosen_by_mask(x):
    return np.sum(x[x > 0] ** 3) + np.mean(x[~(x > 0)]) * x[np.abs(x) > 1].size


def sorted_by_python(x):
    a, b, *_ = sorted(x)
    return a * b + max(x) * min(x) + max(x[0], x[3], x[2]) * 2.0


def steps(x):
    n = int(x[2] * 2.1)
    return sum(x[k % 4] ** k for k in range(n)) + math.floor(x[3] + 5.0) * x[0] + round(x[2] + 0.2) * x[1]


def index_from_a_table(x):
    table = np.array([1.0, 10.0, 100.0, 1000.0])
    return table[np.argmax(x)] * np.sum(x * table[np.argsort(x)]) + np.sum(table[x > 0]) * x[1]


def positions(x):
    (index,) = np.nonzero(x > 0.5)
    first = np.flatnonzero(x < 0)[0]
    return np.sum(x[index]) * x[first] + np.sum(np.where(x > 0)[0] * x[x > 0]) + np.argwhere(x > 2)[0, 0] * x[0]


def entries(x):
    return np.sum(np.compress(x > 0, x)) * np.sum(np.extract(x < 1, x)) + np.sum(np.unique(x) * np.arange(4.0))


def counted(x):
    counts, edges = np.histogram(x, bins=3)
    weighted, _ = np.histogram([0.0, 1.0, 1.5, 2.0], bins=2, weights=x)
    return (
        np.sum(counts * x[:3]) + np.sum(weighted**2) + np.sum(np.bincount([0, 1, 1, 3], weights=x) ** 2) + edges[0] * 0
    )


def bisection(x):
    low, high = 0.0 * x[0], x[2]
    for _ in range(30):
        middle = 0.5 * (low + high)
        if middle**3 - x[2] > 0:
            high = middle
        else:
            low = middle
    return high * x[0]


def contained(x):
    return (x[0] if 0.3 in np.round(x, 1) else x[1]) * (1.0 if bool(np.all(x < 3)) else 0.0) + (
        x[2] if np.any(x > 2) else 0.0
    )


def chained(x):
    return x[1] if 0.0 < x[0] < 1.0 else x[2]


FUNCTIONS = [
    newton,
    branches,
    chosen_by_mask,
    sorted_by_python,
    steps,
    index_from_a_table,
    positions,
    entries,
    counted,
    bisection,
    contained,
    chained,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_gradient_is_that_of_the_path_taken(f):
    value, slope = md.value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-12)
    step = 1e-6
    differences = [(f(X + step * unit) - f(X - step * unit)) / (2 * step) for unit in np.eye(4)]
    if f is not bisection:  # whose value moves in jumps
        np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-8)
    assert md.jvp(f, (X,), (X,))[1] == pytest.approx(slope @ X, rel=1e-12)
    value, pullback = md.vjp(f, X)
    np.testing.assert_allclose(pullback(1.0)[0], slope)


@pytest.mark.parametrize("f", [newton, branches, chosen_by_mask, sorted_by_python], ids=lambda f: f.__name__)
def test_second_derivatives_follow_the_same_path(f):
    np.testing.assert_allclose(
        md.hessian(f)(X), [md.hvp(f, (X,), (unit,)) for unit in np.eye(4)], rtol=1e-12, atol=1e-14
    )
    assert md.check_gradient(md.grad(f), X)


def test_each_call_takes_its_own_path():
    slope = md.grad(lambda x: x**2 if x > 1 else 3.0 * x)
    assert [float(slope(x)) for x in (0.5, 2.0, 0.25, 3.0)] == [3.0, 4.0, 3.0, 6.0]


def test_integers_and_masks_may_become_plain_arrays():
    def f(x):
        order = np.asarray(np.argsort(x))
        mask = np.array(x > 0)
        assert isinstance(order, np.ndarray)
        assert mask.tolist() == (X > 0).tolist()
        assert (x > 0).tolist() == mask.tolist()
        return np.sum(x[order][:2]) + np.argmax(x).item() * x[0]

    assert md.grad(f)(X).tolist() == [3.0, 1.0, 0.0, 0.0]


def test_a_number_can_be_printed_but_not_lost():
    seen = []
    md.grad(lambda x: seen.append(f"{x[0]:.2f}") or np.sum(x))(X)
    assert seen == ["0.30"]
    for lose in (
        float,
        math.exp,
        lambda x: x.item(),
        np.float64,
        lambda x: 2.0 ** complex(x),
    ):
        with pytest.raises(TraceError, match="is a traced value"):
            md.grad(lambda x, lose=lose: lose(x[0]) * x[1])(X)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (branches, "cannot branch on it"),
        (newton, "cannot branch on it"),
        (chosen_by_mask, "which md.compile does not know"),
        (positions, "which md.compile does not know"),
        (steps, "cannot become a Python number"),
    ],
)
def test_inside_compile_values_are_not_known(f, text):
    for transformed in (md.compile(f), md.compile(md.grad(f))):
        with pytest.raises(TraceError, match=text):
            transformed(X)
    with pytest.raises(TraceError, match=text):
        md.vmap(f)(np.stack([X, X]))
    with pytest.raises(TraceError, match=text):
        md.trace(f, X)


def test_values_of_an_outer_trace_are_known_inside():
    def f(x):
        inner = md.grad(lambda z: z * x[0] if z > x[1] else z * x[2])(x[3])
        return inner * x[3] if inner > 0 else inner

    assert md.check_gradient(f, X)
    assert md.grad(f)(X).tolist() == [0.9, 0.0, 0.0, 0.3]


def test_arrays_of_traced_numbers():
    def rotated(p):
        c, s = np.cos(p[0]), np.sin(p[0])
        return md.array([[c, -s], [s, c]]) @ md.array([p[1], 2.0])

    p = np.array([0.3, 1.5])
    np.testing.assert_allclose(md.jvp(rotated, (p,), (p,))[0], rotated(p))
    assert md.check_gradient(rotated, p)
    assert md.array([1, 2]).dtype == np.int64
    assert md.array([[1.0, 2.0]], dtype="float32").dtype == np.float32
    assert md.zeros((2, 3)).shape == (2, 3)
    assert isinstance(md.zeros(2), np.ndarray)


def test_an_array_made_of_a_plain_one_can_be_written():
    def f(x):
        y = md.array(np.ones(3))
        y[1] = x
        z = md.zeros((2, 2))
        z[0] += y[:2] * x
        return np.sum(y) + np.sum(z)

    assert md.grad(f)(3.0) == 1.0 + 1.0 + 6.0
