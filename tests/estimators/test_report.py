"""Reports of estimators, whatever their rows come as."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

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


N = 250
"More rows than a report tries columns on, so that some are drawn."
TARGETS = {
    "binary": lambda signal, rng: np.where(signal > 0.0, "yes", "no"),
    "multiclass": lambda signal, rng: np.array(["low", "mid", "top"])[np.digitize(signal, [-1.0, 1.0])],
    "multilabel": lambda signal, rng: {"big_house": (signal > 0.0).astype(int), "odd_one": rng.integers(0, 2, N)},
    "regression": lambda signal, rng: signal,
    "several numbers": lambda signal, rng: {"price": signal, "rent": 2.0 * signal + 1.0},
    "count": lambda signal, rng: rng.poisson(np.exp(0.5 * signal)),
}
SHOWS = {
    "binary": ("Confusion matrix", "yes"),
    "multiclass": ("Confusion matrix", "mid"),
    "multilabel": ('"name":"big_house"', '"name":"odd_one"'),
    "regression": ("Residuals", "Coverage of prediction intervals"),
    "several numbers": ("Residuals of price", "Residuals of rent"),
    "count": ("Residuals", "Poisson deviance"),
}


def data(task, make):
    """A frame with text, and its target as a series or a frame of the same library."""
    columns, signal = table(N)
    rng = np.random.default_rng(1)
    columns["city"] = np.where(np.arange(N) % 11 == 0, None, columns["city"].astype(object))
    columns["street"] = np.array([f"street {k}" for k in rng.integers(0, 30, N)])
    y = TARGETS[task](signal, rng)
    series = pd.Series(y, name="goal") if make is pd.DataFrame and not isinstance(y, dict) else None
    return make(columns), make(y) if isinstance(y, dict) else pl.Series("goal", y) if series is None else series


def fitted(task, **parameters):
    parameters = {"hidden_layer_sizes": (16,), "max_iter": 15, "random_state": 0} | parameters
    if task in ("regression", "several numbers", "count"):
        return md.MLPRegressor("poisson" if task == "count" else "squared_error", **parameters)
    return md.MLPClassifier(**parameters)


@pytest.mark.parametrize("how", [{"preset": "auto"}, {"data": "auto"}], ids=["preset", "table"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("task", TARGETS)
def test_frames_with_text_for_every_task(tmp_path, task, make, how):
    X, y = data(task, make)
    md.write_report(fitted(task, **how).fit(X, y), X, y, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for shown in SHOWS[task]:
        assert shown in text
    for name in X.columns:
        assert f"<td>{name}</td>" in text
    assert f"{N} rows" in text
    if "preset" in how:  # the others have learned too little to tell
        assert first_column(Page(text)) in ("size", "city")
    if task in ("regression", "count"):
        assert "goal" in text


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("task", TARGETS)
def test_a_pipeline_is_reported_by_the_columns_that_go_into_it(tmp_path, task, make):
    """What its steps make of them is between them and the net."""
    X, y = data(task, make)
    numbers, texts = ["size", "rooms", "new"], ["city", "street"]
    steps = ColumnTransformer(
        [("numbers", StandardScaler(), numbers), ("texts", OneHotEncoder(handle_unknown="ignore"), texts)]
    )
    pipeline = make_pipeline(steps, fitted(task, max_iter=40, learning_rate_init=0.01)).fit(X, y)
    md.write_report(pipeline, X, y, tmp_path / "report.html", title="a pipeline")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>a pipeline</h1>" in text
    for shown in SHOWS[task]:
        assert shown in text
    assert first_column(Page(text)) in ("size", "city")
    assert "OneHotEncoder" in text  # among the settings


def test_a_pipeline_of_an_array(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = X[:, 2] > 0.0
    pipeline = make_pipeline(StandardScaler(), fitted("binary", max_iter=40, learning_rate_init=0.02)).fit(X, y)
    md.write_report(pipeline, X, y, tmp_path / "report.html")
    assert first_column(read(tmp_path / "report.html")) == "x2"


@pytest.mark.parametrize("kind", ["GaussianMLPRegressor", "MixtureDensityRegressor", "QuantileMLPRegressor"])
def test_density_estimators_have_reports_too(tmp_path, kind):
    X, y = data("regression", pd.DataFrame)
    estimator = getattr(md, kind)(8, data="auto", max_iter=10, random_state=0).fit(X, y)
    md.write_report(estimator, X, y, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"<h1>{kind}</h1>" in text
    assert "Residuals" in text


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
    with pytest.raises(TypeError, match=r"path is a ndarray.* write_report\(estimator, X, y, path\)"):
        md.write_report(classifier, tmp_path / "report.html", X, y)
    with pytest.raises(ShapeError, match=r"y has shape \(4, 2\), and one class for each row is needed"):
        md.write_report(classifier, X, np.stack([y, y], axis=1), tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
