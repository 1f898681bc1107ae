"""A table in several files: a folder, a pattern, or what a shell makes of a pattern."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from command_options import BARE
from madaline.data.datasets import DATASETS

QUICK = ("--target", "mpg", "--epochs", "2", *BARE)


@pytest.fixture
def parts(madaline):
    """Three tables of cars in a folder."""
    Path("big").mkdir()
    frame = DATASETS["auto_mpg"].table()
    for k in range(3):
        frame.slice(100 * k, 100).write_parquet(f"big/part-{k}.parquet")
    return sorted(map(str, Path("big").iterdir()))


def test_files_a_folder_and_a_pattern_are_the_same_table(madaline, parts):
    for number, given in enumerate((parts, ["big"], ["big/*.parquet"], ["big/part-?.parquet"])):
        result = madaline("train", *given, *QUICK)
        assert (result.code, result.err) == (0, "")
        assert "300 rows" in result.out
        run = Path("big-run" if not number else f"big-run-{number + 1}")
        assert (run / "model.madaline").exists()
    losses = [pl.read_parquet(Path(run, "history.parquet"))["loss"].to_list() for run in ("big-run", "big-run-3")]
    assert losses[0] == losses[1]


def test_files_that_are_not_all_of_a_folder_are_one_sentence(madaline, parts):
    result = madaline("train", *parts[:2], *QUICK)
    assert result.code == 2
    assert "part-2.parquet' is also in it. Give the folder, or a pattern in quotes" in result.err
    other = madaline("train", *parts, "elsewhere.csv", *QUICK)
    assert other.code == 2
    assert "elsewhere.csv' is not a table of" in other.err


def test_a_pattern_that_matches_nothing_is_no_file(madaline):
    result = madaline("train", "none/*.parquet", *QUICK)
    assert result.code == 1
    assert "There is no file" in result.err
