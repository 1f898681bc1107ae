"""Dropout: what is special to it."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, ShapeError


def test_p_is_the_share_that_is_dropped_and_the_rest_is_scaled_up():  # C8, E15
    x = np.ones((500, 40))
    y = md.Dropout(0.3).init(40)(x, train=True)
    assert np.mean(y == 0.0) == pytest.approx(0.3, abs=0.01)
    np.testing.assert_allclose(y[y != 0.0], 1 / 0.7, rtol=1e-6)


def test_both_forms_have_the_same_expected_output_and_scale_at_different_times():  # A15, E15
    x = np.ones((2000, 20))
    inverted, original = (md.Dropout(0.4, form=form).init(20) for form in ("inverted", "original"))
    np.testing.assert_array_equal(inverted(x), x)
    np.testing.assert_allclose(original(x), 0.6 * x, rtol=1e-6)
    dropped = original(x, train=True)
    assert set(np.unique(dropped)) == {0.0, 1.0}
    assert dropped.mean() == pytest.approx(0.6, abs=0.01)
    assert inverted(x, train=True).mean() == pytest.approx(1.0, abs=0.01)


def test_masks_differ_by_row_step_seed_and_place_and_repeat_with_them():
    drop = md.Dropout(0.5)
    model = md.Sequential(drop, md.Linear(30, init="identity"), drop).init(30)
    x = np.ones((50, 30))

    def masks(**key):
        inside = model.activations(x, train=True, **key)
        return inside["0"] != 0.0, inside["2"] != 0.0

    first, second = masks(seed=1, step=1)
    np.testing.assert_array_equal(masks(seed=1, step=1)[0], first)
    for other in (second, masks(seed=2, step=1)[0], masks(seed=1, step=2)[0]):
        assert 0.4 < np.mean(other == first) < 0.9
    assert len(np.unique(first, axis=0)) == 50


def test_a_row_has_the_same_mask_in_a_larger_batch():
    model = md.Dropout(0.5).init(10)
    x = np.ones((300, 10))
    np.testing.assert_array_equal(model(x[:7], train=True), model(x, train=True)[:7])


def test_spatial_dropout_drops_whole_channels():  # E16
    y = md.nn.SpatialDropout(0.5).init((8, 3, 3))(np.ones((40, 8, 3, 3)), train=True)
    channels = y.reshape(40, 8, 9)
    assert (channels.min(axis=2) == channels.max(axis=2)).all()
    assert 0.4 < np.mean(channels[..., 0] == 0.0) < 0.6
    with pytest.raises(ShapeError, match=r"SpatialDropout needs inputs of shape \(rows, channels, positions \.\.\.\)"):
        md.nn.SpatialDropout(0.5).init(8)


def test_everything_or_nothing_can_be_dropped():
    x = np.ones((4, 3))
    np.testing.assert_array_equal(md.Dropout(1.0).init(3)(x, train=True), 0.0 * x)
    np.testing.assert_array_equal(md.Dropout(0.0).init(3)(x, train=True), x)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), "0.5"])
def test_p_outside_of_0_to_1_is_refused(p):
    with pytest.raises(ConfigError, match=rf"Dropout: p={p!r} must be a number in \[0, 1\]"):
        md.Dropout(p)


def test_an_unknown_form_is_refused():
    with pytest.raises(ConfigError, match="Dropout: form='invert' must be 'inverted' or 'original'"):
        md.Dropout(form="invert")
