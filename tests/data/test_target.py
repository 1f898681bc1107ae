"""Targets and what is learned from them."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import madaline as md
from madaline.errors import ConfigError, ShapeError, TargetError


@pytest.mark.parametrize(
    ("y", "task", "reason"),
    [
        (["a", "b", "a"], "binary", "2 different values: a, b"),
        (["a", "b", "c"], "multiclass", "3 different values: a, b, c"),
        (list("abcdef"), "multiclass", "6 different values"),
        ([True, False], "binary", "2 different values: False, True"),
        ([0, 1, 1], "binary", "2 different whole numbers: 0, 1"),
        ([1, 2, 3] * 3, "multiclass", "3 different whole numbers: 1, 2, 3"),
        (np.arange(20), "regression", "numbers from 0 to 19"),
        (np.arange(5, 25), "regression", "numbers from 5 to 24"),
        ([410, 205, 280], "regression", "numbers from 205 to 410"),
        ([0.5, 1.5], "regression", "numbers from 0.5 to 1.5"),
        (["0.5", "1.5"], "regression", "numbers from 0.5 to 1.5"),
        ([[0, 1], [1, 1]], "multilabel", "2 columns of 0 and 1"),
        ([["yes", "no"], ["No", "yes"]], "multilabel", "2 columns of yes and no, learned as 1 and 0"),
        ([["true", "1"], ["false", "0"]], "multilabel", "2 columns of 0 and 1"),
        ([[0.5, 1], [1, 1]], "regression", "2 columns of numbers"),
    ],
    ids=str,
)
def test_the_task_is_told_from_the_values(y, task, reason):
    plan = md.TargetPlan.fit(y)
    assert (plan.task, plan.reason) == (task, reason)


def test_a_negative_number_is_no_count():
    with pytest.raises(TargetError, match=r"row 2 of the target is -1. Use task='regression'"):
        md.TargetPlan.fit([0, 3, -1], task="count")


@pytest.mark.parametrize(
    "y",
    [
        ["no", "yes", "no"],
        [3, 7, 3],
        [True, False, True],
        [0.5, 1.0, 0.5],
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series([2, 1, 2]),
        np.array([1.0, 2.0, 1.0]),
    ],
    ids=str,
)
def test_classes_come_back_as_they_were(y):
    plan = md.TargetPlan.fit(y, task="classification")
    codes = plan.encode(y)
    assert codes.dtype == np.int64
    assert set(codes) == {0, 1}
    assert plan.n_outputs == 2
    assert plan.decode(codes).tolist() == list(y)
    assert md.TargetPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3)])
def test_numbers_are_standardised_and_come_back(shape, rng):
    y = rng.normal(10.0, 5.0, shape)
    plan = md.TargetPlan.fit(y)
    t = plan.encode(y)
    assert t.shape == shape
    np.testing.assert_allclose([t.mean(), t.std()], [0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(plan.decode(t), y, rtol=1e-5)
    assert md.TargetPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    np.testing.assert_allclose(md.TargetPlan.fit(y, scale=False).encode(y), y, rtol=1e-6)


def test_a_data_frame_of_labels():
    frame = pl.DataFrame({"red": [True, False], "big": [False, True]})
    plan = md.TargetPlan.fit(frame)
    assert plan.n_outputs == 2
    assert plan.encode(frame).tolist() == [[1, 0], [0, 1]]
    assert plan.decode(plan.encode(frame)).tolist() == [[1, 0], [0, 1]]


def test_a_target_that_is_missing_is_named_with_its_rows():
    with pytest.raises(TargetError, match=r"has 2 missing values, in rows 1, 3. Drop those rows"):
        md.TargetPlan.fit(["a", None, "b", None])
    plan = md.TargetPlan.fit([1.5, 2.5])
    with pytest.raises(TargetError, match="has 1 missing values, in rows 0"):
        plan.encode([np.nan])


def test_what_cannot_be_learned_is_said():
    with pytest.raises(TargetError, match="'a' in every row"):
        md.TargetPlan.fit(["a", "a"])
    with pytest.raises(TargetError, match="holds dates"):
        md.TargetPlan.fit([dt.date(2024, 1, 1), dt.date(2024, 1, 2)])
    with pytest.raises(TargetError, match="objects of type dict"):
        md.TargetPlan.fit([{}, {}])
    for nothing in ([], [[]]):
        with pytest.raises(ShapeError, match="no rows"):
            md.TargetPlan.fit(nothing)
    with pytest.raises(TargetError, match="Row 1 of the target is inf"):
        md.TargetPlan.fit([0.5, np.inf])
    with pytest.raises(TargetError, match="task='binary' needs two classes, but the target has 3"):
        md.TargetPlan.fit(["a", "b", "c"], task="binary")
    with pytest.raises(
        TargetError, match=r"^Row 1 of the target is 'b', but numbers are needed. Choose another task or ta"
    ):
        md.TargetPlan.fit(["1", "b"], task="regression")
    with pytest.raises(TargetError, match="needs a target with one column, but it has 2"):
        md.TargetPlan.fit([[1, 2], [3, 4]], task="multiclass")
    with pytest.raises(TargetError, match="Row 1 of the target is 'c', a class that training did not have"):
        md.TargetPlan.fit(["a", "b"]).encode(["a", "c"])
    with pytest.raises(TargetError, match="a different text in each of its 30 rows, like a column of names"):
        md.TargetPlan.fit([f"name {k}" for k in range(30)])
    with pytest.raises(TargetError, match="or all be 0 and 1, true and false, yes and no; 'b' is not"):
        md.TargetPlan.fit(pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}))
    for size in (1e308, 1e-310):
        with pytest.raises(TargetError, match="too large or too small to be learned"):
            md.TargetPlan.fit(size * np.array([0.5, 1.0, 1.7]), task="regression")
    with pytest.raises(ConfigError, match="task='guess' must be one of regression, count"):
        md.TargetPlan.fit([1.5, 2.5], task="guess")
    with pytest.raises(TargetError, match="has 1 columns, but in training it had 2"):
        md.TargetPlan.fit([[0.5, 1.0], [1.5, 2.0]]).encode([[1.0], [2.0]])


def test_a_constant_number_is_learned_as_it_is():
    plan = md.TargetPlan.fit([2.5, 2.5])
    np.testing.assert_array_equal(plan.decode(plan.encode([2.5, 2.5])), [2.5, 2.5])
