"""Scaling, compared with scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import preprocessing

from madaline.data.scale import centre_and_scale, smooth_clip, smooth_unclip
from madaline.errors import ConfigError

SCALERS = {  # B10
    "centre": preprocessing.StandardScaler(with_std=False),
    "standard": preprocessing.StandardScaler(),
    "minmax": preprocessing.MinMaxScaler(),
    "symmetric": preprocessing.MinMaxScaler((-1, 1)),  # N12
    "robust": preprocessing.RobustScaler(),
}


@pytest.mark.parametrize("how", SCALERS)
def test_scikit_learn_scales_the_same(how, rng):  # B10, N12
    X = rng.normal(3.0, [1e-3, 1.0, 1e4], (100, 3))
    centre, scale = centre_and_scale(X, how)
    np.testing.assert_allclose((X - centre) / scale, SCALERS[how].fit_transform(X), rtol=1e-9, atol=1e-9)
    for column in range(3):
        one = centre_and_scale(X[:, column], how)
        np.testing.assert_allclose([one[0], one[1]], [centre[column], scale[column]])


@pytest.mark.parametrize("how", ["none", *SCALERS])
def test_a_column_that_does_not_vary_is_only_centred(how):
    centre, scale = centre_and_scale(np.full((7, 1), 0.1), how)
    assert scale == 1.0
    assert 0.1 - centre == (0.1 if how == "none" else 0.0)


def test_equal_quartiles_give_way_to_half_the_range():
    centre, scale = centre_and_scale(np.array([0.0] * 9 + [5.0]), "robust")
    assert (centre, scale) == (0.0, 2.5)


def test_clipping_leaves_small_numbers_alone_and_comes_back():
    x = np.array([-50.0, -1.0, 0.0, 1e-3, 2.0, 50.0])
    y = smooth_clip(x)
    np.testing.assert_allclose(y, x / np.sqrt(1 + (x / 3) ** 2))
    np.testing.assert_allclose(smooth_unclip(y), x)
    assert smooth_clip(np.array([np.inf])) == 3.0
    assert np.isinf(smooth_unclip(np.array([3.0])))


def test_a_scaling_that_is_not_known_is_named():
    with pytest.raises(ConfigError, match=r"scaling='zscore' is not known. Known: none, centre"):
        centre_and_scale(np.ones(3), "zscore")
