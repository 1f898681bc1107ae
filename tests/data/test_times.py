"""Columns of any source as points in time."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from madaline.data.split import split_rows
from madaline.data.times import times_of
from madaline.errors import InputError

DAYS = [dt.datetime(2020, 1, 1) + dt.timedelta(days=17 * k % 400, hours=k % 24) for k in range(60)]  # noqa: DTZ001
WRITTEN = ["%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%d %b %Y %H:%M"]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("source", [list, pd.Series, pl.Series, pa.array, np.array], ids=lambda kind: kind.__name__)
def test_dates_as_text_are_sorted_by_time_and_not_by_letters(source, written):
    texts = [day.strftime(written) for day in DAYS]
    assert np.array_equal(times_of(source(texts), "when").argsort(kind="stable"), np.argsort(DAYS, kind="stable"))
    split = split_rows(60, way="time", by=times_of(source(texts), "when"))
    latest = {DAYS[row] for row in split.test}
    assert min(latest) > max(DAYS[row] for row in split.train)


@pytest.mark.parametrize(
    "values",
    [DAYS[:3], pl.Series(DAYS[:3]).cast(pl.Date), [2001, 1999, 2000], [1.6e9, 1.5e9, 1.7e9], ["2001", "1999", "2000"]],
    ids=["datetimes", "dates", "years", "epoch", "years as text"],
)
def test_dates_and_numbers_are_times(values):
    found = times_of(values, "when")
    expected = [float(v) if isinstance(v, str) else v for v in values]
    assert np.array_equal(found.argsort(), np.argsort(expected))


def test_missing_times_come_first():
    assert times_of([2001, None, 2000], "year").argsort().tolist() == [1, 2, 0]
    assert times_of(["31/12/2020", None, "01/02/2020"], "day").argsort().tolist() == [1, 2, 0]
    assert times_of([DAYS[5], None], "day").argsort().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2020-01-31", "soon"], r"--when t: row 1 holds 'soon', which is neither a date nor a number"),
        (["early", "late"], r"--when t: row 0 holds 'early', which is neither a date nor a number"),
        (["Jan", "Feb", "Mar"], r"row 0 holds 'Jan'"),
        ([True, False], r"--when t: the column holds true and false, but dates or numbers are needed"),
        ([[1], [2, 3]], r"the column holds objects of type list"),
        ([None, None], r"--when t: the column has no values"),
        (["01/02/2020", "03/04/2020"], r"no value shows .* as in '01/02/2020'. Pass --dates dmy or --dates mdy"),
        (["31/12/2020", "12/31/2020", "30/12/2020"], r"row 1 holds '12/31/2020'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_a_time_is_named(values, message):
    with pytest.raises(InputError, match=message):
        times_of(values, "t")


def test_the_order_of_day_and_month_can_be_given():
    texts = ["01/02/2020", "02/01/2020"]
    assert times_of(texts, "t", order="dmy").argsort().tolist() == [1, 0]
    assert times_of(texts, "t", order="mdy").argsort().tolist() == [0, 1]
