"""Data frames, databases, and files of fitted estimators."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import madaline as md

pytestmark = pytest.mark.filterwarnings("ignore")


def frames(frame):
    yield frame
    yield pl.from_pandas(frame)
    yield pa.Table.from_pandas(frame, preserve_index=False)
    yield frame.convert_dtypes(dtype_backend="pyarrow")
    yield frame.convert_dtypes()


def test_every_frame_gives_the_same_predictions(clf, people):
    X, y = people
    found = [clf(data="auto").fit(each, y).predict_proba(each) for each in frames(X)]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-6)


def test_numbers_of_every_frame(reg, diabetes):
    X, y = diabetes
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(10)])
    plain = reg().fit(X, y).predict(X)
    for each in frames(frame):
        np.testing.assert_allclose(reg().fit(each, y).predict(each), plain, rtol=1e-5)


def test_a_target_may_be_a_series_of_any_kind(reg, clf, diabetes, iris):
    X, y = diabetes
    for target in (
        pd.Series(y),
        pl.Series(y),
        list(y),
        pd.Series(y, dtype="double[pyarrow]"),
        pd.Series(y, dtype="Float64"),
    ):
        assert reg(max_iter=3).fit(X, target).predict(X).shape == (442,)
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    for target in (
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pl.Series(names),
        pl.Series(names, dtype=pl.Categorical),
        pd.Series(names, dtype="string"),
    ):
        assert set(clf(max_iter=3).fit(X, target).predict(X)) <= {"a", "b", "c"}


def test_a_target_may_be_a_frame_of_one_column(reg, diabetes):
    X, y = diabetes
    assert reg(max_iter=3).fit(X, pd.DataFrame({"y": y})["y"]).predict(X).shape == (442,)


def test_an_index_is_kept_by_the_user(reg, diabetes):
    X, y = diabetes
    frame = pd.DataFrame(X, index=pd.RangeIndex(1000, 1442)).add_prefix("c")
    predicted = pd.Series(reg(max_iter=3).fit(frame, y).predict(frame), index=frame.index)
    assert predicted.index[0] == 1000


def test_duckdb_relation_and_its_frames(clf, people):
    import duckdb

    X, y = people
    X = X.assign(target=y)
    found = duckdb.sql("select age, city, fare, target from X").df()
    model = clf(data="auto").fit(found.drop(columns="target"), found["target"])
    assert model.score(found.drop(columns="target"), found["target"]) > 0.9
    arrow = duckdb.sql("select age, city, fare from X").to_arrow_table()
    assert model.predict(arrow).shape == (200,)


def test_narwhals_frame(clf, people):
    import narwhals as nw

    X, y = people
    assert clf(data="auto").fit(nw.from_native(X), y).predict(nw.from_native(X)).shape == (200,)


def test_lazy_frames_are_collected(clf, people):
    X, y = people
    lazy = pl.from_pandas(X).lazy()
    assert clf(data="auto").fit(lazy, y).predict(lazy).shape == (200,)


def test_joblib_file(clf, iris, tmp_path):
    import joblib

    X, y = iris
    model = clf().fit(X, y)
    joblib.dump(model, tmp_path / "m.joblib", compress=3)
    assert (joblib.load(tmp_path / "m.joblib").predict(X) == model.predict(X)).all()


def test_joblib_mapped_file(clf, iris, tmp_path):
    import joblib

    X, y = iris
    model = clf().fit(X, y)
    joblib.dump(model, tmp_path / "m.joblib")
    assert (joblib.load(tmp_path / "m.joblib", mmap_mode="r").predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("name", ["cloudpickle", "dill"])
def test_other_pickles(name, reg, diabetes):
    package = pytest.importorskip(name)
    X, y = diabetes
    model = reg(activation=lambda x: x * np.tanh(x)).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(package.dumps(model)).predict(X), model.predict(X))


def test_skops(clf, iris):
    import skops.io

    from madaline.ship.skops import trusted_types

    X, y = iris
    model = clf().fit(X, y)
    data = skops.io.dumps(model)
    assert (skops.io.loads(data, trusted=trusted_types(data)).predict(X) == model.predict(X)).all()


def test_skops_card(clf, iris):
    from skops import card

    X, y = iris
    assert "MLPClassifier" in card.Card(clf().fit(X, y)).render()


def test_feature_engine(clf, people):
    from feature_engine.discretisation import EqualFrequencyDiscretiser
    from feature_engine.encoding import OneHotEncoder, RareLabelEncoder
    from feature_engine.imputation import MeanMedianImputer
    from feature_engine.selection import RecursiveFeatureElimination, SelectByShuffling
    from sklearn.pipeline import make_pipeline

    X, y = people
    X = X.drop(columns="when")
    steps = (MeanMedianImputer(), RareLabelEncoder(n_categories=2), OneHotEncoder(), EqualFrequencyDiscretiser(q=4))
    assert make_pipeline(*steps, clf()).fit(X, y).score(X, y) > 0.6
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
    target = (numbers["a"] > 0).astype(int)
    assert (
        SelectByShuffling(clf(max_iter=20), cv=2, scoring="accuracy").fit(numbers, target).transform(numbers).shape[1]
        >= 1
    )
    RecursiveFeatureElimination  # noqa: B018 - it needs feature_importances_


def test_category_encoders(clf, people):
    import category_encoders as ce
    from sklearn.pipeline import make_pipeline

    X, y = people
    for encoder in (ce.TargetEncoder(), ce.BinaryEncoder(), ce.CatBoostEncoder()):
        target = (y == "yes").astype(int)
        assert make_pipeline(encoder, clf()).fit(X[["city"]], target).score(X[["city"]], target) > 0.6


def test_formulaic_and_patsy(reg, people):
    from formulaic import model_matrix

    X, _ = people
    X = X.dropna()
    matrices = model_matrix("fare ~ age + city", X)
    assert reg(max_iter=5).fit(matrices.rhs, matrices.lhs.iloc[:, 0]).predict(matrices.rhs).shape == (len(X),)


def test_xarray_like_sparse_and_mapped_arrays(reg, diabetes, tmp_path):
    from scipy import sparse

    X, y = diabetes
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for each in (sparse.csr_array(X), sparse.csc_matrix(X), mapped, np.asfortranarray(X), X[::-1][::-1]):
        assert reg(max_iter=3).fit(each, y).predict(each).shape == (442,)


def test_openpyxl_workbook(people, tmp_path):
    X, y = people
    X.assign(target=y).to_excel(tmp_path / "t.xlsx", index=False)
    frame, _ = md.read_table(tmp_path / "t.xlsx")
    assert frame.shape == (200, 5)
    assert frame.schema["when"] in (pl.Date, pl.Datetime("us"))
    assert frame["fare"].to_list() == pytest.approx(X["fare"].tolist(), rel=1e-12)


def test_files_that_pandas_writes(people, tmp_path):
    X, y = people
    X = X.assign(target=y)
    X.to_json(tmp_path / "t.jsonl", orient="records", lines=True, date_format="iso")
    X.to_json(tmp_path / "t.json", orient="records", date_format="iso")
    X.to_feather(tmp_path / "t.feather")
    X.to_parquet(tmp_path / "t.parquet")
    X.to_csv(tmp_path / "t.csv.zip", index=False)
    X.to_csv(tmp_path / "t.csv.zst", index=False)
    import sqlite3

    with sqlite3.connect(tmp_path / "t.db") as connection:
        X.to_sql("t", connection, index=False)
    connection.close()
    for name in ("t.jsonl", "t.json", "t.feather", "t.parquet", "t.csv.zip", "t.csv.zst", "t.db"):
        frame, _ = md.read_table(tmp_path / name)
        assert frame.shape == (200, 5), name
        assert frame.schema["when"].is_temporal(), name
        assert frame["age"].null_count() == X["age"].isna().sum(), name


def test_great_tables_shows_predictions(clf, people):
    import great_tables as gt

    X, y = people
    shown = X.head(3).assign(prediction=clf(data="auto").fit(X, y).predict(X.head(3)))
    assert "prediction" in gt.GT(shown).as_raw_html()


def test_statsmodels_beside_ours(reg, diabetes):
    import statsmodels.api as sm

    X, y = diabetes
    residuals = y - reg(max_iter=20).fit(X, y).predict(X)
    assert sm.stats.durbin_watson(residuals) > 0


def test_a_stream_of_bytes_in_memory(people):
    X, _ = people
    assert md.read_table(io.BytesIO(X.to_csv(index=False).encode()))[0].shape == (200, 4)
