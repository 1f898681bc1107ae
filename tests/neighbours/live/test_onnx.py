"""Pipelines of scikit-learn with our estimators, converted by skl2onnx."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingRegressor, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

import madaline as md
from madaline.ship import skl2onnx as ours

skl2onnx = pytest.importorskip("skl2onnx")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _registered():
    ours.register()


def run(onnx, inputs):
    return onnxruntime.InferenceSession(onnx.SerializeToString()).run(None, inputs)


@pytest.mark.parametrize("names", [None, np.array(["a", "b", "c"])], ids=["numbers", "texts"])
def test_a_classifier_in_a_pipeline(clf, iris, names):
    X, y = iris
    X, y = X.astype(np.float32), y if names is None else names[y]
    model = make_pipeline(StandardScaler(), PCA(3), clf()).fit(X, y)
    label, probabilities = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), {"X": X})
    assert (label == model.predict(X)).all()
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_two_classes_with_a_zipmap(clf, binary):
    X, y = binary
    X = X.astype(np.float32)
    model = make_pipeline(MinMaxScaler(), clf()).fit(X, y)
    label, probabilities = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    assert (label == model.predict(X)).all()
    assert probabilities[0][1] == pytest.approx(model.predict_proba(X)[0, 1], abs=1e-5)


def test_a_regressor_in_a_pipeline(reg, diabetes):
    X, y = diabetes
    X = X.astype(np.float32)
    for target in (y, np.column_stack([y, -y])):
        model = make_pipeline(StandardScaler(), reg()).fit(X, target)
        (found,) = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
        np.testing.assert_allclose(found.reshape(model.predict(X).shape), model.predict(X), rtol=1e-4, atol=1e-3)


def test_inside_of_other_estimators(clf, reg, iris, diabetes):
    X, y = iris
    X = X.astype(np.float32)
    for model in (
        VotingClassifier([("a", clf()), ("b", clf(norm="layer"))], voting="soft", flatten_transform=False),
        CalibratedClassifierCV(clf(), cv=2),
    ):
        model.fit(X, y)
        _, probabilities = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), {"X": X})
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-4)
    X, y = diabetes
    X = X.astype(np.float32)
    for model in (StackingRegressor([("a", reg())], cv=2), MultiOutputRegressor(reg())):
        model.fit(X, y if isinstance(model, StackingRegressor) else np.column_stack([y, -y]))
        (found,) = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
        np.testing.assert_allclose(found.reshape(model.predict(X).shape), model.predict(X), rtol=1e-3, atol=1e-2)


def test_quantiles_means_and_classical_units(diabetes, binary):
    X, y = diabetes
    X = X.astype(np.float32)
    for kind in (md.QuantileMLPRegressor, md.GaussianMLPRegressor, md.MixtureDensityRegressor):
        model = make_pipeline(StandardScaler(), kind(hidden_layer_sizes=(8,), max_iter=20, random_state=0)).fit(X, y)
        found = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})[0]
        np.testing.assert_allclose(found.reshape(model.predict(X).shape), model.predict(X), rtol=1e-3, atol=1e-2)
    X, y = binary
    X = X.astype(np.float32)
    model = make_pipeline(StandardScaler(), md.classical.Perceptron()).fit(X, y)
    assert (run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), {"X": X})[0] == model.predict(X)).all()


def test_columns_of_texts_and_numbers(clf, people):
    X, y = people
    X = X[["age", "fare", "city"]]
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "fare"]),
        (OneHotEncoder(handle_unknown="ignore"), ["city"]),
    )
    model = make_pipeline(columns, clf()).fit(X, y)
    inputs = {name: X[[name]].to_numpy(np.float32 if name != "city" else object) for name in X.columns}
    label, probabilities = run(
        skl2onnx.to_onnx(model, X[:1].astype({"age": np.float32, "fare": np.float32}), options={"zipmap": False}),
        inputs,
    )
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-4)
    assert (label == model.predict(X)).mean() > 0.99


def test_md_export_takes_a_pipeline(clf, reg, people, diabetes, tmp_path):
    X, y = people
    X = X[["age", "fare", "city"]]
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "fare"]), (OrdinalEncoder(), ["city"])
    )
    model = make_pipeline(columns, clf()).fit(X, y)
    md.export(model, tmp_path / "people.onnx", to="onnx")
    inputs = {name: X[[name]].to_numpy(np.float32 if name != "city" else object) for name in X.columns}
    _, probabilities = onnxruntime.InferenceSession(tmp_path / "people.onnx").run(None, inputs)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-4)
    X, y = diabetes
    model = make_pipeline(StandardScaler(), reg()).fit(X, y)
    md.export(model, tmp_path / "diabetes.onnx", to="onnx")
    (found,) = onnxruntime.InferenceSession(tmp_path / "diabetes.onnx").run(None, {"X": X.astype(np.float32)})
    np.testing.assert_allclose(found.ravel(), model.predict(X), rtol=1e-4, atol=1e-3)
