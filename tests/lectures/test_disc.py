"""The disc experiment: batch norm trains deep nets from weights of any size. Lecture row E13.

``gallery/disc.py`` is the whole of it, which takes minutes; here are a few sizes, one seed and fewer epochs.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import disc

STDS = (1e-3, 1e-2, 0.25, 1.0, 10.0)


def test_the_net_is_the_lectures():  # E13
    """Linear, batch norm, ReLU, 1 + 16 times; then Linear to 2 outputs."""
    plain, normed = (disc.net(0.1, batch_norm=batch_norm) for batch_norm in (False, True))
    kinds = [type(layer).__name__ for layer in normed]
    assert kinds == ["Linear", "BatchNorm", "ReLU"] * 17 + ["Linear"]
    assert len(plain) == 2 * 17 + 1
    model = plain.init(2)
    assert model.params["0.W"].shape == (2, 32)
    assert model.params["2.W"].shape == (32, 32)
    assert model.params["34.W"].shape == (32, 2)
    assert model.params["2.W"].std() == pytest.approx(0.1, rel=0.1)


def test_half_of_the_points_lie_in_the_disc():  # E13
    _, y = disc.disc(10_000, seed=0, purpose="test")
    assert y.mean() == pytest.approx(0.5, abs=0.02)


def test_with_batch_norm_any_size_of_weights_trains_and_without_it_hardly_any():  # E13
    errors = disc.sweep(STDS, seeds=[0], epochs=30)
    assert disc.range_that_trains(STDS, errors["with"]) == (1e-3, 10.0)
    assert disc.range_that_trains(STDS, errors["without"]) in (None, (0.25, 0.25))
    np.testing.assert_allclose([errors["without"][at] for at in (0, 1, 3, 4)], 0.5, atol=0.05)  # guessing


def test_the_page_says_what_was_measured():  # E13
    """At least two decades more of std, in five seeds."""
    numbers = json.loads(disc.NUMBERS.read_text())
    assert disc.PAGE.read_text() == disc.page(numbers)
    assert len(numbers["with"][0]) == 5
    low, high = disc.range_that_trains(numbers["stds"], numbers["with"])
    found = disc.range_that_trains(numbers["stds"], numbers["without"])
    assert math.log10(high / low) >= 2 + math.log10(found[1] / found[0])
