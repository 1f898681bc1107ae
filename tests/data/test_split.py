"""Rows are split into three sets without overlap."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.data.split import WAYS, split_rows
from madaline.errors import ConfigError


@pytest.mark.parametrize("way", WAYS)
def test_every_row_is_in_one_part(way, rng):
    by = rng.integers(0, 40, 1000)
    split = split_rows(1000, way=way, by=by, seed=1)
    parts = [split.train, split.validation, split.test]
    assert sorted(np.concatenate(parts).tolist()) == list(range(1000))
    assert 0.15 < len(split.test) / 1000 < 0.25
    assert 0.08 < len(split.validation) / 1000 < 0.2


def test_a_seed_gives_the_same_parts_and_another_gives_others():
    first, again, other = (split_rows(100, seed=seed).test.tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_a_stratified_split_has_of_each_class_its_share():
    y = np.array(["rare"] * 50 + ["usual"] * 950)
    split = split_rows(1000, way="stratified", by=y, seed=3)
    for part in (split.train, split.validation, split.test):
        assert np.mean(y[part] == "rare") == pytest.approx(0.05, abs=0.012)


def test_a_group_is_in_one_part_only(rng):
    groups = rng.integers(0, 30, 600).astype(str)
    split = split_rows(600, way="group", by=groups)
    kinds = [set(groups[part]) for part in (split.train, split.validation, split.test)]
    assert not (kinds[0] & kinds[1] | kinds[0] & kinds[2] | kinds[1] & kinds[2])


@pytest.mark.parametrize("seed", range(6))
def test_three_groups_are_enough(seed):
    groups = np.array(["large"] * 250 + ["b"] * 79 + ["c"] * 71)
    split = split_rows(400, way="group", by=groups, seed=seed)
    assert {len(np.unique(groups[part])) for part in (split.train, split.validation, split.test)} == {1}


def test_time_tests_on_the_latest(rng):
    when = rng.permutation(np.arange("2020-01-01", "2021-01-01", dtype="datetime64[D]"))
    split = split_rows(len(when), way="time", by=when)
    assert when[split.train].max() < when[split.validation].min()
    assert when[split.validation].max() < when[split.test].min()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"way": "magic"}, "--split magic is not known. Choose one of random, stratified, group, time"),
        ({"test": 1.5}, r"--test 1.5 must be a fraction of the rows between 0 and 1"),
        ({"validation": 0.0}, r"--validation 0.0 must be a fraction"),
        (
            {"way": "group", "by": np.zeros(100)},
            "--split group leaves no rows for training: 1 different values are too few",
        ),
    ],
    ids=["way", "test", "validation", "group"],
)
def test_what_cannot_be_split_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        split_rows(100, **options)


def test_too_few_rows_are_refused():
    with pytest.raises(ConfigError, match="The table has 3 rows, but at least 5 are needed"):
        split_rows(3)
