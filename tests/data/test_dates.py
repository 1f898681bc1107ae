"""Dates as text are recognised alike in every kind of table, and read at prediction time as in training."""

from __future__ import annotations

import datetime as dt
import io
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
from madaline.data.date_formats import formats
from madaline.data.dates import read_dates, recognise
from madaline.errors import ConfigError, DataWarning, InputError

DAYS = [dt.datetime(2020, 1, 1) + dt.timedelta(days=11 * k, hours=k % 24, minutes=7) for k in range(40)]  # noqa: DTZ001
FORMATS = {
    "%d/%m/%Y": "day/month/year",
    "%m/%d/%Y": "month/day/year",
    "%d.%m.%Y": "day/month/year",
    "%Y-%m-%d": "year-month-day",
    "%Y/%m/%d": "year-month-day",
    "%Y-%m-%d %H:%M": "year-month-day",
    "%Y-%m-%d %H:%M:%S": "year-month-day",
    "%Y-%m-%dT%H:%M:%S": "year-month-day",
    "%Y-%m-%dT%H:%M:%SZ": "year-month-day",
    "%Y-%m-%d %H:%M:%S.%f": "year-month-day",
    "%d-%b-%Y": "day/month/year",
    "%d %B %Y": "day/month/year",
    "%B %d, %Y": "month/day/year",
    "%d/%m/%y": "day/month/year",
    "%m/%d/%Y %I:%M %p": "month/day/year",
}


def parquet(columns, tmp_path):
    pl.DataFrame(columns).write_parquet(tmp_path / "table.parquet")
    return md.read_table(tmp_path / "table.parquet")[0]


def csv(columns, tmp_path):
    return md.read_table(io.BytesIO(pl.DataFrame(columns).write_csv(separator=";").encode()), delimiter=";")[0]


SOURCES = {
    "csv": csv,
    "parquet": parquet,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
    "dict": lambda columns, _: columns,
    "rows": lambda columns, _: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
}


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_the_same_dates(source, written, tmp_path):
    given = {"when": [day.strftime(written) for day in DAYS], "x": [float(k % 7) for k in range(len(DAYS))]}
    plan = md.data.TablePlan.fit(SOURCES[source](given, tmp_path))
    expected = [dt.datetime.strptime(text, written) for text in given["when"]]  # noqa: DTZ007
    reference = md.data.TablePlan.fit({"when": expected, "x": given["x"]})
    assert plan.roles()[0].role == "date"
    assert plan.features() == reference.features()
    np.testing.assert_array_equal(
        plan.encode(SOURCES[source](given, tmp_path))["numbers"],
        reference.encode({"when": expected, "x": given["x"]})["numbers"],
    )
    if source in ("pandas", "polars", "dict"):
        assert FORMATS[written] in plan.roles()[0].reason


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"])
def test_prediction_reads_dates_as_training_did(frame):
    """One row cannot tell the day from the month; the plan can, also after it was saved."""
    for written in ("%d/%m/%Y", "%m/%d/%Y"):
        plan = md.data.TablePlan.fit(frame({"when": [day.strftime(written) for day in DAYS]}))
        plan = md.data.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
        day = dt.datetime(2021, 4, 3)  # noqa: DTZ001
        reference = md.data.TablePlan.fit({"when": DAYS})
        expected = reference.encode({"when": [day]})["numbers"][:, : len(plan.features())]
        read = plan.encode(frame({"when": [day.strftime(written)]}))["numbers"]
        days = plan.features().index("when days")
        moment = plan.encode({"when": [day]})["numbers"]
        np.testing.assert_array_equal(read, moment)
        assert read[0, days] == pytest.approx(expected[0, reference.features().index("when days")], rel=1e-2)


def test_dates_that_have_only_one_meaning_are_always_read():
    plan = md.data.TablePlan.fit({"when": [day.strftime("%d/%m/%Y") for day in DAYS]})
    a, b = (plan.encode({"when": [text]})["numbers"] for text in ("2021-04-03", "03/04/2021"))
    np.testing.assert_array_equal(a, b)
    with pytest.raises(InputError, match=r"row 0 holds '04/23/2021', which is not a date in the format .*day/month/ye"):
        plan.encode({"when": ["04/23/2021"]})


