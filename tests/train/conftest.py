"""Data that tests of training share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits


@pytest.fixture(scope="session")
def digits():
    """Real images of digits, 8 by 8 pixels, scaled to 0 .. 1, and their classes."""
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


@pytest.fixture(scope="session")
def diabetes():
    """Ten measurements of patients and the progress of their disease, both scaled."""
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


@pytest.fixture
def same():
    """Whether two models have the same bits."""

    def check(one, other):
        assert one.params.flat.tobytes() == other.params.flat.tobytes()
        assert one.state.flat.tobytes() == other.state.flat.tobytes()

    return check


@pytest.fixture
def differs():
    def check(one, other):
        assert not np.array_equal(one.params.flat, other.params.flat)

    return check


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 4))
    return X, np.argmax(X[:, :3], axis=1)
