"""``madaline train --preset best``: an ensemble from a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.errors import ConfigError

QUICK = ("--preset", "best", "--epochs", 3, "--hidden", "8", "--no-baselines", "--no-report", "--no-doctor")


@pytest.fixture
def shops(tmp_path):
    rng = np.random.default_rng(0)
    n = 120
    table = pl.DataFrame(
        {
            "shop": [f"s{k % 6}" for k in range(n)],
            "day": [f"2024-{1 + k // 28 % 12:02d}-{1 + k % 28:02d}" for k in range(n)],
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
        }
    ).with_columns((2.0 * pl.col("a") - pl.col("b")).alias("y"))
    table.write_csv(tmp_path / "shops.csv")
    return "shops.csv"


def test_an_ensemble_is_trained_used_and_trained_again(madaline):
    ran = madaline("train", "penguins", "--out", "run", *QUICK)
    assert ran.code == 0, ran.err
    assert "Trained an ensemble of 40 members" in ran.out
    assert "net: 8 members on 8 folds, weight" in ran.out
    assert "plain net: 8 members on 8 folds, weight" in ran.out
    assert "times the arithmetic of the largest member" in ran.out
    assert "rows for validation" not in ran.out
    assert madaline("evaluate", "run", "penguins").code == 0
    assert madaline("inspect", "run").code == 0
    assert madaline("export", "run", "--to", "python", "-o", "net.py").code == 0
    for folder, file in (("run", "first.csv"), ("again", "second.csv")):
        if folder == "again":
            assert madaline("train", "--config", "run/config.toml", "--out", "again", *QUICK[-3:]).code == 0
        assert madaline("predict", folder, "penguins", "--proba", "-o", file).code == 0
    assert pl.read_csv("first.csv").equals(pl.read_csv("second.csv"))


@pytest.mark.parametrize(("way", "option"), [("group", ("--group", "shop")), ("time", ("--when", "day"))])
def test_folds_are_made_as_the_test_set_is(madaline, shops, way, option):
    """Six shops, of which one is the test set; five steps forward in time."""
    ran = madaline("train", shops, "-t", "y", "--out", "run", *option, *QUICK)
    assert ran.code == 0, ran.err
    assert "on 5 folds" in ran.out
    assert json.loads(Path("run/result.json").read_text())["split"] == way


def test_a_time_limit_is_kept_and_said(madaline):
    ran = madaline("train", "penguins", "--preset", "best", "--time", "0.5s", "--out", "run", *QUICK[-3:])
    assert ran.code == 0, ran.err
    assert "Trained an ensemble" in ran.out
    assert madaline("predict", "run", "penguins", "-o", "scored.csv").code == 0


def test_the_time_limit_is_for_training_alone(madaline, monkeypatch):
    """Reading the table and importing scikit-learn may take longer than a short limit."""
    seen = []

    def fit(self, X, y, **options):
        seen.append(options["max_seconds"])
        raise ConfigError("seen")

    monkeypatch.setattr(md.MLPClassifier, "fit", fit)
    assert madaline("train", "penguins", "--preset", "best", "--time", "0.5s").err == "madaline: seen\n"
    assert seen == [0.5]


def test_what_cannot_be_is_refused(madaline, shops):
    ran = madaline("train", shops, "-t", "y", "--preset", "best", "--memory", "1KB", "--out", "run")
    assert ran.code == 2
    assert "--preset best needs the table in memory" in ran.err
    ran = madaline("train", shops, "-t", "y", "--preset", "quick", "--out", "run")
    assert ran.code == 2
    assert "--preset quick is not known. Choose auto or best." in ran.err
