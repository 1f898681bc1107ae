"""Hashed categories: the same everywhere, spread evenly, whatever holds the column."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from madaline.data import hash_categories
from madaline.errors import ConfigError

TEXTS = ["Rome", None, "Oslo", "", "Bern", "Rome"]
NUMBERS = [17, 4, None, -(2**40), 0, 17]


def test_series_and_lists_give_the_same():
    found = hash_categories({"t": TEXTS, "n": [value or 0 for value in NUMBERS]}, 1000)
    frame = pl.DataFrame({"t": TEXTS, "n": [value or 0 for value in NUMBERS]})
    np.testing.assert_array_equal(found, hash_categories(frame, 1000))
    np.testing.assert_array_equal(found, hash_categories(frame.cast({"t": pl.Categorical}), 1000))
    assert (found[0] == found[5]).all()
    assert len(set(found[:5, 0].tolist())) == 5
    assert ((found >= [0, 1000]) & (found < [1000, 2000])).all()


def test_parts_of_a_column_give_the_same():
    series = pl.Series("t", TEXTS)
    parts = [hash_categories({"t": series[k : k + 2]}, 50) for k in (0, 2, 4)]
    np.testing.assert_array_equal(np.concatenate(parts), hash_categories({"t": series}, 50))


def test_a_missing_integer_is_a_category():
    found = hash_categories({"n": pl.Series(NUMBERS)}, 10**6)[:, 0]
    assert len(set(found.tolist())) == 5


@pytest.mark.parametrize("values", [np.arange(100_000), [f"value {k}" for k in range(100_000)]])
def test_categories_are_spread_evenly(values):
    counts = np.bincount(hash_categories({"c": values}, 1000)[:, 0], minlength=1000)
    chi2 = ((counts - 100.0) ** 2 / 100.0).sum()
    assert 850 < chi2 < 1150  # 999 degrees of freedom: mean 999, standard deviation 45


def test_the_hash_does_not_change_between_versions():
    found = hash_categories({"c": ["Rome", "Oslo"], "n": [1, 2]}, 1 << 18)
    assert found.tolist() == [[94865, 416961], [248999, 480974]]


def test_floats_are_refused():
    for column in (np.ones(3), pl.Series([1.0])):
        with pytest.raises(ConfigError, match="Column 'x' has type"):
            hash_categories({"x": column}, 10)


def test_numbers_among_texts_are_refused_and_all_kinds_of_missing_are_one_category():
    for number in (3.5, 0.0):
        with pytest.raises(ConfigError, match=f"numbers such as {number}"):
            hash_categories({"x": np.array(["a", number], dtype=object)}, 10)
    pd = pytest.importorskip("pandas")
    missing = np.array([None, float("nan"), pd.NA], dtype=object)
    found = hash_categories({"x": missing}, 1 << 18)[:, 0]
    assert set(found.tolist()) == set(
        hash_categories({"x": pl.Series([None], dtype=pl.String)}, 1 << 18)[:, 0].tolist()
    )
