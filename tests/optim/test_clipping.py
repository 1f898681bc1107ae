"""Clipping, constraints: bounds that hold, natively and by NumPy. Against PyTorch and Optax: tests/oracles."""

from __future__ import annotations

import json

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.optim.clipping import CLIPPINGS, AdaptiveClip, ClipNorm, Clipping, ClipValue
from madaline.optim.constraints import CONSTRAINTS, Constraint, MaxNorm, NonNegative, UnitNorm

every_clip = pytest.mark.parametrize("clip", [kind() for kind in CLIPPINGS], ids=lambda clip: clip.name)
every_constraint = pytest.mark.parametrize("rule", [kind() for kind in CONSTRAINTS], ids=lambda rule: rule.name)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@every_clip
@dtypes
def test_the_traced_clip_is_the_numpy_clip(clip, dtype, rng, executor):
    g, w = (rng.normal(size=(5, 3)) * 10).astype(dtype), rng.normal(size=(5, 3)).astype(dtype)
    found = md.compile(clip)(g, w)
    assert found.dtype == clip(g, w).dtype == dtype
    np.testing.assert_allclose(found, clip(g, w), rtol=1e-14 if dtype == np.float64 else 1e-6)


@every_clip
def test_a_small_gradient_keeps_its_bits(clip, rng):
    g, w = 1e-4 * rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    np.testing.assert_array_equal(clip(g, w), g)


def test_by_value_every_element_is_capped(rng):  # C6
    g = 5.0 * rng.normal(size=40)
    np.testing.assert_array_equal(ClipValue(2.0)(g), np.clip(g, -2.0, 2.0))


def test_by_norm_the_direction_is_kept_and_the_length_capped(rng):  # C6
    g = 5.0 * rng.normal(size=40)
    found = ClipNorm(2.0)(g)
    assert np.linalg.norm(found) == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(found / np.linalg.norm(found), g / np.linalg.norm(g), rtol=1e-12)


def test_adaptive_clipping_bounds_every_units_gradient_by_its_weights(rng):
    g, W = 5.0 * rng.normal(size=(6, 4)), rng.normal(size=(6, 4)) * [0.0, 0.1, 1.0, 1000.0]
    found = AdaptiveClip(0.05)(g, W)
    allowed = 0.05 * np.maximum(np.linalg.norm(W, axis=0), 1e-3)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0)[:3], allowed[:3], rtol=1e-12)
    np.testing.assert_array_equal(found[:, 3], g[:, 3])
    with pytest.raises(TypeError, match="needs the parameter too"):
        AdaptiveClip()(g)


@every_clip
def test_a_zero_gradient_stays_zero(clip):
    np.testing.assert_array_equal(clip(np.zeros((3, 2)), np.zeros((3, 2))), 0.0)


@every_clip
def test_a_gradient_that_is_not_a_number_is_not_hidden(clip):
    assert np.isnan(clip(np.full((3, 2), np.nan), np.ones((3, 2)))).all()


@every_constraint
@dtypes
def test_the_traced_constraint_is_the_numpy_constraint(rule, dtype, rng, executor):
    W = (3.0 * rng.normal(size=(5, 3))).astype(dtype)
    found = md.compile(rule)(W)
    assert found.dtype == rule(W).dtype == dtype
    np.testing.assert_allclose(found, rule(W), rtol=1e-14 if dtype == np.float64 else 1e-6)


@every_constraint
def test_what_is_allowed_stays_and_the_rest_is_brought_there(rule, rng):
    W = 3.0 * rng.normal(size=(50, 4))
    once = rule(W)
    assert not np.array_equal(once, W)
    np.testing.assert_allclose(rule(once), once, rtol=1e-15)
    np.testing.assert_array_equal(rule(np.zeros((3, 2))), 0.0)


def test_max_norm_bounds_columns_and_leaves_short_ones_alone(rng):
    """A unit's incoming weights are a column of W, (n_in, n_out)."""
    W = rng.normal(size=(9, 3)) * [0.1, 10.0, 100.0]
    found = MaxNorm(3.0)(W)
    np.testing.assert_array_equal(found[:, 0], W[:, 0])
    np.testing.assert_allclose(np.linalg.norm(found, axis=0)[1:], 3.0, rtol=1e-14)


def test_unit_norm_and_non_negativity_hold(rng):
    W = rng.normal(size=(9, 3))
    np.testing.assert_allclose(np.linalg.norm(UnitNorm()(W), axis=0), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(NonNegative()(W), np.where(W > 0, W, 0.0))


@pytest.mark.parametrize("base", [Clipping, Constraint])
def test_descriptions_survive_json(base):
    for kind in base.registry:
        assert base.from_dict(json.loads(json.dumps(kind().to_dict()))) == kind()


def test_names_and_wrong_parameters():
    assert CLIPPINGS.names() == ("adaptive", "norm", "value")
    assert CONSTRAINTS.names() == ("max_norm", "non_negative", "unit_norm")
    with pytest.raises(ConfigError, match=r"ClipNorm: limit=0 must be a number in \(0, inf\)"):
        ClipNorm(0)
    with pytest.raises(ConfigError, match=r"name='norm' is a ClipNorm, and a ClipValue is needed"):
        ClipValue.from_dict({"name": "norm"})
