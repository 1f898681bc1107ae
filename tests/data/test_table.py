"""Any table as named columns."""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from madaline.data.series import column_of
from madaline.data.table import Table
from madaline.errors import DtypeError, InputError, ShapeError

DAY = dt.date(2024, 2, 29)
COLUMNS = {
    "size": [1.5, None, 3.0],
    "count": [1, 2, None],
    "flag": [True, None, False],
    "city": ["Rome", None, "Oslo"],
    "day": [DAY, None, DAY],
}
TABLES = {
    "dict": COLUMNS,
    "polars": pl.DataFrame(COLUMNS),
    "polars lazy": pl.LazyFrame(COLUMNS),
    "pandas": pd.DataFrame(COLUMNS).astype({"day": "datetime64[us]"}),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes().astype({"day": "datetime64[us]"}),
    "pandas of objects": pd.DataFrame(COLUMNS, dtype=object),
    "pyarrow": pa.table(COLUMNS),
    "rows": [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
}


@pytest.mark.parametrize("given", TABLES.values(), ids=TABLES)
def test_every_kind_of_table_gives_the_same_columns(given):
    table = Table.of(given)
    assert table.names == tuple(COLUMNS)
    assert (table.n_rows, table.has_names) == (3, True)
    assert [column.kind for column in table] == ["number", "number", "boolean", "text", "date"]
    np.testing.assert_array_equal(table["size"].numbers(), [1.5, np.nan, 3.0])
    np.testing.assert_array_equal(table["count"].numbers(), [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(table["flag"].booleans(), [1.0, np.nan, 0.0])
    assert table["city"].texts().to_list() == ["Rome", None, "Oslo"]
    np.testing.assert_array_equal(table["day"].dates(), np.array([DAY, None, DAY], dtype="datetime64[us]"))
    for column in table:
        assert column.missing().tolist() == [value is None for value in COLUMNS[column.name]]


def test_a_matrix_is_read_where_it_lies():
    X = np.arange(6.0).reshape(3, 2)
    table = Table.of(X)
    assert (table.names, table.has_names) == (("x0", "x1"), False)
    assert np.shares_memory(table["x1"].numbers(), X)


def test_numbers_of_polars_and_pandas_are_read_where_they_lie():
    series = pl.Series("a", [1.0, 2.0])
    assert np.shares_memory(Table.of(pl.DataFrame([series]))["a"].numbers(), series.to_numpy())
    frame = pd.DataFrame(np.ones((3, 2)), columns=["a", "b"])
    assert np.shares_memory(Table.of(frame)["b"].numbers(), frame["b"].to_numpy())


def test_fields_of_a_structured_array_are_columns():
    table = Table.of(np.array([(1, "b"), (2, "c")], dtype=[("n", "i4"), ("s", "U3")]))
    assert table.names == ("n", "s")
    assert table["s"].texts().to_list() == ["b", "c"]


def test_rows_of_lists_keep_the_kinds_of_their_columns():
    table = Table.of([[1, "a", None], (2.5, "b", True)])
    assert [column.kind for column in table] == ["number", "text", "boolean"]


@pytest.mark.parametrize(
    "dtype", [pd.CategoricalDtype(), pl.Categorical, pl.Enum(["a", "b"])], ids=["pandas", "c", "e"]
)
def test_a_declared_category_is_told_from_text(dtype):
    frame = (
        pd.DataFrame({"k": ["a", "b", None]})
        if dtype == pd.CategoricalDtype()
        else pl.DataFrame({"k": ["a", "b", None]})
    )
    frame = frame.astype({"k": dtype}) if isinstance(frame, pd.DataFrame) else frame.cast({"k": dtype})
    column = Table.of(frame)["k"]
    assert column.kind == "category"
    assert column.codes(("b", "z")).tolist() == [-1, 0, -2]


def test_the_hour_on_the_clock_counts_not_the_hour_in_greenwich():
    zoned = pd.DataFrame({"t": pd.to_datetime(["2024-01-01 07:00"]).tz_localize("Asia/Tokyo")})
    assert Table.of(zoned)["t"].dates()[0] == np.datetime64("2024-01-01T07:00")
    python = dt.datetime(2024, 1, 1, 7, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    assert column_of("t", [python]).dates()[0] == np.datetime64("2024-01-01T07:00")


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([decimal.Decimal("1.5"), None], [1.5, np.nan]),
        ([dt.timedelta(minutes=1), None], [60.0, np.nan]),
        ([dt.time(1, 30, 36), None], [1.51, np.nan]),
        (np.array([60, "NaT"], dtype="timedelta64[s]"), [60.0, np.nan]),
        (pl.Series([dt.timedelta(minutes=1), None]), [60.0, np.nan]),
        (pl.Series([dt.time(1, 30, 36), None]), [1.51, np.nan]),
        (np.array([1, 2], dtype=">i4"), [1, 2]),
        ([None, None], [np.nan, np.nan]),
        ([" 1.5", "", "nan", "2e3"], [1.5, np.nan, np.nan, 2000.0]),
        (pl.Series([decimal.Decimal("0.5")]), [0.5]),
    ],
    ids=str,
)
def test_what_reads_as_numbers(values, numbers):
    np.testing.assert_array_equal(column_of("x", values).numbers(), numbers)


def test_text_that_is_blank_is_missing():
    assert column_of("x", ["a", " ", "\t", ""]).missing().tolist() == [False, True, True, True]


def test_a_whole_number_is_the_same_category_with_and_without_a_point():
    """An integer column with a gap becomes one of floats in pandas."""
    for values in ([3, 7], [3.0, 7.0], ["3", "7"], pd.array([3, 7], dtype="Int64")):
        assert column_of("x", values).codes(("3", "7")).tolist() == [0, 1]


@pytest.mark.parametrize("texts", [("False", "True"), ("FALSE", "TRUE"), ("false", "true")])
def test_a_boolean_is_the_category_of_its_text(texts):
    """A column of such texts in a file becomes one of booleans in pandas and polars."""
    for values in ([False, True, None], pl.Series([False, True, None]), pd.array([False, True, None], dtype="boolean")):
        assert column_of("x", values).codes(texts).tolist() == [0, 1, -2]
    assert column_of("x", [True]).codes(("True", "TRUE")).tolist() == [-1]


def test_a_number_is_the_category_of_the_code_that_it_was_read_from():
    """A column of codes with leading zeros in a file becomes one of integers in pandas and polars."""
    for values in ([7, 120, 5, None], pl.Series([7, 120, 5, None]), pd.array([7, 120, 5, None], dtype="Int64")):
        assert column_of("x", values).codes(("007", "120", "0011")).tolist() == [0, 1, -1, -2]
    assert column_of("x", [7]).codes(("007", "07")).tolist() == [-1]
    assert column_of("x", ["7"]).codes(("007",)).tolist() == [-1]
    assert column_of("x", [7]).codes(("0" * 5000 + "7",)).tolist() == [-1]


def test_a_number_with_signs_or_separators_is_refused_with_a_hint():
    with pytest.raises(InputError, match=r"holds '1,234', which is not a number\. .* md\.read_table reads"):
        column_of("x", ["1,234"]).numbers()


def test_a_data_frame_inside_a_tuple_is_refused():
    with pytest.raises(DtypeError, match=r"first item is a data frame; pass the data frame alone"):
        Table.of((pd.DataFrame({"a": [1]}), []))


def test_what_cannot_be_read_is_named_with_its_row():
    with pytest.raises(InputError, match=r"Column 'age': row 1 holds 'old', which is not a number \(2 such rows\)"):
        column_of("age", ["31", "old", None, "young"]).numbers()
    with pytest.raises(InputError, match=r"row 2 holds 7.0, which is not true or false"):
        column_of("ok", [0, 1, 7]).booleans()
    with pytest.raises(InputError, match="row 0 holds 'perhaps', which is not true or false"):
        column_of("ok", ["perhaps", "True"]).booleans()
    with pytest.raises(InputError, match=r"row 1 holds '31.12.', which is not a date such as 2024-01-31"):
        column_of("day", ["2024-12-31", "31.12."]).dates()
    with pytest.raises(InputError, match="Column 'day' holds dates, but numbers are needed"):
        column_of("day", [DAY]).numbers()
    with pytest.raises(InputError, match="Column 'n' holds numbers, but dates are needed"):
        column_of("n", [1]).dates()
    with pytest.raises(InputError, match="Column 'l' holds objects of type list, but categories are needed"):
        column_of("l", [[1], [2, 3]]).texts()


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_some_rows_are_a_table_and_errors_name_them_as_they_were(kind):
    given = kind({"n": [1.0, 2.0, 3.0], "t": ["a", "b", None], "ok": [True, False, True], "day": [DAY] * 3})
    some = Table.of(given).take(np.array([2, 1]))
    assert (some.names, some.n_rows, some.has_names) == (("n", "t", "ok", "day"), 2, True)
    assert some["n"].values.tolist() == [3.0, 2.0]
    assert some["t"].values.to_list() == [None, "b"]
    assert some["ok"].values.tolist() == [True, False]
    with pytest.raises(InputError, match="row 1 holds 'b', which is not a number"):
        some.take(np.array([1]))["t"].numbers()


def test_what_is_no_table_is_said():
    with pytest.raises(ShapeError, match=r"shape \(3,\), but rows and columns are needed"):
        Table.of(np.ones(3))
    with pytest.raises(ShapeError, match="Row 1 has 1 values, but row 0 has 2"):
        Table.of([[1, 2], [3]])
    with pytest.raises(ShapeError, match="Row 0 is 1"):
        Table.of([1, 2])
    with pytest.raises(ShapeError, match="no rows"):
        Table.of([])
    with pytest.raises(ShapeError, match="different lengths: 'a' 1, 'b' 2"):
        Table.of({"a": [1], "b": [1, 2]})
    with pytest.raises(DtypeError, match="sparse"):
        Table.of(sparse.eye(3))
    with pytest.raises(DtypeError, match="object is not a table"):
        Table.of(object())
    with pytest.raises(InputError, match="the column 'a' more than once"):
        Table.of(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="the column '1' more than once"):
        Table.of({1: [1], "1": [2]})
