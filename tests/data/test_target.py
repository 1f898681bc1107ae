"""Targets of any type as the arrays that an estimator is fitted to."""

from __future__ import annotations

import contextlib
import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_values import VALUES
from madaline.data.target import TargetReader
from madaline.data.task import TASKS
from madaline.errors import ConfigError, InputError, MadalineError, ShapeError, TargetError


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
        (
            [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8, 10, 14] * 5,
            "count",
            "whole numbers from 0 to 14, distributed like numbers of things: predicted by a Poisson regression",
        ),
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
    reader = TargetReader.fit(y)
    assert (reader.task, reader.reason) == (task, reason)


def test_a_task_that_is_given_is_kept():
    assert TargetReader.fit([1, 2, 3] * 3, task="regression").task == "regression"
    assert TargetReader.fit([0, 1, 2] * 3, task="count").task == "count"
    assert TargetReader.fit([410, 205, 280], task="multiclass").classes == (205, 280, 410)
    assert TargetReader.fit(["a", "b"], task="multiclass").task == "binary"
    assert TargetReader.fit([1.0, 2.0], task="regression").reason == "as requested"


def test_a_negative_number_is_no_count():
    with pytest.raises(TargetError, match=r"row 2 of the target is -1. Use task='regression'"):
        TargetReader.fit([0, 3, -1], task="count")


@pytest.mark.parametrize(
    "y",
    [
        ["no", "yes", "no"],
        [3, 7, 3],
        [True, False, True],
        [0.5, 1.0, 0.5],
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype="string"),
        pl.Series([2, 1, 2]),
        pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        np.array([1.0, 2.0, 1.0]),
        np.array(["no", "yes", "no"], dtype=object),
    ],
    ids=str,
)
def test_classes_are_read_as_they_are(y):
    reader = TargetReader.fit(y, task="multiclass")
    values = reader.values(y)
    assert reader.task == "binary"
    assert values.tolist() == list(y)
    assert values.dtype.kind in "Uifb"
    assert set(values.tolist()) == set(reader.classes)
    assert reader.classes == tuple(sorted(reader.classes))


def test_classes_are_read_whatever_type_a_file_gives_them():
    """Whole numbers may come as numbers with a point, as text, or as a category."""
    reader = TargetReader.fit([3, 7, 3], task="binary")
    for again in ([7.0, 3.0], ["7", "3"], pd.Series([7, 3], dtype="category"), pl.Series([7, 3])):
        assert reader.values(again).tolist() == [7, 3]
    yes = TargetReader.fit(["yes", "no"])
    assert yes.values(pl.Series(["no", "yes"], dtype=pl.Categorical)).tolist() == ["no", "yes"]


@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3)])
def test_numbers_are_read_as_they_are(shape, rng):
    y = rng.normal(10.0, 5.0, shape)
    reader = TargetReader.fit(y)
    assert reader.task == "regression"
    assert reader.values(y).dtype == np.float64
    np.testing.assert_array_equal(reader.values(y), y)
    if len(shape) == 1:
        np.testing.assert_array_equal(reader.values([str(number) for number in y]), y)


def test_a_data_frame_of_labels():
    frame = pl.DataFrame({"red": [True, False], "big": [False, True]})
    reader = TargetReader.fit(frame)
    assert (reader.task, reader.names, reader.classes) == ("multilabel", ("red", "big"), ())
    assert reader.values(frame).tolist() == [[1, 0], [0, 1]]
    assert reader.values({"red": ["yes", "no"], "big": ["No", "YES"]}).tolist() == [[1, 0], [0, 1]]


def test_the_columns_of_a_target_have_names():
    assert TargetReader.fit({"answer": ["yes", "no"]}).names == ("answer",)
    assert TargetReader.fit(pd.DataFrame({"a": [1.5, 2.5], "b": [1.0, 2.0]})).names == ("a", "b")


def test_a_target_that_is_missing_is_named_with_its_rows():
    with pytest.raises(TargetError, match=r"has 2 missing values, in rows 1, 3. Drop those rows"):
        TargetReader.fit(["a", None, "b", None])
    reader = TargetReader.fit([1.5, 2.5])
    with pytest.raises(TargetError, match="has 1 missing values, in rows 0"):
        reader.values([np.nan])


def test_what_cannot_be_learned_is_said():
    with pytest.raises(TargetError, match="'a' in every row"):
        TargetReader.fit(["a", "a"])
    with pytest.raises(TargetError, match="holds dates"):
        TargetReader.fit([dt.date(2024, 1, 1), dt.date(2024, 1, 2)])
    with pytest.raises(TargetError, match="objects of type dict"):
        TargetReader.fit([{}, {}])
    for nothing in ([], [[]]):
        with pytest.raises(ShapeError, match="no rows"):
            TargetReader.fit(nothing)
    with pytest.raises(TargetError, match="Row 1 of the target is inf"):
        TargetReader.fit([0.5, np.inf])
    with pytest.raises(TargetError, match="task='binary' needs two classes, and the target has 3"):
        TargetReader.fit(["a", "b", "c"], task="binary")
    with pytest.raises(
        TargetError, match=r"^Row 1 of the target is 'b', but numbers are needed. Choose another task or ta"
    ):
        TargetReader.fit(["1", "b"], task="regression")
    with pytest.raises(TargetError, match="needs a target with one column, but it has 2"):
        TargetReader.fit([[1, 2], [3, 4]], task="multiclass")
    with pytest.raises(TargetError, match="Row 1 of the target is 'c', a class that was not in the training data"):
        TargetReader.fit(["a", "b"]).values(["a", "c"])
    with pytest.raises(TargetError, match="a different text in each of its 30 rows, like a column of names"):
        TargetReader.fit([f"name {k}" for k in range(30)])
    with pytest.raises(TargetError, match="or all be 0 and 1, true and false, yes and no; 'b' is not"):
        TargetReader.fit(pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}))
    with pytest.raises(ConfigError, match="task='guess' must be one of binary, multiclass, multilabel"):
        TargetReader.fit([1.5, 2.5], task="guess")
    with pytest.raises(ConfigError, match="task='guess' must be one of"):
        TargetReader("guess", ("y",))
    with pytest.raises(TargetError, match="has 1 columns, and in training it had 2"):
        TargetReader.fit([[0.5, 1.0], [1.5, 2.0]]).values([[1.0], [2.0]])
    with pytest.raises(TargetError, match="has 2 columns, and in training it had 1"):
        TargetReader.fit(["a", "b"]).values([["a", "b"]])


def test_labels_that_are_none_are_refused():
    with pytest.raises(InputError, match=r"Column 'p': row 2 holds 2.0, which is not true or false"):
        TargetReader.fit(pd.DataFrame({"p": [0, 1, 2], "q": [0, 1, 1]}), task="multilabel")
    reader = TargetReader.fit(pd.DataFrame({"p": [0, 1], "q": [0, 1]}))
    with pytest.raises(InputError, match="Column 'q': row 1 holds 'perhaps', which is not true or false"):
        reader.values(pd.DataFrame({"p": [0, 1], "q": ["yes", "perhaps"]}))


@given(st.lists(VALUES, max_size=8), st.sampled_from([None, *TASKS]))
def test_whatever_a_target_holds_it_is_read_or_refused_with_a_clear_error(y, task):
    with contextlib.suppress(MadalineError):
        reader = TargetReader.fit(y, task=task)
        found = reader.values(y)
        assert len(found) == len(y)
        if found.dtype.kind == "f" and not reader.classes:
            assert np.isfinite(found).all()
