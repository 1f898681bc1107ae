"""``madaline compare``: runs side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import madaline as md
from command_options import BARE
from madaline.data.datasets import DATASETS
from report_page import Page


@pytest.fixture
def runs(madaline):
    """Two runs on the same test rows, the second with another net."""
    assert madaline("train", "iris", "--out", "one", "--epochs", "4", *BARE).code == 0
    DATASETS["iris"].table().write_csv("copy.csv")
    second = ("train", "copy.csv", "-t", "species", "--out", "two", "--epochs", "6", "--hidden", "8", *BARE)
    assert madaline(*second).code == 0
    return "one", "two"


def test_runs_are_shown_side_by_side(madaline, runs):
    result = madaline("compare", *runs)
    assert result.code == 0, result.err
    lines = {line.split("  ")[0].strip(): line for line in result.out.splitlines()}
    for name in ("task", "target", "accuracy", "epochs", "seconds", "hidden_layer_sizes", "max_iter"):
        assert name in lines
    assert "multiclass" in lines["task"]
    assert "activation" not in lines, "it is the same in both"
    assert "Best accuracy:" in result.out
    assert "Warning" not in result.out, "the rows are the same, though the tables have different names"


def test_scripts_get_one_document(madaline, runs):
    document = madaline("compare", "one", "two/model.madaline", "--json").json()
    one, two = document["runs"]
    assert (one["run"], two["run"]) == ("one", "two/model.madaline")
    assert one["test_rows"] == two["test_rows"] != ""
    assert one["scores"]["accuracy"]["low"] <= one["scores"]["accuracy"]["value"]
    assert two["parameters"]["hidden_layer_sizes"] == [8]
    assert document["warnings"] == []


def test_a_page_has_scores_and_curves(madaline, runs):
    result = madaline("compare", *runs, "-o", "compare.html")
    assert result.code == 0, result.err
    page = Page(Path("compare.html").read_text(encoding="utf-8"))
    assert {"accuracy", "log loss", "Loss, validation set", "Accuracy, training set"} <= set(page.titles)
    assert len(page.chart("Loss, validation set")["data"]) == 2
    assert madaline("compare", *runs, "-o", "compare.html").code == 1
    assert madaline("compare", *runs, "-o", "compare.html", "--force").code == 0


def test_runs_that_were_tested_on_different_rows_are_told(madaline, runs):
    assert madaline("train", "iris", "--out", "three", "--epochs", "2", "--seed", "5", *BARE).code == 0
    assert "tested on different rows (different splits)" in madaline("compare", "one", "three").out
    assert madaline("train", "iris", "--out", "four", "--epochs", "2", "--test", "0.5", *BARE).code == 0
    (text,) = madaline("compare", "one", "four", "--json").json()["warnings"]
    assert "different numbers of test rows" in text
    table = DATASETS["iris"].table()
    table.sort("sepal length (cm)").write_csv("sorted.csv")
    run = ("train", "sorted.csv", "-t", "species", "--out", "five", "--epochs", "2", *BARE)
    assert madaline(*run).code == 0
    assert "tested on different rows (different tables)" in madaline("compare", "one", "five").out


def test_models_that_were_saved_from_python_can_be_compared_as_far_as_they_are_known(madaline, runs):
    X = np.random.default_rng(0).normal(size=(40, 2))
    md.MLPClassifier((4,), schedule="cosine", max_iter=5).fit(X, X[:, 0] > 0).save("own.madaline")
    result = madaline("compare", "one", "own.madaline")
    assert result.code == 0, result.err
    assert "own.madaline: there are no scores on a test set" in result.out
    assert "different tasks" in result.out


def test_what_cannot_be_compared_is_said(madaline, runs, tmp_path):
    assert "two or more runs" in madaline("compare", "one").err
    assert madaline("compare", "one", "-o", "x.html").code == 2
    assert "must end in .html" in madaline("compare", *runs, "-o", "compare.pdf").err
    missing = madaline("compare", "one", "nowhere")
    assert missing.code == 1
    assert "nowhere" in missing.err
    assert not list(tmp_path.glob("*.html"))
