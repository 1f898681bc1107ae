"""The messages about distributions of SciPy name those that exist."""

from __future__ import annotations

import madaline as md
from madaline.graph.numpy_api.special import DISTRIBUTIONS


def test_messages_know_the_distributions_that_there_are():
    assert set(DISTRIBUTIONS) == set(md.functional.stats.__all__)
