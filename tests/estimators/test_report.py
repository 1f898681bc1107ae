"""Reports of estimators, whatever their rows come as."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import madaline as md
from madaline.errors import ConfigError, ShapeError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a few epochs are enough here


def table(n=90):
    rng = np.random.default_rng(0)
    day = np.datetime64("2024-01-01", "us") + rng.integers(0, 300, n) * np.timedelta64(1, "D")
    columns = {
        "size": rng.normal(size=n),
        "city": rng.choice(["Rome", "Oslo", "Bern"], n),
        "rooms": rng.integers(1, 6, n),
        "day": day,
        "new": rng.integers(0, 2, n).astype(bool),
    }
    return columns, 3.0 * columns["size"] + 2.0 * (columns["city"] == "Rome")


def first_column(text):
    """The most important column."""
    return re.search(
        r'"ticktext":\["([^"]*)"[^]]*\],"automargin":true,"autorange":"reversed"\},"showlegend":false', text
    )[1]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", "dict"])
def test_tables_of_anything(tmp_path, make):
    columns, y = table()
    X = make(columns)
    regressor = md.MLPRegressor(
        data="auto", hidden_layer_sizes=(8,), max_iter=60, learning_rate_init=0.01, random_state=0
    )
    md.write_report(regressor.fit(X, y), X, y, tmp_path / "report.html", title="houses")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>houses</h1>" in text
    assert "Residuals" in text
    assert first_column(text) == "size"
    for name in columns:
        assert f"<td>{name}</td>" in text


@pytest.mark.parametrize("make", [np.asarray, csr_matrix, pd.DataFrame], ids=["array", "sparse", "frame of numbers"])
def test_numbers_of_a_classifier(tmp_path, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 1] > 0.0, "yes", "no")
    given = pd.DataFrame(X, columns=["a", "b", "c"]) if make is pd.DataFrame else make(X)
    classifier = md.MLPClassifier(
        (8,), max_iter=40, learning_rate_init=0.02, tol=0, n_iter_no_change=99, random_state=0
    )
    md.write_report(classifier.fit(given, y), given, y, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>MLPClassifier</h1>" in text
    assert "Which classes are mixed up" in text
    assert first_column(text) == ("b" if make is pd.DataFrame else "x1")
    assert "learning_rate_init=0.02" in text


def test_labels_and_several_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    for estimator, y in ((md.MLPClassifier(max_iter=5), (X > 0).astype(int)), (md.MLPRegressor(max_iter=5), 2.0 * X)):
        md.write_report(estimator.fit(X, y), X, y, tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert ("label 1" if y.dtype == int else "Residuals of y1") in text


def test_what_cannot_be_shown_is_said(tmp_path):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    margin = md.MLPClassifier(loss="hinge", max_iter=2).fit(X, y)
    with pytest.raises(ConfigError, match="loss='hinge' gives none"):
        md.write_report(margin, X, y, tmp_path / "report.html")
    classifier = md.MLPClassifier(max_iter=2).fit(X, y)
    with pytest.raises(ConfigError, match="class 7, which was not in the training data"):
        md.write_report(classifier, X, np.array([0, 1, 0, 7]), tmp_path / "report.html")
    with pytest.raises(ShapeError, match="X has 4 rows, and y has 3"):
        md.write_report(classifier, X, y[:3], tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
