"""Quick encoding of single rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madaline.data.encode import TablePlan
from madaline.ship.row_encoder import RowEncoder

RNG = np.random.default_rng(0)
TABLE = {
    "size": [None if k % 9 == 2 else x for k, x in enumerate(RNG.normal(50.0, 9.0, 80).tolist())],
    "rooms": RNG.integers(1, 6, 80).tolist(),
    "pool": (RNG.random(80) > 0.5).tolist(),
    "side": RNG.choice(["left", "right"], 80).tolist(),
    "city": [None if k % 11 == 4 else x for k, x in enumerate(RNG.choice(["Rome", "Oslo", "Lima"], 80).tolist())],
    "zip": [f"z{k % 20}" for k in range(80)],
    "same": [1.0] * 80,
}
PLAN = TablePlan.fit(TABLE)
ENCODER = RowEncoder(PLAN)
ROWS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


def equal(found, expected):
    return found.keys() == expected.keys() and all(np.array_equal(found[name], expected[name]) for name in found)


def test_rows_are_encoded_bit_for_bit_as_a_table_is():
    assert {type(column).__name__ for column in PLAN.used()} == {"Number", "Flag", "OneHot", "Embedded"}
    for row in ROWS:
        assert equal(ENCODER.encode(row), PLAN.encode([row]))


@pytest.mark.parametrize(
    "change",
    [{"size": 1e6}, {"size": "50"}, {"size": True}, {"size": float("nan")}, {"size": 10**400}, {"rooms": [1]},
     {"pool": 1}, {"city": "Paris"}, {"city": ""}, {"city": 3}, {"zip": "z99"}, {"other": 1}],
    ids=str,
)  # fmt: skip
def test_values_that_need_a_closer_look_are_left_to_the_table(change):
    assert ENCODER.encode({**ROWS[0], **change}) is None


def test_a_missing_column_is_left_to_the_table():
    assert ENCODER.encode({name: value for name, value in ROWS[0].items() if name != "zip"}) is None


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["Rome", "left", "z3", "", "7"])


@given(st.dictionaries(st.sampled_from(list(TABLE)), VALUES))
def test_what_is_encoded_at_all_is_encoded_as_a_table_is(change):
    row = {**ROWS[0], **change}
    found = ENCODER.encode(row)
    assert found is None or equal(found, PLAN.encode([row]))


def test_dates_and_tables_without_names_are_left_to_the_table():
    dates = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")
    assert not RowEncoder.takes(TablePlan.fit({"day": dates}))
    assert not RowEncoder.takes(TablePlan.fit(RNG.normal(size=(40, 2))))
    assert RowEncoder.takes(PLAN)
