"""``madaline search``: a run folder by a search."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from report_page import Page

QUICK = ("--hidden", "8", "--epochs", 15, "--no-baselines")
SPACE = """
learning_rate_init = {low = 1e-3, high = 1e-1, log = true}
dropout = [0.0, 0.1, 0.3]
"""
KILLED = """
import os, signal, sys
from madaline.train.population import Population
fit, calls = Population.fit, []
def killing(population, *arguments, **options):
    calls.append(1)
    if len(calls) == 5:  # the first rung of the second round, after linear models, trial 0 and a round of two rungs
        os.kill(os.getpid(), signal.SIGKILL)
    return fit(population, *arguments, **options)
Population.fit = killing
from madaline.cli.__main__ import run
run()
"""


@pytest.fixture
def space(tmp_path):
    (tmp_path / "space.toml").write_text(SPACE)
    return "space.toml"


def losses(folder):
    return [trial["loss"] for trial in json.loads(Path(folder, "result.json").read_text())["trials"]]


def test_a_search_killed_by_force_ends_as_one_that_was_not(madaline, space):
    """Up to the last bit of the model's weights."""
    options = ["--trials", "12", "--space", space, *map(str, QUICK)]
    command = [sys.executable, "-c", KILLED, "search", "penguins", "--out", "killed", *options]
    process = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    assert process.returncode == -signal.SIGKILL
    assert Path("killed.unfinished/checkpoint.madaline/study.db").exists()
    ran = madaline("search", "--resume", "killed", "--no-baselines")
    assert ran.code == 0, ran.err
    assert "Searched 12 trials" in ran.out
    ran = madaline("search", "penguins", "--out", "whole", *options)
    assert ran.code == 0, ran.err
    assert losses("killed") == losses("whole")
    for folder in ("killed", "whole"):
        assert madaline("predict", folder, "penguins", "--proba", "-o", f"{folder}.csv").code == 0
    assert Path("killed.csv").read_bytes() == Path("whole.csv").read_bytes()

    # What is in the folder, and what the report shows.
    assert {path.name for path in Path("whole").iterdir()} >= {
        "model.madaline", "report.html", "config.toml", "result.json", "study.db", "trials.csv", "space.toml",
    }  # fmt: skip
    trials = pl.read_csv("whole/trials.csv")
    assert trials["trial"].to_list() == list(range(12))
    assert {"state", "loss", "learning_rate_init", "dropout"} <= set(trials.columns)
    found = json.loads(Path("whole/result.json").read_text())["search"]
    assert found["ensemble_loss"] <= found["default_loss"]
    page = Page(Path("whole/report.html").read_text())
    shown = {"History of the search", "Importance of hyperparameters", "Parallel coordinates", "dropout"}
    assert shown <= set(page.titles)
    assert len(page.chart("Parallel coordinates")["data"]) == 12  # without trial 0, with the bar of colours
    assert page.rows("Best trials")[0][:2] == ["trial", "loss"]

    # More trials are added to a finished search.
    ran = madaline("search", "--resume", "whole", "--trials", 14, "--no-baselines", "--no-report")
    assert ran.code == 0, ran.err
    assert losses("whole")[:12] == losses("killed")
    assert len(losses("whole")) == 14


def test_the_time_limit_ends_a_search(madaline):
    ran = madaline("search", "penguins", "--time", "1s", "--out", "run", "--no-baselines", "--no-report")
    assert ran.code == 0, ran.err
    assert "; the time limit was reached" in ran.out
    assert madaline("evaluate", "run", "penguins").code == 0


def test_what_cannot_be_is_refused(madaline, tmp_path):
    (tmp_path / "wrong.toml").write_text('droput = [0.1]\nactivation = ["mihs"]\n')
    ran = madaline("search", "penguins", "--space", "wrong.toml", "--out", "run")
    assert ran.code == 2
    assert "Did you mean 'dropout'?" in ran.err
    assert "Did you mean 'mish'?" in ran.err
    ran = madaline("search", "penguins", "--space", "none.toml", "--out", "run")
    assert ran.code == 1
    assert "none.toml" in ran.err
    assert madaline("search", "penguins", "--trials", 0, "--out", "run").code == 2
    assert madaline("search", "penguins", "--preset", "best", "--out", "run").code == 2
    assert "madaline search FILE --target COLUMN" in madaline("search").err
    ran = madaline("search", "penguins", "--memory", "1KB", "--out", "run")
    assert ran.code == 2
    assert "A search needs the table in memory" in ran.err
    ran = madaline("search", "penguins", "--asynchronous", "--out", "run")
    assert ran.code == 2
    assert "--asynchronous needs a cluster" in ran.err
    assert not list(Path().glob("run*"))


def test_an_error_of_the_space_names_the_file_as_it_was_given(madaline):
    Path("s.toml").write_text("nonsense = [1, 2]\n")
    result = madaline("search", "penguins", "--space", "s.toml", "--trials", "2")
    assert result.code == 2
    assert "The space 's.toml': 'nonsense' is not a hyperparameter of MLPClassifier." in result.err
    assert [path.name for path in Path().iterdir()] == ["s.toml"]
