"""Fitted estimators, exported: from raw columns to classes, in every target."""

from __future__ import annotations

import inspect

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor

import madaline as md
from madaline.data.calendar import PARTS, part
from madaline.errors import ConfigError
from madaline.ship.columns import _parts_of
from ship.estimator_cases import MAKERS, fitted, table
from ship.test_numpy_script import run as run_numpy
from ship.test_python_only import run as run_python

onnxruntime.set_default_logger_severity(3)
each = pytest.mark.parametrize("name", MAKERS)


def agree(found, case):
    assert set(found) == set(case.answers)
    for name, answer in case.answers.items():
        ours, theirs = answer, np.asarray(found[name])
        assert theirs.shape == ours.shape
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(ours).max()))
        else:
            np.testing.assert_array_equal(theirs, ours)


def as_fed(column, kind):
    """A column of a data frame as onnxruntime takes it."""
    if column.dtype.kind == "M":
        return ((column - pd.Timestamp(0)) / pd.Timedelta("1D")).to_numpy(float)
    return column.to_numpy(float) if kind == "tensor(double)" else column.fillna("").to_numpy(object)


@pytest.mark.parametrize("name", ["numbers at their bounds", "counts at their bounds"])
def test_there_are_predictions_at_both_bounds(name):
    """So that the tests below see that an exported file has them."""
    found = fitted(name).answers["prediction"]
    low, high = fitted(name).estimator._bounds
    assert (found == low).any() or (found == high).any()


@each
def test_an_onnx_file_takes_the_columns_as_they_are(name, tmp_path):
    case = fitted(name)
    (path,) = md.export(case.estimator, tmp_path / "model.onnx", to="onnx")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    rows, wanted = case.rows, [(port.name, port.type) for port in session.get_inputs()]
    if wanted[0][0] == "x":
        feeds = {"x": np.asarray(rows, dtype=np.float64 if "double" in wanted[0][1] else np.float32)}
    elif isinstance(rows, pd.DataFrame):
        feeds = {column: as_fed(rows[column], kind) for column, kind in wanted}
    else:
        feeds = {column: rows[:, int(column[1:])] for column, _ in wanted}
    outputs = [port.name for port in session.get_outputs()]
    agree(dict(zip(outputs, session.run(None, feeds), strict=True)), case)


@each
def test_a_numpy_file_takes_the_table(name, tmp_path):
    case = fitted(name)
    (path,) = md.export(case.estimator, tmp_path / "model.py", to="python")
    names: dict = {}
    exec(compile(path.read_text(), "model.py", "exec"), names)
    found = names["predict"](case.rows)
    agree(found if isinstance(found, dict) else dict(zip(case.answers, [found], strict=True)), case)


@each
def test_a_python_file_takes_a_row(name, tmp_path):
    case = fitted(name)
    (path,) = md.export(case.estimator, tmp_path / "model.py", to="python-only")
    names: dict = {}
    exec(compile(path.read_text(), "model.py", "exec"), names)
    rows = case.rows
    if isinstance(rows, pd.DataFrame):
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    elif "row" in inspect.signature(names["predict_row"]).parameters:
        rows = [{f"x{k}": value for k, value in enumerate(row)} for row in rows.tolist()]
    else:
        rows = rows.tolist()
    found = [names["predict_row"](row) for row in rows]
    found = [row if isinstance(row, dict) else dict(zip(case.answers, [row], strict=True)) for row in found]
    joined = {key: np.array([row[key] for row in found]) for key in found[0]}
    agree({key: value.reshape(case.answers[key].shape) for key, value in joined.items()}, case)


def test_every_estimator_is_tried():
    tried = {type(fitted(name).estimator).__name__ for name in MAKERS}
    known = {
        name
        for module in (md, md.classical)
        for name in module.__all__
        if isinstance(thing := getattr(module, name), type)
        and issubclass(thing, BaseEstimator)
        and (is_classifier(thing()) or is_regressor(thing()))
    }
    assert known <= tried


def test_a_date_has_the_parts_it_has_in_a_table():
    rng = np.random.default_rng(0)
    t = np.datetime64("1583-01-01", "us") + (rng.uniform(0, 700 * 365.25, 20_000) * 86_400_000_000).astype(np.int64)
    t[:4] = [np.datetime64(day, "us") for day in ("2000-02-29", "1900-03-01", "1600-12-31", "1969-12-31T23:59:59")]
    shares = _parts_of((t - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
    for name in PARTS:
        expected = part(t, name)
        angle = 2.0 * np.pi * shares[name]
        found = np.stack([np.sin(angle), np.cos(angle)], axis=1) if expected.shape[1] == 2 else shares[name][:, None]
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=name)


def test_what_is_no_fitted_estimator_is_refused(tmp_path):
    for thing, message in [
        (md.MLPClassifier(), "an unfitted MLPClassifier"),
        (md.classical.Perceptron(), "this Perceptron is not fitted"),
        ("model.madaline", "was given str"),
        (md.data.ColumnScaler(), "was given ColumnScaler"),
    ]:
        with pytest.raises(TypeError, match=message):
            md.export(thing, tmp_path / "model.c", to="c")


def test_random_nets_at_prediction_cannot_be_exported(tmp_path):
    case = fitted("gaussian")
    estimator = md.GaussianMLPRegressor((4,), max_iter=9, mc_dropout=5, dropout=0.1, tol=1e9, n_iter_no_change=1)
    estimator.fit(case.rows[:20], case.rows[:20, 0])
    with pytest.raises(ConfigError, match=r"mc_dropout=5 .*set_params\(mc_dropout=0\)"):
        md.export(estimator, tmp_path / "model.c", to="c")


def test_missing_values_and_categories_may_be_given_in_many_ways(tmp_path):
    case = fitted("classifier of a table")
    numpy_file = md.export(case.estimator, tmp_path / "a.py", to="python")[0]
    names: dict = {}
    exec(compile(numpy_file.read_text(), "a.py", "exec"), names)
    frame = table(8)
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame}
    columns["built"] = [None if moment is None else np.datetime64(moment, "us") for moment in columns["built"]]
    agree_with = case.estimator.predict_proba(frame)
    np.testing.assert_allclose(names["predict"](columns)["probabilities"], agree_with, atol=1e-6)


@pytest.mark.parametrize("run", [run_numpy, run_python])
def test_both_python_files_are_tried_with_arrays_too(run, tmp_path):
    case = fitted("regressor").exported()
    np.testing.assert_allclose(run(case, tmp_path)[0], case.outputs[0], rtol=1e-5)
