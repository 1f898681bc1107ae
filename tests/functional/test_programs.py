"""Programs as NumPy users write them: value, gradient and curvature against central differences of NumPy itself."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import madaline as md
from functional.programs import PROGRAMS

each_program = pytest.mark.parametrize(
    ("program", "x"), PROGRAMS.items(), ids=lambda item: getattr(item, "__name__", "")
)


def central(f, x, step=1e-4):
    """Differences of order four along every element, the elements of ``x`` as last axis."""
    columns = []
    for unit in np.eye(np.size(x)).reshape(-1, *np.shape(x)) * step:
        near, far = f(x + unit) - f(x - unit), f(x + 2 * unit) - f(x - 2 * unit)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=-1)


def test_there_are_forty_of_them():
    assert len(PROGRAMS) >= 40


@each_program
def test_the_gradient_agrees_with_central_differences(program, x):
    f = functools.partial(program, np)
    value, slope = md.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-10)
    expected = central(f, x).reshape(np.shape(x))
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(slope, expected, rtol=1e-7, atol=1e-8 * scale)
    np.testing.assert_allclose(md.compile(md.grad(f))(x), slope, rtol=1e-9, atol=1e-11 * scale)


@each_program
def test_the_curvature_agrees_with_differences_of_the_gradient(program, x):
    f = functools.partial(program, np)
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    found, step = md.hvp(f, (x,), (v,)), 1e-5
    expected = (md.grad(f)(x + step * v) - md.grad(f)(x - step * v)) / (2 * step)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * scale)


@each_program
def test_float32_is_close_to_float64(program, x):
    f = functools.partial(program, np)
    slope = md.grad(f)(np.asarray(x, dtype=np.float32))
    assert slope.dtype == np.float32
    exact = md.grad(f)(x)
    scale = max(1.0, float(np.abs(exact).max()))
    np.testing.assert_allclose(slope, exact, rtol=2e-2, atol=2e-3 * scale)
