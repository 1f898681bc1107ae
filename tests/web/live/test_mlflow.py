"""Models in a real MLflow and in skops."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import mlflow
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from skops.io.exceptions import UntrustedTypesFoundException

import madaline as md
from madaline.ship import mlflow as flavour
from madaline.ship.skops import trusted_types
from ship.estimator_cases import MAKERS, fitted
from web.served import FEATURES, answers, model, rows, table

pytestmark = pytest.mark.filterwarnings("ignore")  # those of MLflow

FRAME = pd.DataFrame(table().select(FEATURES).to_dicts())


@pytest.fixture
def tracking(tmp_path, monkeypatch):
    """A place for runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")


def test_a_saved_model_predicts_in_mlflow(tmp_path):
    for target in ("price", "kind"):
        flavour.save_model(model(target), tmp_path / target)
        found = mlflow.pyfunc.load_model(str(tmp_path / target)).predict(FRAME)
        assert (np.asarray(found) == model(target).predict(FRAME)).all()
    assert not [file for file in tmp_path.rglob("*") if file.suffix in (".pkl", ".pickle", ".joblib")]


def test_probabilities_and_intervals_are_parameters(tmp_path):
    flavour.save_model(model("kind"), tmp_path / "kind")
    found = mlflow.pyfunc.load_model(str(tmp_path / "kind")).predict(FRAME, params={"proba": True})
    np.testing.assert_array_equal(found.iloc[:, 1:].to_numpy(), model("kind").predict_proba(FRAME))
    flavour.save_model(model("price"), tmp_path / "price")
    found = mlflow.pyfunc.load_model(str(tmp_path / "price")).predict(FRAME, params={"interval": 0.8})
    np.testing.assert_array_equal(found["predicted price low"], model("price").predict_interval(FRAME, 0.8)[0])


def test_a_logged_and_registered_model_gives_the_estimator_back(tracking):
    with mlflow.start_run():
        flavour.log_model(model("price"), registered_model_name="prices", input_example=FRAME.head(2))
    found = flavour.load_model("models:/prices/1")
    assert type(found) is md.MLPRegressor
    np.testing.assert_array_equal(found.predict(FRAME), model("price").predict(FRAME))


def test_the_parameters_and_the_history_of_a_training_are_logged(tracking):
    with mlflow.start_run() as run:
        flavour.log_training(model("price"))
    found = mlflow.get_run(run.info.run_id).data
    assert found.params["hidden_layer_sizes"] == "(6,)"
    assert found.metrics["loss"] == pytest.approx(model("price").history_["loss"][-1])
    logged = mlflow.MlflowClient().get_metric_history(run.info.run_id, "loss")
    assert [each.step for each in logged] == list(model("price").history_["epoch"])


def test_estimators_of_arrays_predict_in_mlflow(tmp_path):
    case = fitted("classifier of three")
    flavour.save_model(case.estimator, tmp_path / "model")
    found = mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(np.asarray(case.rows))
    assert (found == case.estimator.predict(case.rows)).all()


def test_mlflow_serves_the_model_with_the_answers_of_our_server(tmp_path):
    flavour.save_model(model("price"), tmp_path / "price")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(tmp_path / "price")]
    environment = {
        **os.environ,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    with subprocess.Popen(
        [*command, "--env-manager", "local", "-p", str(port), "-h", "127.0.0.1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env=environment,
    ) as process:  # fmt: skip
        try:
            body = json.dumps({"dataframe_records": rows(3)}).encode()
            request = Request(f"http://127.0.0.1:{port}/invocations", body, {"Content-Type": "application/json"})
            deadline = time.monotonic() + 240
            while True:
                try:
                    found = json.loads(urlopen(request, timeout=120).read())
                    break
                except URLError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.5)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
    assert found["predictions"] == pytest.approx(answers("price", rows(3)), rel=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_skops_loads_every_estimator(name, tmp_path):
    case = fitted(name)
    data = skops.io.dumps(case.estimator)
    types = trusted_types(data)
    assert types == trusted_types(case.estimator) == skops.io.get_untrusted_types(data=data)
    found = skops.io.loads(data, trusted=types)
    np.testing.assert_array_equal(found.predict(case.rows), case.estimator.predict(case.rows))
    skops.io.dump(case.estimator, tmp_path / "model.skops")
    assert trusted_types(tmp_path / "model.skops") == types


def test_types_of_others_are_not_trusted():
    case = fitted("classifier of three")
    data = skops.io.dumps(make_pipeline(FunctionTransformer(shlex.split), case.estimator))
    types = trusted_types(data)
    assert "shlex.split" in skops.io.get_untrusted_types(data=data)
    assert "shlex.split" not in types
    with pytest.raises(UntrustedTypesFoundException, match=r"shlex\.split"):
        skops.io.loads(data, trusted=types)


def test_mlflow_sklearn_saves_and_loads_pipelines_with_our_estimators(tmp_path):
    case = fitted("classifier of three")
    X = np.asarray(case.rows)
    pipeline = make_pipeline(FunctionTransformer(), case.estimator)
    mlflow.sklearn.save_model(pipeline, tmp_path / "model", skops_trusted_types=trusted_types(pipeline))
    assert (mlflow.sklearn.load_model(str(tmp_path / "model")).predict(X) == pipeline.predict(X)).all()
    assert not [file for file in tmp_path.rglob("*") if file.suffix in (".pkl", ".pickle", ".joblib")]


def test_mlflow_evaluates_models_of_both_flavours(tracking):
    case = fitted("classifier of three")
    X = pd.DataFrame(np.asarray(case.rows)).add_prefix("c")
    y = case.estimator.predict(case.rows)
    pipeline = make_pipeline(FunctionTransformer(), case.estimator)
    with mlflow.start_run():
        logged = [
            flavour.log_model(case.estimator),
            mlflow.sklearn.log_model(pipeline, name="pipeline", skops_trusted_types=trusted_types(pipeline)),
        ]
        for info in logged:
            model_of = mlflow.pyfunc.load_model(info.model_uri)
            found = mlflow.models.evaluate(
                lambda rows, of=model_of: of.predict(rows.to_numpy()),
                X.assign(target=y), targets="target", model_type="classifier",
            )  # fmt: skip
            assert found.metrics["accuracy_score"] == 1.0


def test_mlflow_logs_the_training_of_a_pipeline(tracking):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    mlflow.sklearn.autolog()
    try:
        with mlflow.start_run() as run:
            make_pipeline(FunctionTransformer(), md.MLPClassifier((4,), max_iter=3)).fit(X, y)
    finally:
        mlflow.sklearn.autolog(disable=True)
    found = mlflow.get_run(run.info.run_id).data
    assert "training_accuracy_score" in found.metrics
    assert found.params["mlpclassifier__max_iter"] == "3"


def test_the_example_of_the_page_about_other_tools_runs(tracking):
    page = (Path(__file__).parents[3] / "docs" / "guides" / "other-tools.md").read_text(encoding="utf-8")
    first, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    (section,) = [text for text in sections if text.startswith("MLflow")]
    test = doctest.DocTestParser().get_doctest(f"{first}\n{section}", {}, "MLflow", "other-tools.md", 0)
    runner, printed = doctest.DocTestRunner(), []
    runner.run(test, out=printed.append)
    assert runner.failures == 0, "".join(printed)
