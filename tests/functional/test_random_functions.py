"""Random smooth functions, written as NumPy programs: first and second derivatives against central differences.

The points are zeros, ties and small integers, where a rule that is right almost everywhere can be wrong. Values are
shared between several joins, and polynomials hold constants.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import madaline as md

SIZE = 3
WEIGHTS = np.array([0.5, -1.0, 2.0])


def log_add(a, b, add=np.logaddexp):
    """``np.array`` of traced values is an array of objects, which these functions of NumPy do not take."""
    return add(md.array(a), md.array(b))


UNARY = {
    "tanh": np.tanh,
    "sin": np.sin,
    "sinc": np.sinc,
    "softplus": lambda a: log_add(0.0, a),
    "arctan": np.arctan,
    "square": np.square,
    "cubic": lambda a: 2.0 * a**2 + 3.0 * a**3 - 1.0,
    "powers": lambda a: a**4 - a**2 + 2.0,
    "gaussian": lambda a: np.exp(-(a**2)),
    "reversed": lambda a: a[::-1],
    "shifted": lambda a: np.roll(a, 1),
    "cumulated": lambda a: np.cumsum(a) / 2.0,
}
BINARY = {
    "add": np.add,
    "multiply": np.multiply,
    "logaddexp": log_add,
    "logaddexp2": lambda a, b: log_add(a, b, np.logaddexp2),
    "divide": lambda a, b: a / (2.0 + np.cos(b)),
    "weighted": lambda a, b: WEIGHTS * a - 0.25 * b,
    "joined": lambda a, b: np.concatenate([a, b])[1:-2],
    "listed": lambda a, b: np.array([a[0], b[1], a[-1] * b[0]]),
    "interleaved": lambda a, b: np.stack([a, b], axis=1).ravel()[:SIZE],
}


class RandomFunction:
    """A function of one vector, the same at every call: ``steps`` name what is applied to which earlier values."""

    def __init__(self, steps, joins):
        self.steps, self.joins = steps, joins

    def __call__(self, x):
        values = [x]
        for name, first, second in self.steps:
            a, b = values[first % len(values)], values[second % len(values)]
            values.append(UNARY[name](a) if name in UNARY else BINARY[name](a, b))
        total = np.mean(values[-1] ** 2)
        for left, right in self.joins:
            pair = values[left % len(values)], values[right % len(values)]
            total = total + 0.1 * np.concatenate(pair) @ np.concatenate(pair[::-1])
        return total

    def __repr__(self):
        return f"RandomFunction({self.steps!r}, {self.joins!r})"


INDEX = st.integers(0, 7)
FUNCTIONS = st.builds(
    RandomFunction,
    st.lists(st.tuples(st.sampled_from([*UNARY, *BINARY]), INDEX, INDEX), min_size=1, max_size=6),
    st.lists(st.tuples(INDEX, INDEX), max_size=3),
)
POINTS = st.lists(st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 2.0]), min_size=SIZE, max_size=SIZE).map(np.array)


def central(f, x, step):
    """Differences of order four along every axis, the axis of ``x`` last."""
    columns = []
    for unit in np.eye(SIZE) * step:
        near, far = f(x + unit) - f(x - unit), f(x + 2 * unit) - f(x - 2 * unit)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=-1)


def assert_close(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * scale)


@settings(max_examples=60, deadline=None)
@given(FUNCTIONS, POINTS)
def test_first_and_second_derivatives_agree_with_differences(f, x):
    with np.errstate(over="ignore", invalid="ignore"):
        reach = [abs(f(x + move)) for move in (0.0, 1e-2, -1e-2)]
    if not max(reach) < 1e4:
        return
    scale = max(1.0, *reach)
    slope = md.grad(f)(x)
    assert_close(slope, central(f, x, 1e-3), scale)
    scale = max(scale, *np.abs(slope))
    curvature = md.hessian(f)(x)
    assert_close(curvature, central(md.grad(f), x, 1e-3), scale)
    assert_close(md.jacobian(md.grad(f), mode="reverse")(x), curvature, scale)
    assert_close(md.compile(md.hessian(f))(x), curvature, scale)
    assert_close(md.hvp(f, (x,), (WEIGHTS,)), curvature @ WEIGHTS, scale)
