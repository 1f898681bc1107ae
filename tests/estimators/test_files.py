"""Estimators that travel: files of madaline's, pickles, clones."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification

import madaline as md
from madaline import container
from madaline.data.reading.format import TableFormat
from madaline.errors import ConfigError, FileFormatError, MadalineWarning
from madaline.estimators.provenance import Provenance

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

IRIS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]
LABELS = make_multilabel_classification(n_samples=60, random_state=0)
DIABETES = load_diabetes(return_X_y=True)
TABLE = {"a": [1.0, 2.0, None, 4.0] * 10, "b": ["x", "y", "x", None] * 10, "c": [f"k{i % 12}" for i in range(40)]}


def kinked(x):
    return np.maximum(x, 0.1 * x)


def off(z, y):
    return np.mean(np.abs(z - y[:, None]) ** 1.5, axis=1)


def surprise(z, k):
    return md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, k[:, None], axis=1)[:, 0]


FITTED = {
    "classes": lambda: md.MLPClassifier(8, max_iter=5, random_state=0).fit(*IRIS),
    "names as objects": lambda: md.MLPClassifier(8, max_iter=5, random_state=0).fit(IRIS[0], NAMES.astype(object)),
    "two names": lambda: md.MLPClassifier(8, max_iter=5, random_state=0).fit(IRIS[0][:100], NAMES[:100]),
    "labels": lambda: md.MLPClassifier(8, max_iter=5, random_state=0).fit(*LABELS),
    "sparse labels": lambda: md.MLPClassifier(8, max_iter=5, random_state=0).fit(LABELS[0], csr_matrix(LABELS[1])),
    "several": lambda: md.MLPClassifier(8, max_iter=5, random_state=0).fit(IRIS[0], np.stack([NAMES, NAMES], axis=1)),
    "early stopping": lambda: md.MLPClassifier(8, max_iter=5, early_stopping=True, random_state=0).fit(*IRIS),
    "hinge": lambda: md.MLPClassifier(8, max_iter=5, random_state=0, loss="hinge").fit(*IRIS),
    "own loss": lambda: md.MLPClassifier(8, max_iter=5, random_state=0, loss=surprise).fit(*IRIS),
    "own formulas": lambda: md.MLPRegressor(off, (8, 8), (kinked, "mish"), max_iter=5, random_state=0).fit(*DIABETES),
    "descriptions": lambda: md.MLPRegressor(
        md.Huber(delta=2.0),
        [8],
        md.nn.PReLU(),
        optimizer=md.AdamW(1e-2),
        schedule=md.optim.schedules.LinearWarmup(5) * md.optim.schedules.Cosine(),
        norm="batch",
        average=md.optim.EMA(0.9),
        regularizer=[md.optim.L1(1e-3), "l2"],
        dtype=np.float32,
        max_iter=5,
        random_state=0,
    ).fit(*DIABETES),
    "several numbers": lambda: md.MLPRegressor("poisson", 8, max_iter=5).fit(
        DIABETES[0], np.stack([DIABETES[1]] * 2, axis=1)
    ),
    "a table": lambda: md.MLPRegressor(data="auto", max_iter=5, random_state=0).fit(TABLE, np.arange(40.0)),
    "a preset": lambda: md.MLPClassifier(preset="auto", max_iter=5, random_state=0).fit(TABLE, ["p", "q"] * 20),
}
each = pytest.mark.parametrize("name", FITTED)


def same(one, other):
    return (one != other).nnz == 0 if hasattr(one, "nnz") else np.array_equal(one, other)


def assert_alike(estimator, again):
    rows = TABLE if hasattr(estimator, "table_plan_") else np.ones((3, estimator.n_features_in_))
    assert type(again) is type(estimator)
    assert same(estimator.predict(rows), again.predict(rows))
    if hasattr(estimator, "predict_proba"):
        one, other = estimator.predict_proba(rows), again.predict_proba(rows)
        assert all(map(np.array_equal, one, other))
    for attribute in ("loss_curve_", "validation_scores_", "n_iter_", "n_outputs_", "out_activation_", "t_"):
        assert getattr(estimator, attribute) == getattr(again, attribute)
    assert estimator.history_.to_dict() == again.history_.to_dict()


@each
def test_an_estimator_comes_back_from_a_file(name, tmp_path):
    estimator = FITTED[name]()
    md.save(estimator, tmp_path / "model.madaline")
    again = md.load(tmp_path / "model.madaline")
    assert_alike(estimator, again)
    assert repr(again.get_params()["hidden_layer_sizes"]) == repr(estimator.hidden_layer_sizes)


@each
def test_an_estimator_comes_back_from_a_pickle(name, tmp_path):
    estimator = FITTED[name]()
    assert_alike(estimator, pickle.loads(pickle.dumps(estimator)))
    joblib.dump(estimator, tmp_path / "model.joblib")
    assert_alike(estimator, joblib.load(tmp_path / "model.joblib"))


@each
def test_a_clone_has_the_parameters_and_nothing_learned(name):
    estimator = FITTED[name]()
    copy = clone(estimator)
    assert not hasattr(copy, "model_")
    assert copy.get_params().keys() == estimator.get_params().keys()


def test_training_goes_on_from_a_file_and_from_a_pickle(tmp_path):
    X, y = IRIS
    clf = md.MLPClassifier(8, max_iter=5, random_state=0).fit(X, y)
    md.save(clf, tmp_path / "model.madaline")
    from_file, from_pickle = md.load(tmp_path / "model.madaline"), pickle.loads(pickle.dumps(clf))
    for model in (clf, from_file, from_pickle):
        model.partial_fit(X, y)
    assert np.array_equal(clf.coefs_[0], from_pickle.coefs_[0])
    assert not np.array_equal(clf.coefs_[0], from_file.coefs_[0])  # by a fresh optimizer
    assert from_file.loss_curve_[:-1] == clf.loss_curve_[:-1]


def test_what_no_file_can_hold_is_left_out_and_named(tmp_path):
    X = IRIS[0]
    clf = md.MLPClassifier(
        8, max_iter=2, callbacks=lambda trainer, row: None, validation=(X, NAMES), random_state=np.random.RandomState(0)
    )
    clf.fit(X, NAMES)
    with pytest.warns(MadalineWarning, match=r"does not hold callbacks, random_state, validation: "):
        md.save(clf, tmp_path / "model.madaline")
    again = md.load(tmp_path / "model.madaline")
    assert again.callbacks is again.random_state is again.validation is None
    assert_alike(clf, again)


WITHOUT_A_NET = {
    "perceptron": lambda: md.classical.Perceptron(max_iter=20).fit(IRIS[0][:100], NAMES[:100]),
    "adaline": lambda: md.classical.Adaline(max_iter=20, random_state=0).fit(*IRIS),
    "madaline": lambda: md.classical.Madaline(max_iter=5, random_state=0).fit(*IRIS),
    "threshold unit": lambda: md.classical.ThresholdLogicUnit([1.0, 2.0, -1.0, 0.5], 0.1).fit(
        IRIS[0][:100], IRIS[1][:100]
    ),
    "scaler": lambda: md.data.ColumnScaler("robust", clip=True).fit(IRIS[0]),
    "pca": lambda: md.data.PCA(2, whiten=True).fit(IRIS[0]),
    "zca": lambda: md.data.ZCA().fit(IRIS[0]),
    "images": lambda: md.data.ImageScaler("image", "image").fit(IRIS[0].reshape(-1, 2, 2, 1)),
}


@pytest.mark.parametrize("name", WITHOUT_A_NET)
def test_units_and_transformers_come_back_from_a_file_too(name, tmp_path):
    fitted = WITHOUT_A_NET[name]()
    md.save(fitted, tmp_path / "it.madaline")
    again = md.load(tmp_path / "it.madaline")
    assert type(again) is type(fitted)
    assert repr(again.get_params()) == repr(fitted.get_params())
    X = IRIS[0].reshape(-1, 2, 2, 1) if name == "images" else IRIS[0]
    method = "predict" if hasattr(fitted, "predict") else "transform"
    assert np.array_equal(getattr(again, method)(X), getattr(fitted, method)(X))


def test_an_adaline_learns_on_from_a_file_as_it_would_have(tmp_path):
    X, y = IRIS
    fitted = md.classical.Adaline().partial_fit(X[50:], y[50:], classes=[0, 1, 2])
    fitted.save(tmp_path / "it.madaline")
    again = md.load(tmp_path / "it.madaline").partial_fit(X[:50] / 10.0, y[:50])
    np.testing.assert_allclose(again.coef_, fitted.partial_fit(X[:50] / 10.0, y[:50]).coef_, rtol=1e-12)


def test_a_place_that_is_none_is_refused_in_one_sentence(tmp_path):
    fitted = FITTED["classes"]()
    with pytest.raises(FileNotFoundError, match=r"There is no folder '.*nowhere' to write 'it.madaline' to"):
        fitted.save(tmp_path / "nowhere" / "it.madaline")
    with pytest.raises(IsADirectoryError, match=r"is a folder. Give the name of a file in it"):
        fitted.save(tmp_path)


def test_an_estimator_must_be_fitted_to_be_saved(tmp_path):
    with pytest.raises(ConfigError, match="needs a fitted estimator"):
        md.save(md.MLPClassifier(), tmp_path / "model.madaline")
    with pytest.raises(TypeError, match="or a fitted estimator"):
        md.save(3, tmp_path / "model.madaline")


def changed(path, change):
    """Change the document and the arrays of a file."""
    arrays, document = container.read(path, kind="estimator")
    change(document, arrays)
    container.write(path, arrays, document)


DAMAGE = {
    "another class": lambda d: d.update({"class": "Trainer"}),
    "no class of ours": lambda d: d.update({"class": "os.system"}),
    "a method": lambda d: d["learned"].update({"__class__": 3}),
    "no learned thing": lambda d: d["learned"].update({"fit": 3}),
    "no target": lambda d: d["learned"].pop("class_encoding_"),
    "no history": lambda d: d.pop("history"),
    "a parameter too many kinds": lambda d: d["parameters"].update({"alpha": {"list": [], "dict": []}}),
    "an unknown kind": lambda d: d["parameters"].update({"alpha": {"code": "1"}}),
    "a bare list": lambda d: d["parameters"].update({"alpha": [1]}),
    "other classes": lambda d: d["learned"].update({"classes_": {"texts": ["a", "b", "c"]}}),
    "fewer classes": lambda d: d["learned"]["class_encoding_"]["classes"].update({"classes": {"texts": ["a", "b"]}}),
    "a target of another kind": lambda d: d["learned"]["class_encoding_"]["classes"].update({"kind": "ranks"}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_changed_file_is_refused(name, tmp_path):
    path = tmp_path / "model.madaline"
    md.save(FITTED["classes"](), path)
    changed(path, lambda document, arrays: DAMAGE[name](document))
    with pytest.raises(FileFormatError):
        md.load(path)


def no_mark(**values):
    return {"description": values}


def damaged(part, value):
    """A change of one entry of what was learned."""
    return lambda d: d["learned"].update({part: value})


DAMAGE_OF_A_TABLE = {
    "a plan without columns": damaged("table_plan_", no_mark(kind="table plan")),
    "a plan that is a number": damaged("table_plan_", 3),
    "a plan that is a layer": damaged("table_plan_", no_mark(kind="layer", name="linear", n_out=3)),
    "no plan": lambda d: d["learned"].pop("table_plan_"),
    "names that are a number": damaged("target_names_", 3),
    "too many names": damaged("target_names_", {"tuple": ["a", "b", "c"]}),
    "a loss of another program": lambda d: d["parameters"].update(loss=no_mark(kind="loss", name="os.system")),
    "a loss that is a layer": lambda d: d["parameters"].update(loss=no_mark(kind="layer", name="linear", n_out=3)),
    "a decimal sign that is none": lambda d: d["provenance"]["reading"].update(decimal="!"),
    "reading that is a list": lambda d: d["provenance"].update(reading=[1]),
    "training that is a text": lambda d: d["provenance"].update(about="me"),
    "no intervals": damaged("_intervals", {"intervals": {}}),
    "intervals that are a text": damaged("_intervals", "wild"),
    "bounds that are a text": damaged("_bounds", "wild"),
    "one bound": damaged("_bounds", {"tuple": [1.0]}),
    "a scale of three": damaged("target_scaling_", {"tuple": [1.0, 2.0, 3.0]}),
    "a scale of texts": damaged("target_scaling_", {"tuple": ["a", "b"]}),
    "a scale of zero": damaged("target_scaling_", {"tuple": [0.0, 0.0]}),
    "a target of nothing": damaged("target_spec_", {"target": {"width": 0}}),
    "a target that is a number": damaged("target_spec_", 1),
    "a wide net": lambda d: d.update(net={"kind": "layer", "name": "linear", "n_out": 2**62}),
    "a net of two outputs": damaged("target_spec_", {"target": {"width": 2}}),
    "another format": lambda d: d.update(format=99),
    "parameters that are a list": lambda d: d.update(parameters=[1]),
    "a learning curve that is a text": lambda d: d["history"]["epochs"].update(loss="falling"),
}


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    """A regressor of a table, with prediction intervals and a provenance, and its file."""
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=3, random_state=0)
    reg.fit(pd.DataFrame(TABLE), pd.Series(np.arange(40.0) * 1000.0, name="price"))
    reg.provenance_ = Provenance(TableFormat(decimal=","), {"note": "a test"})
    path = tmp_path_factory.mktemp("files") / "prices.madaline"
    md.save(reg, path)
    return reg, path


def test_a_file_has_everything_that_predictions_need(prices):
    reg, path = prices
    again = md.load(path)
    np.testing.assert_array_equal(again.predict(TABLE), reg.predict(TABLE))
    np.testing.assert_array_equal(again.predict_interval(TABLE, 0.8), reg.predict_interval(TABLE, 0.8))
    assert again.provenance_ == reg.provenance_
    assert again.target_names_ == ("price",)
    assert again.resolved_params_.keys() == reg.resolved_params_.keys()
    assert again.resolved_params_["schedule"] == reg.resolved_params_["schedule"]
    assert str(again.table_plan_) == str(reg.table_plan_)


@pytest.mark.parametrize("name", DAMAGE_OF_A_TABLE)
def test_a_part_that_has_no_meaning_is_refused(prices, tmp_path, name):
    path = tmp_path / "model.madaline"
    path.write_bytes(prices[1].read_bytes())
    changed(path, lambda document, arrays: DAMAGE_OF_A_TABLE[name](document))
    with pytest.raises(FileFormatError):
        md.load(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("part", ["params.", "learned._intervals.", "learned.target_scaling_.", "learned._bounds."])
def test_numbers_that_are_not_finite_are_refused(prices, tmp_path, part, value):
    """Every prediction would be NaN, or every interval infinite."""
    path = tmp_path / "model.madaline"
    path.write_bytes(prices[1].read_bytes())

    def change(document, arrays):
        name = next(name for name in arrays if name.startswith(part))
        arrays[name] = np.full_like(arrays[name], value)

    changed(path, change)
    with pytest.raises(FileFormatError, match="not finite"):
        md.load(path)


@settings(max_examples=200)
@given(place=st.floats(0.0, 1.0, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_a_flipped_bit_or_a_cut_anywhere_is_refused(prices, tmp_path_factory, place, bit, cut):
    path = tmp_path_factory.getbasetemp() / "changed.madaline"
    content = bytearray(prices[1].read_bytes())
    where = int(place * len(content))
    content = content[:where] if cut else content
    if not cut:
        content[where] ^= 1 << bit
    path.write_bytes(bytes(content))
    with pytest.raises(FileFormatError, match=r"changed\.madaline"):
        md.load(path)
