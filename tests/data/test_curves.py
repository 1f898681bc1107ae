"""Functions to fit."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.data.curves import CURVES


@pytest.mark.parametrize("name", CURVES.names())
def test_rows_are_drawn_by_the_generator_alone(name):
    X, y = CURVES[name](50, np.random.default_rng(3))
    again = CURVES[name](50, np.random.default_rng(3))
    assert X.shape in ((50, 1), (50, 2))
    assert y.shape == (50,)
    assert (again[0] == X).all()
    assert (y == again[1]).all()
    assert np.abs(y).max() > 0.1


def test_the_valley_is_a_hundred_times_flatter_along_one_direction():
    X, _ = CURVES["valley"](20_000, np.random.default_rng(0))
    assert np.linalg.cond(X.T @ X) == pytest.approx(100, rel=0.1)
