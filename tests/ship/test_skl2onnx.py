"""Pipelines of scikit-learn with our estimators become ONNX files; tests/neighbours has more of them."""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import madaline as md
from madaline.errors import ConfigError, ExportError, MissingPackageError

pytestmark = pytest.mark.filterwarnings("ignore")  # those of skl2onnx
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)).astype(np.float32)
CLASS = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]


def run(path, inputs):
    return onnxruntime.InferenceSession(path).run(None, inputs)


def test_a_pipeline_is_exported_with_its_steps(tmp_path):
    model = make_pipeline(StandardScaler(), md.MLPClassifier((4,), max_iter=5, random_state=0)).fit(X, CLASS)
    (path,) = md.export(model, tmp_path / "model.onnx", to="onnx")
    label, probabilities = run(path, {"X": X})
    assert (label == model.predict(X)).all()
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_columns_chosen_by_name_are_inputs_of_numbers_and_texts(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"a": X[:, 0], "city": np.array(["Rome", "Oslo"])[(X[:, 1] > 0).astype(int)]})
    columns = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["city"]))
    net = md.MLPRegressor(hidden_layer_sizes=(4,), max_iter=5, random_state=0)
    model = make_pipeline(columns, net).fit(table, X[:, 2])
    (path,) = md.export(model, tmp_path / "model.onnx", to="onnx", dtype="float64")
    (found,) = run(path, {"a": table[["a"]].to_numpy(np.float64), "city": table[["city"]].to_numpy(object)})
    np.testing.assert_allclose(found[:, 0], model.predict(table), atol=1e-5)


def test_what_cannot_be_converted_is_one_sentence(tmp_path, monkeypatch):
    unfitted = make_pipeline(StandardScaler(), md.MLPClassifier())
    with pytest.raises(ConfigError, match="export needs a fitted Pipeline: call fit first"):
        md.export(unfitted, tmp_path / "model.onnx", to="onnx")

    class Odd(StandardScaler):
        pass

    model = make_pipeline(Odd(), md.MLPClassifier((4,), max_iter=5)).fit(X, CLASS)
    with pytest.raises(ExportError, match=r"skl2onnx cannot convert this Pipeline: .*Odd"):
        md.export(model, tmp_path / "model.onnx", to="onnx")
    with pytest.raises(TypeError, match=r"Pipeline.*to='onnx'"):
        md.export(model, tmp_path / "model.c", to="c")
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(MissingPackageError, match="pip install skl2onnx"):
        md.export(model, tmp_path / "model.onnx", to="onnx")
    assert not list(tmp_path.iterdir())
