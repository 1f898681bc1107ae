"""Distributions, missing values and correlations of a table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from madaline.data.table import Table
from madaline.report.correlation import MOST_COLUMNS, correlate
from madaline.report.table_summary import MISSING, MOST_CATEGORIES, N_BINS, summarize


def summary(columns, truth, task="regression", **more):
    return summarize(Table.of(pl.DataFrame(columns)), np.asarray(truth), task=task, **more)


def column(columns, truth=None, task="regression", **more):
    """The distribution of the only column."""
    n = len(next(iter(columns.values())))
    (found,) = summary(columns, np.zeros((n, 1)) if truth is None else truth, task, **more).columns
    return found


def test_a_histogram_counts_every_number_that_is_not_missing():
    x = [*np.random.default_rng(0).normal(size=500).tolist(), None, None]
    found = column({"x": x})
    assert found.kind == "number"
    assert len(found.values) <= N_BINS
    assert (found.counts.sum() + found.n_other, found.n_missing) == (500, 2)
    expected, _ = np.histogram(np.array(x[:-2]), np.append(found.values - found.width / 2, np.max(x[:-2])))
    np.testing.assert_array_equal(found.counts[:, 0], expected)


def test_a_long_tail_does_not_squeeze_the_histogram():
    found = column({"x": [*np.linspace(0.0, 1.0, 999).tolist(), 1e6]})
    assert found.values[-1] < 2.0
    assert found.n_other > 0
    assert found.counts.sum() + found.n_other == 1000


def test_few_whole_numbers_have_a_bar_each():
    found = column({"x": [1, 1, 3, 7, None]})
    assert found.values.tolist() == [1, 3, 7]
    assert found.counts[:, 0].tolist() == [2, 1, 1]
    assert found.width == 2.0


def test_whole_numbers_far_apart_are_binned():
    """A bar of width 1 on an axis to 99,999 could not be seen."""
    x = np.r_[np.zeros(700), np.full(9, 7688), np.full(5, 7689), np.full(3, 99_999)]
    found = column({"gain": x})
    assert found.width > 100
    assert found.counts.sum() + found.n_other == len(x)


def test_bins_of_whole_numbers_have_equally_many_of_them():
    found = column({"x": list(range(1, 101))})
    assert set(found.counts[:-1, 0]) == {int(found.width)}, "the last one may end later"
    assert found.counts.sum() == 100


@pytest.mark.parametrize("x", [[0.5] * 9, [1e300] * 9, [np.pi], [float("nan"), 2.5]])
def test_numbers_that_do_not_vary_have_a_histogram(x):
    found = column({"x": x})
    assert found.counts.sum() == np.isfinite(x).sum()


def test_a_column_without_values_is_all_missing():
    found = summary({"x": [None, None, None], "y": [1.5, 2.5, 3.5]}, np.ones((3, 1)), kinds={"x": "number"})
    assert found.columns[0].n_missing == 3
    assert found.columns[0].counts.sum() == 0


def test_counts_are_split_by_class():
    columns = {"x": [1, 1, 2, 2], "city": ["Rome", "Oslo", "Rome", None], "is_new": [True, False, True, True]}
    found = summary(columns, [0, 1, 1, 1], "binary", classes=["no", "yes"], targets=["sold"])
    assert found.groups == ["no", "yes"]
    x, city, is_new = found.columns
    assert x.counts.tolist() == [[1, 1], [0, 2]]
    assert dict(zip(city.values, city.counts.tolist(), strict=True)) == {
        "Rome": [1, 1],
        "Oslo": [0, 1],
        MISSING: [0, 1],
    }
    assert dict(zip(is_new.values, is_new.counts.tolist(), strict=True)) == {"true": [1, 2], "false": [0, 1]}
    assert found.missing == {"city": 1}
    (target,) = found.targets
    assert (target.values.tolist(), target.counts[:, 0].tolist()) == (["no", "yes"], [1, 3])


def test_many_classes_do_not_split_the_counts():
    found = summary({"x": range(40)}, np.arange(40) % 20, "multiclass", classes=[f"c{k}" for k in range(20)])
    assert found.groups == ()
    assert found.columns[0].counts.shape[1] == 1


def test_the_most_frequent_categories_are_shown_and_the_others_counted():
    cities = [f"city {k}" for k in range(20) for _ in range(k + 1)]
    found = column({"city": cities})
    assert found.values.tolist() == [f"city {k}" for k in range(19, 19 - MOST_CATEGORIES, -1)]
    assert found.counts.sum() + found.n_other == len(cities)


def test_dates_are_binned_by_time():
    days = np.datetime64("2024-01-01") + np.arange(100).astype("timedelta64[D]")
    found = column({"day": days})
    assert found.kind == "date"
    assert found.counts.sum() == 100
    assert found.values[0] >= days[0]
    assert found.values[-1] <= days[-1]
    assert found.width == pytest.approx(9.9)


def test_labels_and_targets_have_distributions():
    labels = summary({"x": [1.5, 2.5, 3.5]}, [[1, 0], [1, 1], [1, 0]], "multilabel", classes=["a", "b"]).targets
    assert [(each.values.tolist(), each.counts[:, 0].tolist()) for each in labels] == [(["a", "b"], [3, 1])]
    numbers = summary({"x": [1.5, 2.5, 3.5]}, [[1, 9], [1, 9], [2, 9]], targets=["u", "v"]).targets
    assert [(each.name, each.counts[:, 0].tolist()) for each in numbers] == [("u", [2, 1]), ("v", [3])]


def test_correlations_are_spearmans_over_the_rows_that_have_both():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    columns = {"noise": rng.normal(size=300), "cubed": y**3, "mixed": y + rng.normal(size=300)}
    columns["mixed"][:50] = np.nan
    found = correlate(columns, 3, "regression", y[:, None], (), ["price"])
    assert found.names == ["price", "cubed", "mixed", "noise"], "the most correlated with the target first"
    assert found.n_targets == 1
    series = {"price": y, **columns}
    for i, a in enumerate(found.names):
        for j, b in enumerate(found.names):
            expected = spearmanr(series[a], series[b], nan_policy="omit").statistic
            assert found.matrix[i, j] == pytest.approx(expected, abs=1e-12)


def test_of_two_classes_the_second_is_the_target_and_of_several_each():
    x = {"a": np.arange(6.0), "b": np.arange(6.0) ** 2}
    assert correlate(x, 2, "binary", np.arange(6) % 2, ["no", "yes"], ["sold"]).names[0] == "sold = yes"
    names = correlate(x, 2, "multiclass", np.arange(6) % 3, list("uvw"), ["kind"]).names
    assert names[:3] == ["kind = u", "kind = v", "kind = w"]


def test_wide_and_constant_columns():
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.normal(size=50) for k in range(60)} | {"constant": np.ones(50)}
    columns["best"] = np.arange(50.0)
    found = correlate(columns, len(columns), "count", np.arange(50.0)[:, None], (), ["n"])
    assert found.names[:2] == ["n", "best"]
    assert len(found.names) == 1 + MOST_COLUMNS
    two = correlate(
        {"constant": np.ones(50), "x": np.arange(50.0)}, 2, "regression", np.arange(50.0)[:, None], (), ["y"]
    )
    assert np.isnan(two.matrix[two.names.index("constant"), two.names.index("x")])
    assert correlate({"x": np.arange(50.0)}, 1, "regression", columns["best"][:, None], (), ["y"]) is None
