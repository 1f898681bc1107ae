"""Sums over an epoch, whatever the pieces in which it was run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from madaline.train.sums import added, means


@pytest.mark.parametrize("pieces", [[40], [1, 39], [0, 7, 0, 33], [13, 13, 14]])
def test_pieces_add_up_to_the_last_bit(rng, pieces):
    values, weights = {"loss": rng.normal(size=40).astype("float32")}, rng.integers(1, 9, size=40).astype(float)
    whole = {"weight": 0.0, "loss": 0.0}
    for weight, value in zip(weights.tolist(), values["loss"].tolist(), strict=True):
        whole = {"weight": whole["weight"] + weight, "loss": whole["loss"] + value * weight}
    sums, first = {}, 0
    for length in pieces:
        stop = first + length
        sums = added(sums, {"loss": values["loss"][first:stop]}, weights[first:stop])
        first = stop
    assert sums == whole


def test_what_was_left_out_does_not_count():
    sums = added({}, {"loss": np.array([2.0, np.nan, 4.0])}, np.array([1.0, 0.0, 3.0]))
    assert sums == {"weight": 4.0, "loss": 14.0}
    assert means(sums) == {"loss": 3.5}
    nothing = means(added({}, {"loss": np.array([np.nan])}, np.array([0.0])))
    assert math.isnan(nothing["loss"])


def test_an_epoch_without_steps_has_no_sums():
    """As when training is stopped during the first step of an epoch."""
    assert added({}, {"loss": np.zeros(0)}, np.zeros(0)) == {}
    before = {"weight": 2.0, "loss": 3.0}
    assert added(before, {"loss": np.zeros(0)}, np.zeros(0)) == before
