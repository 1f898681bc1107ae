"""What columns are taken for."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from madaline.data.roles import infer_roles
from madaline.data.series import column_of
from madaline.data.table import Table
from madaline.errors import ConfigError

N = 40
LETTERS = [f"{chr(97 + i % 26)}{i}" for i in range(N)]


def role(values, name="column", y=None, **told):
    (found,) = infer_roles(Table.of({name: values}), None if y is None else column_of("y", y), **told)
    return found.role, found.reason


@pytest.mark.parametrize(
    ("values", "found", "reason"),
    [
        ([0.5, 1.5, None] * 5, "number", "from 0.5 to 1.5, 5 missing"),
        ([1, 2, 2] * 5, "number", "2 different whole numbers"),
        ([True, False, None], "boolean", "true and false, 1 missing"),
        (["a", "b"] * 5, "category", "2 different texts"),
        (["a", "b", None] * 5, "category", "2 different texts, 5 missing"),
        (LETTERS, "id", "text with 40 different values in 40 rows"),
        ([7] * 5, "constant", "7 in every row"),
        (["x"] * 5, "constant", "'x' in every row"),
        ([None] * 5, "constant", "no value in any row"),
        (["x", None] * 5, "category", "1 different texts, 5 missing"),
        ([7, None] * 5, "number", "1 different whole numbers, 5 missing"),
        ([dt.date(2024, 1, 1), dt.date(2025, 1, 1)], "date", "from 2024-01-01 to 2025-01-01"),
        (["007", "012", "007", "012"], "category", "2 different texts"),
        (["2024-01-01", "2025-01-01"], "date", "text read as dates, year-month-day"),
        ([" 1.5", "2", None], "number", "text read as numbers, 1 missing"),
        ([[1], [2, 3]], "unusable", "a net cannot use objects of type list"),
    ],
    ids=lambda value: value if isinstance(value, str) else "values",
)
def test_roles(values, found, reason):
    assert role(values) == (found, reason)


def test_text_that_stops_reading_as_numbers_is_text():
    assert role(["1"] * 200 + ["two"] * 200)[0] == "category"


@pytest.mark.parametrize("name", ["id", "customer_id", "Row ID", "", "index", "Unnamed: 0"])
def test_numbers_that_number_the_rows_are_left_out(name):
    assert role(list(range(N)), name=name)[0] == "id"
    assert role([1, 1, 2], name=name)[0] == "number"


@pytest.mark.parametrize("name", ["paid", "humid", "size", "rapid"])
def test_names_that_only_end_like_one_are_no_ids(name):
    assert role([7 * k % 41 for k in range(N)], name=name)[0] == "number"


@pytest.mark.parametrize(
    "values",
    [
        range(N),
        range(1, N + 1),
        range(1000, 1000 + 10 * N, 10),
        [float(k) for k in range(N)],
        [k for k in range(N + 3) if k not in (7, 20, 21)],
    ],
    ids=["from 0", "from 1", "tens", "floats", "rows taken out"],
)
def test_numbers_that_increase_in_equal_steps_are_row_numbers(values):
    table = Table.of({"a": list(values), "b": np.sin(range(N))})
    assert infer_roles(table)[0].role == "id"
    assert infer_roles(table)[0].reason == "row number"
    assert infer_roles(table, numeric=["a"])[0].role == "number"
    some = table.take(np.array([3, 30, 12, 7, 9]))  # training rows of a table that was split at random
    assert infer_roles(some)[0].reason == "row number"


@pytest.mark.parametrize("name", ["Order", "instant", "No", "S.No", "seq"])
def test_a_counter_is_known_by_its_name_in_a_table_that_was_shuffled(name, rng):
    values = rng.permutation(60)[:50]
    assert role(values.tolist(), name) == ("id", "row number")
    assert role((1000 * values).tolist(), name)[0] == "number"
    assert role(values.tolist(), "rooms")[0] == "number"


def test_measurements_that_are_sorted_are_numbers(rng):
    for values in (
        np.sort(rng.choice(10_000, N, replace=False)),
        np.sort(rng.integers(0, 100, 500)),
        np.sort(rng.normal(size=N)),
        0.1 * np.arange(N),
        np.arange(20),
        np.arange(N)[::-1],
        np.append(np.arange(N), 1),
    ):
        table = Table.of({"a": values, "b": np.sin(range(len(values)))})
        assert infer_roles(table)[0].role == "number"


def test_years_and_the_only_column_of_a_table_are_numbers():
    years = Table.of({"Year": list(range(1960, 1960 + N)), "b": np.sin(range(N))})
    assert infer_roles(years)[0].role == "number"
    assert role(list(range(N)), "x") == ("number", "increases in equal steps, and is the only column")
    assert role(list(range(N)), "id")[0] == "id"


def test_what_the_user_says_comes_first():
    assert role([1, 2, 1], categorical=["column"]) == ("category", "set by the user")
    assert role(LETTERS, categorical=["column"]) == ("category", "set by the user")
    assert role(list(range(N)), name="id", numeric=["id"]) == ("number", "set by the user")
    assert role([1.5, 2.5], ignore=["column"]) == ("ignored", "set by the user")
    with pytest.raises(ConfigError, match=r"ignore names the column 'colour'. The table has: column"):
        role([1], ignore=["colour"])
    with pytest.raises(ConfigError, match=r"ignore='column' must be a list of columns: \['column'\]"):
        role([1], ignore="column")
    with pytest.raises(ConfigError, match="listed in categorical and in numeric"):
        role([1], categorical=["column"], numeric=["column"])


def test_a_column_that_gives_the_target_away_is_a_leak(rng):
    y = rng.normal(size=N)
    assert role(y, y=y) == ("leak", "equal to the target in every row")
    assert role(y * 1.8 + 32.0, y=y) == ("leak", "the target in other units: one is a linear function of the other")
    assert role(y + 1e-3 * rng.normal(size=N), y=y)[0] == "number"
    assert role(y, y=y, numeric=["column"])[0] == "number"
    words = np.where(y > 0, "yes", "no").tolist()
    assert role(words, y=words)[0] == "leak"
    assert role(["1" if word == "yes" else "x" for word in words], y=words)[0] == "leak"
    assert role(["x" if i == 3 else word for i, word in enumerate(words)], y=words)[0] == "category"
    numbers = (y > 0).astype(int)
    assert role(words, y=numbers)[0] == "leak"
    assert role(numbers, y=words)[0] == "leak"
    assert role(["x" if i == 3 else word for i, word in enumerate(words)], y=numbers)[0] == "category"
    assert role([f"name {value:.6f}" for value in y], y=y)[0] == "id"  # as many names as values says nothing
    assert role([1.0] * N, y=y)[0] == "constant"


def test_a_category_that_is_no_leak_is_told_from_the_first_rows(monkeypatch, rng):
    """Half a million different numbers as texts took longer than training."""
    y, written = rng.normal(size=5000), []
    monkeypatch.setattr("madaline.data.column.written", lambda value: written.append(value) or repr(value))
    assert role(rng.choice(["a", "b", "c"], 5000).tolist(), y=y)[0] == "category"
    assert len(written) <= 1000


def test_a_leak_of_a_long_table_is_found_and_one_other_row_at_the_end_shows_that_it_is_none(rng):
    words = rng.choice(["a", "b", "c"], 5000)
    renamed = np.char.add("class ", words)
    assert role(renamed.tolist(), y=words.tolist())[0] == "leak"
    renamed[-1] = "class a" if words[-1] != "a" else "class b"
    assert role(renamed.tolist(), y=words.tolist())[0] == "category"


@pytest.mark.parametrize("name", ["PassengerId", "customerID", "rowIndex", "order_id", "ID", "row"])
def test_a_name_that_numbers_rows_is_known_in_every_way_of_writing(name):
    assert role(list(range(N)), name)[0] == "id"


@pytest.mark.parametrize("name", ["humid", "paid", "grid", "MONKEY", "throw"])
def test_a_name_that_only_ends_like_one_is_not(name):
    assert role([7 * k % 41 for k in range(N)], name)[0] == "number"


def test_half_precision_is_read_without_a_warning():
    assert role(np.linspace(0.5, 2.0, N).astype(np.float16)) == ("number", "from 0.5 to 2")
