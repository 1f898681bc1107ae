"""Tables of the same things at several times are recognised."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from madaline.data.panel import find_panel
from madaline.data.reading.table_file import read_table

COUNTRIES = [f"country {k}" for k in range(12)]
PAIRS = [(country, year) for country in COUNTRIES for year in range(2000, 2016)]


@pytest.fixture
def panel(rng):
    n = len(PAIRS)
    return {
        "Status": ["Developing" if int(country.split()[1]) % 3 else "Developed" for country, _ in PAIRS],
        "Country": [country for country, _ in PAIRS],
        "Year": [year for _, year in PAIRS],
        "life expectancy": rng.normal(70.0, 5.0, n),
        "note": [f"note {k}" for k in range(n)],
    }


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_the_group_and_the_time_are_found(kind, panel):
    found = find_panel(kind(panel))
    assert (found.group, found.time, found.n_groups, found.n_times) == ("Country", "Year", 12, 16)
    assert "pass --group Country; to test on the latest rows, --when Year." in found.hint()


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d/%m/%Y", None])
def test_times_may_be_dates(panel, written):
    days = [pd.Timestamp(year, 1 + year % 12, 17) for _, year in PAIRS]
    panel["Year"] = days if written is None else [day.strftime(written) for day in days]
    assert find_panel(panel).time == "Year"


def test_some_gaps_and_repetitions_are_allowed(panel, rng):
    rows = rng.choice(len(PAIRS), 150, replace=False)
    some = {name: [values[row] for row in rows] for name, values in panel.items()}
    assert find_panel(some).group == "Country"
    some["Country"][0] = None
    assert find_panel(some).group == "Country"


def test_other_tables_are_not_panels(panel, rng):
    assert find_panel({name: panel[name] for name in ("Country", "life expectancy")}) is None
    assert find_panel({name: panel[name] for name in ("Year", "life expectancy", "note")}) is None
    assert find_panel(panel, ignore=("Country",)) is None
    n = 500
    sales = {
        "customer": rng.choice([f"c{k}" for k in range(80)], n),
        "day": np.datetime64("2020-01-01") + rng.integers(0, 900, n),
        "kind": rng.choice(["a", "b", "c"], n),
        "amount": rng.integers(1000, 2500, n),
    }
    assert find_panel(sales) is None


@pytest.mark.parametrize(
    "name", ["titanic_kaggle.csv", "superstore.csv", "seoul_bike_latin1.csv", "stroke_na_text.csv"]
)
def test_files_from_the_wild_are_not_panels(data_dir, name):
    assert find_panel(read_table(data_dir / "messy" / name)[0]) is None
