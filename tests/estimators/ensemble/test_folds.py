"""Folds of an ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit

from madaline.errors import ConfigError, ShapeError
from madaline.estimators.ensemble.folds import make_folds


def test_each_row_is_held_out_once_and_never_trains_its_own_fold():
    found = make_folds(23, n_folds=5, strata=None)
    assert len(found) == 5
    assert sorted(np.concatenate([held for _, held in found])) == list(range(23))
    for train, held in found:
        assert sorted([*train, *held]) == list(range(23))


def test_folds_depend_on_the_seed_only():
    first, again, other = (make_folds(30, n_folds=3, strata=None, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(first, other, strict=True))


def test_classes_are_spread_evenly():
    strata = np.repeat([0, 1], [80, 20])
    assert [strata[held].sum() for _, held in make_folds(100, n_folds=5, strata=strata)] == [4] * 5


def test_a_class_with_fewer_rows_than_folds_is_no_error():
    strata = np.repeat([0, 1], [30, 2])
    assert len(make_folds(32, n_folds=5, strata=strata)) == 5


def test_all_classes_may_be_rare():
    assert len(make_folds(8, n_folds=5, strata=np.arange(8))) == 5


def test_rows_of_a_group_stay_together():
    groups = np.repeat(["a", "b", "c", "d", "e", "f"], 5)
    for train, held in make_folds(30, n_folds=3, strata=None, groups=groups):
        assert not set(groups[train]) & set(groups[held])


def test_few_groups_make_few_folds():
    assert len(make_folds(30, n_folds=8, strata=None, groups=np.arange(30) % 3)) == 3


def test_folds_can_be_given():
    given = [(np.arange(10, 20), np.arange(10)), (np.arange(10), np.arange(10, 20))]
    for cv in (given, iter(given)):
        found = make_folds(20, n_folds=8, strata=None, cv=cv)
        assert [held.tolist() for _, held in found] == [list(range(10)), list(range(10, 20))]
    assert len(make_folds(20, n_folds=8, strata=None, cv=4)) == 4
    found = make_folds(20, n_folds=8, strata=None, cv=TimeSeriesSplit(3))
    assert all(train.max() < held.min() for train, held in found)


def test_what_cannot_be_divided_is_refused():
    for error, message, arguments in [
        (ConfigError, "at least 4 rows, and there are 3", {"n_rows": 3}),
        (ConfigError, "cv=1 must be between 2", {"cv": 1}),
        (ConfigError, "cv=11 must be between 2 and the number of rows, 10", {"cv": 11}),
        (ShapeError, "groups has 4 values, and X has 10 rows", {"groups": [1, 2, 3, 4]}),
        (ConfigError, "only one group", {"groups": [1] * 10}),
        (ConfigError, "without training rows", {"cv": [(np.array([], int), np.arange(10))]}),
    ]:
        options = {"n_rows": 10, "n_folds": 5, "strata": None} | arguments
        with pytest.raises(error, match=message):
            make_folds(options.pop("n_rows"), **options)
