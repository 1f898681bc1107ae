"""Reports of estimators, whatever their rows come as."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import madaline as md
from madaline.errors import ConfigError, ShapeError
from report_page import Page

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


def read(path):
    return Page(path.read_text(encoding="utf-8"))


def first_column(page):
    """The most important column."""
    return page.chart("Permutation importance")["layout"]["yaxis"]["ticktext"][0]


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
    assert first_column(Page(text)) == "size"
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
    assert "Confusion matrix" in text
    assert first_column(Page(text)) == ("b" if make is pd.DataFrame else "x1")
    assert "learning_rate_init=0.02" in text


def test_labels_and_several_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    for estimator, y in ((md.MLPClassifier(max_iter=5), (X > 0).astype(int)), (md.MLPRegressor(max_iter=5), 2.0 * X)):
        md.write_report(estimator.fit(X, y), X, y, tmp_path / "report.html")
        page = read(tmp_path / "report.html")
        if y.dtype == int:
            labels = page.chart("Precision and recall by label")["layout"]["yaxis"]["ticktext"]
            assert [label[:2] for label in labels] == ["y0", "y1"]
        else:
            assert "Residuals of y1" in page.titles


def test_the_data_section_shows_the_training_set_if_it_is_given(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = pd.Series(np.where(X[:, 0] > 0.0, "yes", "no"), name="sold")
    classifier = md.MLPClassifier((4,), max_iter=5).fit(X[:70], y[:70])
    for training, rows, n in ((None, "test set", 30), ((X[:70], y[:70]), "training set", 70)):
        md.write_report(classifier, X[70:], y[70:], tmp_path / "report.html", training=training)
        page = read(tmp_path / "report.html")
        (bars,) = page.chart("Class balance")["data"]
        assert sum(bars["x"]) == n
        assert f"of the {rows}" in page.text
        assert page.chart("Correlations")["layout"]["yaxis"]["ticktext"][0] == "sold = yes"
        numbers = [int(row[0]) for row in page.rows("Worst predictions")[1:]]
        assert max(numbers) < 30, "rows of X are counted from 0"
    with pytest.raises(ShapeError, match="training has 70 rows in X and 60 in y"):
        md.write_report(classifier, X[70:], y[70:], tmp_path / "report.html", training=(X[:70], y[:60]))


def test_a_wide_sparse_matrix_has_its_most_important_columns_described(tmp_path):
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((60, 3000)) * (rng.random((60, 3000)) < 0.01))
    y = rng.random(60)
    regressor = md.MLPRegressor(hidden_layer_sizes=(4,), max_iter=3).fit(X, y)
    md.write_report(regressor, X, y, tmp_path / "report.html")
    page = read(tmp_path / "report.html")
    assert "for the 24 most important columns" in page.text
    assert len(page.chart("Correlations")["layout"]["xaxis"]["ticktext"]) == 31


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
