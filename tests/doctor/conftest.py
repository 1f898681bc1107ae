"""Data that a small net learns in a moment."""

from __future__ import annotations

import numpy as np
import pytest

collect_ignore = ["clinic"]  # a campaign of its own: `make test-clinic`


@pytest.fixture(scope="session")
def product():
    """A regression that no linear model can solve."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).astype("float32")
    return X, (X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=400)).astype("float32")


@pytest.fixture(scope="session")
def ring():
    """Two classes, one around the other."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3)).astype("float32")
    return X, (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5).astype(int)
