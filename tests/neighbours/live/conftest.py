"""Small tables for the tests of other packages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import madaline as md


@pytest.fixture(autouse=True)
def _their_warnings(recwarn):
    """Warnings of other packages about each other are not ours."""


@pytest.fixture
def iris():
    """150 rows, four columns, three classes."""
    return load_iris(return_X_y=True)


@pytest.fixture
def binary(iris):
    """100 rows, four columns, two classes."""
    X, y = iris
    return X[50:], y[50:] - 1


@pytest.fixture
def diabetes():
    """442 rows, ten columns, a number."""
    X, y = load_diabetes(return_X_y=True)
    return X * 20, y


@pytest.fixture
def people():
    """A table with texts, missing values and dates, and a target."""
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n)),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
            "when": pd.date_range("2024-01-01", periods=n),
            "fare": rng.gamma(2, 10, n),
        }
    )
    return frame, np.where(frame["city"] == "Rome", "yes", "no")


@pytest.fixture
def clf():
    """Make a small classifier."""
    return lambda **options: md.MLPClassifier(
        (8,), **({"max_iter": 100, "random_state": 0, "learning_rate_init": 0.02} | options)
    )


@pytest.fixture
def reg():
    """Make a small regressor."""
    return lambda **options: md.MLPRegressor(
        hidden_layer_sizes=(8,), **({"max_iter": 100, "random_state": 0, "learning_rate_init": 0.02} | options)
    )
