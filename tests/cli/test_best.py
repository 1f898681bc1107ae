"""``madaline train --preset best``: an ensemble from a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import madaline as md
from command_options import BARE
from madaline.errors import ConfigError

QUICK = ("--preset", "best", "--epochs", 3, "--hidden", "8", *BARE)


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


@pytest.mark.parametrize(
    ("n_rows", "options", "is_ensemble"),
    [
        (120, (), True),
        (1_000, (), True),
        (1_001, (), False),
        (19, (), False),
        (120, ("--preset", "auto"), False),
        (120, ("--epochs", 2), False),
        (120, ("--hidden", "8"), False),
        (120, ("--heal",), False),
    ],
)
def test_an_ensemble_is_the_default_for_small_tables(madaline, n_rows, options, is_ensemble):
    """What was chosen is written down, so that the settings train the same kind of model of a longer table, too."""
    x = np.arange(n_rows) / n_rows
    pl.DataFrame({"x": x, "y": np.sin(9.0 * x)}).write_csv("table.csv")
    bare = BARE if "--heal" not in options else ("--no-baselines", "--no-report")
    ran = madaline("train", "table.csv", "-t", "y", "--out", "run", "--time", "0.3s", *options, *bare)
    assert ran.code == 0, ran.err
    assert ("Trained an ensemble" in ran.out) == ("Model: an ensemble of nets" in ran.out) == is_ensemble
    assert "--preset best" not in ran.out.partition("To try next")[2] or not is_ensemble
    preset = md.load("run").get_params()["preset"]
    assert preset == ("best" if is_ensemble else "auto")
    assert f'preset = "{preset}"' in Path("run/config.toml").read_text()


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