def test_text_for_a_column_of_real_dates_is_read_unless_it_has_two_meanings():
    plan = md.data.TablePlan.fit({"when": DAYS})
    np.testing.assert_array_equal(
        plan.encode({"when": ["31.12.2020"]})["numbers"],
        plan.encode({"when": [dt.datetime(2020, 12, 31)]})["numbers"],  # noqa: DTZ001
    )
    with pytest.raises(InputError, match=r"'03/04/2021', and no value shows whether the day or the month comes first"):
        plan.encode({"when": ["03/04/2021"]})
    known = md.data.TablePlan.fit({"when": DAYS}, dates={"when": "%m/%d/%Y"})
    assert known.encode({"when": ["03/04/2021"]})["numbers"].shape == (1, len(known.features()))


def test_an_order_that_nothing_shows_is_assumed_with_a_warning():
    texts = [f"{1 + k % 12:02d}/{1 + k % 11:02d}/2021" for k in range(40)]
    with pytest.warns(
        DataWarning, match=r"Column 'when' has dates such as '01/01/2021', and no value shows .*dates='mdy'"
    ):
        plan = md.data.TablePlan.fit({"when": texts})
    assert plan.roles()[0].reason == "text read as dates, day/month/year assumed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mdy = md.data.TablePlan.fit({"when": texts}, dates="mdy")
        md.data.TablePlan.fit({"when": texts}, dates="dmy")
    assert mdy.roles()[0].reason == "text read as dates, month/day/year"
    first, second = (each.encode({"when": ["03/04/2021"]})["numbers"] for each in (mdy, plan))
    assert not np.array_equal(first, second)
    with pytest.raises(ConfigError, match="dates='american' must be one of 'ymd', 'dmy', 'mdy', or a dict of formats"):
        md.data.TablePlan.fit({"when": texts}, dates="american")
    with pytest.raises(ConfigError, match=r"'%q' is not a format of dates. Write it as '%d/%m/%Y'"):
        md.data.TablePlan.fit({"when": texts}, dates={"when": "%q"})


def test_an_order_that_is_assumed_is_said_for_files_too():
    _, notes = md.read_table(io.BytesIO(b"when,x\n" + b"".join(b"%02d/04/2021,1.5\n" % (k % 9 + 1) for k in range(30))))
    text = "'when' has dates (day/month/year, assumed: no value shows whether the day or the month comes first)."
    assert text in [assumption.text for assumption in notes]


def test_several_formats_in_one_column_are_dates_and_said():
    texts = [day.strftime(("%Y-%m-%d", "%d/%m/%Y", "%d %b %Y")[k % 3]) for k, day in enumerate(DAYS)]
    plan = md.data.TablePlan.fit({"when": texts})
    assert plan.roles()[0].role == "date"
    assert plan.roles()[0].reason == "text read as dates, 3 formats: year-month-day, day/month/year"


def test_a_column_that_is_not_all_dates_is_left_out_with_a_warning():
    texts = [day.strftime("%d/%m/%Y") for day in DAYS]
    texts[7] = "soon"
    with pytest.warns(DataWarning, match=r"'when' is not used as dates: 39 of 40 texts are dates .*row 7 holds 'soon'"):
        plan = md.data.TablePlan.fit({"when": texts, "x": np.sin(range(40))})
    role = plan.roles()[0]
    assert role.role == "id"
    assert role.reason == "text with 40 different values in 40 rows; 39 of them are dates, but row 7 holds 'soon'"
    mixed = ["31/12/2020", "12/31/2020"] * 20
    with pytest.warns(DataWarning, match=r"is not used as dates: 21 of 41 .*row 1 holds '12/31/2020'"):
        md.data.TablePlan.fit({"when": [*mixed, "30/12/2020"], "x": np.sin(range(41))})


@pytest.mark.parametrize("text", ["30/02/2021", "2021-13-01", "1.2.3", "10:30", "2021-1", "x" * 10_000, "20210131", ""])
def test_what_is_not_a_date_is_not_read(text):
    assert not recognise([text]).pattern


@given(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31)), st.sampled_from(sorted(FORMATS)))  # noqa: DTZ001
def test_dates_are_read_as_python_reads_them(moment, written):
    text = moment.strftime(written)
    expected = dt.datetime.strptime(text, written)  # noqa: DTZ007
    found = [date for each in formats([text]) for date in read_dates([text], each)]
    assert np.datetime64(expected) in found


def test_offsets_from_utc_are_taken_off():
    texts = ["2024-01-31T06:00:00+01:00", "2024-01-31T06:00:00-0530", "2024-01-31T06:00:00.25Z"]
    expected = np.array(["2024-01-31T05:00", "2024-01-31T11:30", "2024-01-31T06:00:00.25"], dtype="datetime64[us]")
    np.testing.assert_array_equal(recognise(texts).dates, expected)
