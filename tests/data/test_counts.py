"""Numbers of things are told from measurements by how they are distributed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.data.datasets import DATASETS
from madaline.data.target import TargetReader


def task(values, name=None):
    values = np.asarray(values)
    return TargetReader.fit(values if name is None else pl.Series(name, values)).task


@pytest.mark.parametrize("mean", [2.0, 4.0, 8.0])
@pytest.mark.parametrize("n", [200, 5000])
def test_poisson_numbers_are_counts_with_and_without_zeros(mean, n, rng):
    values = rng.poisson(mean, n)
    assert task(values) == "count"
    if mean == 8.0:
        assert task(np.maximum(values, 1)) == "count"


def test_overdispersed_numbers_are_counts(rng):
    """Bike rentals per hour have a mean of about 190 and a variance far above it."""
    rentals = rng.negative_binomial(1.2, 1.2 / 190.0, 4000)
    assert task(rentals) == task(rentals + 1) == task(rentals, "cnt") == "count"


def test_rare_events_are_counts_and_balanced_classes_are_not(rng):
    claims = np.repeat([0, 1, 2], [9890, 105, 5])
    assert task(rng.permutation(claims)) == "count"
    assert task(np.repeat([0, 1, 2], [800, 150, 50])) == "multiclass"
    assert task(np.repeat([0, 1, 2], 50)) == "multiclass"
    assert task(np.repeat([0, 1], [990, 10])) == "binary"
    assert task(np.repeat(np.arange(10), 50)) == "multiclass"
    assert task(np.repeat(np.arange(6), [20, 30, 80, 150, 200, 90])) == "multiclass"  # stars of reviews


def test_prices_years_ages_and_scores_are_not_counts(rng):
    prices = np.round(np.exp(rng.normal(12.0, 0.4, 1500)))
    assert task(prices) == "regression"
    assert task(np.round(prices / 1000.0) * 10) == "regression"  # rounded to tens
    assert task(np.append(np.round(np.exp(rng.normal(5.0, 0.8, 1500))), [0, 1, 2]), "price") == "regression"
    assert task(rng.integers(1920, 2020, 1000)) == "regression"
    assert task(np.clip(np.round(rng.normal(38.0, 13.0, 1000)), 17, 90)) == "regression"
    assert task(np.clip(np.round(rng.normal(12.0, 3.2, 1000)), 0, 20)) == "regression"
    assert task(rng.permutation(1000)) == "regression"


def test_the_name_decides_only_where_the_values_do_not(rng):
    daily = np.round(rng.normal(4500.0, 1900.0, 700)).clip(22, 8700)
    assert task(daily) == "regression"
    assert task(daily, "cnt") == "count"
    assert task(rng.integers(1920, 2020, 1000), "count") == "regression"
    assert task(rng.poisson(4.0, 500), "price") == "count"
    children = np.repeat([0, 1, 2, 3], [500, 250, 100, 40])
    assert task(children) == task(children, "grade") == "multiclass"
    assert task(children, "number of children") == "count"


@pytest.mark.parametrize(
    ("table", "target", "expected"),
    [
        ("motorcycle_claims", "antskad", "count"),
        ("diamonds", "price", "regression"),
        ("wine_quality", "quality", "multiclass"),
        ("nycflights", "arr_delay", "regression"),
        ("loans", "loan_amount", "regression"),
        ("loans", "earliest_credit_line", "regression"),
        ("loans", "inquiries_last_12m", "count"),
        ("adult", "capital-loss", "regression"),
        ("adult", "hours-per-week", "regression"),
        ("covertype", "Cover_Type", "multiclass"),
        ("california_housing", "Population", "regression"),
    ],
)
def test_the_task_of_real_targets(data_dir, table, target, expected):
    frame = pl.read_parquet(data_dir / "tabular" / f"{table}.parquet", columns=[target]).drop_nulls()
    assert TargetReader.fit(frame[target]).task == expected
    assert task(frame[target]) == expected


@pytest.mark.parametrize(
    ("file", "target", "expected"),
    [
        ("seoul_bike_latin1.csv", "Rented Bike Count", "count"),
        ("student_por_semicolon.csv", "absences", "count"),
        ("student_por_semicolon.csv", "G3", "regression"),
        ("auto_imports_noheader.csv", "column_26", "regression"),
        ("superstore.csv", "Quantity", "count"),
    ],
)
def test_the_task_of_targets_of_files_from_the_wild(data_dir, file, target, expected):
    frame, _ = md.read_table(data_dir / "messy" / file)
    assert TargetReader.fit(frame[target].drop_nulls()).task == expected


@pytest.mark.parametrize("name", DATASETS.names())
def test_the_task_of_data_sets_that_come_with_the_package(name):
    data = DATASETS[name]
    expected = {"auto_mpg": "regression", "diabetes": "regression", "breast_cancer": "binary"}
    classes = {"circles": "binary", "disc": "binary", "moons": "binary", "xor": "binary"}
    found = TargetReader.fit(data.table()[data.target]).task
    assert found == (expected | classes).get(name, "multiclass")
