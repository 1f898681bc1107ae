"""Programs with branches, loops, masks, arrays in place and ``np.array``: the gradient is that of the path taken."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import madaline as md
from functional.everyday_programs import PROGRAMS
from functional.test_programs import central

each_program = pytest.mark.parametrize(
    ("program", "x"), PROGRAMS.items(), ids=lambda item: getattr(item, "__name__", "")
)


def test_there_are_forty_of_them():
    assert len(PROGRAMS) >= 40


@each_program
def test_the_gradient_agrees_with_central_differences(program, x):
    f = functools.partial(program, np)
    value, slope = md.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-10)
    expected = central(f, x).reshape(np.shape(x))
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7 * scale)


@each_program
def test_forward_mode_agrees_with_reverse_mode(program, x):
    f = functools.partial(program, np)
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    assert md.jvp(f, (x,), (v,))[1] == pytest.approx(np.sum(md.grad(f)(x) * v), rel=1e-8, abs=1e-9)
