"""Programs around NumPy, at several points one after the other: against central differences and forward mode."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from functional.further_programs import PROGRAMS
from functional.test_programs import central

each_program = pytest.mark.parametrize(
    ("program", "x"), PROGRAMS.items(), ids=lambda item: getattr(item, "__name__", "")
)


@each_program
def test_gradients_at_several_points_agree_with_central_differences(program, x):
    gradient = md.value_and_grad(program)
    for point in (x, 1.07 * x, x[::-1].copy(), x):
        value, slope = gradient(point)
        assert value == pytest.approx(program(point), rel=1e-10)
        expected = central(program, point).reshape(np.shape(point))
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(slope, expected, rtol=2e-6, atol=2e-7 * scale)


@each_program
def test_forward_mode_agrees_with_reverse_mode(program, x):
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    assert md.jvp(program, (x,), (v,))[1] == pytest.approx(np.sum(md.grad(program)(x) * v), rel=1e-8, abs=1e-9)
