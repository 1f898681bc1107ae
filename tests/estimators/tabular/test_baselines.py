"""Baselines learn what they can from what the net gets."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from madaline.data.encode import NUMBERS
from madaline.estimators.tabular.baselines import BaselineRows, baselines
from madaline.estimators.tabular.scores import score


@pytest.fixture(autouse=True)
def one_thread():
    """As the command line has it for few rows: threads that wait for each other take longer than one."""
    with threadpool_limits(1):
        yield


TASKS = ["binary", "multiclass", "multilabel", "regression", "count"]


def rows(task, rng, n):
    """A target that depends on a number and, for some tasks, on a category of many."""
    x = rng.normal(size=(n, 3)).astype(np.float32)
    code = rng.integers(0, 40, n)
    signal = x[:, 0] + 0.5 * np.sin(code)
    y = {
        "binary": (signal > 0).astype(int),
        "multiclass": np.digitize(signal, [-0.5, 0.5]),
        "multilabel": np.stack([signal > 0, x[:, 1] > 0], axis=1).astype(int),
        "regression": signal[:, None].astype(float),
        "count": np.round(np.exp(signal))[:, None],
    }[task]
    return BaselineRows({NUMBERS: x, "city": code}, y)


@pytest.mark.parametrize("task", TASKS)
def test_models_that_learn_beat_the_one_that_does_not(task, rng):
    train, test = rows(task, rng, 800), rows(task, rng, 400)
    n_classes = {"binary": 2, "multiclass": 3}.get(task, 0)
    found = {
        name: score(task, test.y, predicted())[0].value
        for name, predicted in baselines(task, train, test, n_classes, seed=0)
    }
    assert list(found)[1:] == ["linear model", "gradient boosting"]
    least = next(iter(found.values()))
    assert found["linear model"] > least + 0.05
    assert found["gradient boosting"] > least + 0.05


def test_a_class_that_training_rows_lack_has_no_probability(rng):
    train, test = rows("binary", rng, 100), rows("binary", rng, 50)
    for _, predicted in baselines("multiclass", train, test, 3, seed=0):
        p = predicted()
        assert p.shape == (50, 3)
        assert np.all(p[:, 2] == 0.0)


def test_several_numbers_and_tables_without_categories_are_fine(rng):
    x = rng.normal(size=(300, 2)).astype(np.float32)
    y = np.column_stack([x[:, 0], x[:, 1] * 2.0])
    whole = BaselineRows({NUMBERS: x}, y)
    for name, predicted in baselines("regression", whole, whole, 0, seed=0):
        assert predicted().shape == (300, 2), name


def test_very_wide_tables_get_no_boosting(rng):
    wide = BaselineRows({NUMBERS: rng.normal(size=(30, 2001)).astype(np.float32)}, rng.normal(size=(30, 1)))
    assert [name for name, _ in baselines("regression", wide, wide, 0, seed=0)] == ["mean", "linear model"]


def test_very_many_classes_get_no_boosting(rng):
    whole = rows("multiclass", rng, 50)
    assert [name for name, _ in baselines("multiclass", whole, whole, 1000, seed=0)] == [
        "most frequent",
        "linear model",
    ]
