"""What is written for TensorBoard and MLflow, told to stand-ins where the packages are not installed."""

from __future__ import annotations

import sys
import types
from typing import ClassVar

import numpy as np
import pytest

import madaline as md
from madaline.errors import DivergenceError, MissingPackageError

NET = md.mlp(8, 10)


class Writer:
    """Remembers scalars as TensorBoard's writer is given them."""

    made: ClassVar[list[Writer]] = []

    def __init__(self, path):
        self.path, self.scalars, self.is_closed = path, [], False
        self.made.append(self)

    def add_scalar(self, tag, data, step):
        self.scalars.append((tag, data, step))

    def close(self):
        self.is_closed = True


class Client:
    """Remembers what MLflow's client is told."""

    made: ClassVar[list[Client]] = []

    def __init__(self, tracking_uri=None):
        self.params, self.metrics, self.ended, self.uri = {}, [], None, tracking_uri
        self.made.append(self)

    def get_experiment_by_name(self, name):
        return None

    def create_experiment(self, name):
        return f"id of {name}"

    def create_run(self, experiment, run_name=None):
        assert experiment == "id of mine"
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id="r1"))

    def log_param(self, run_id, name, value):
        self.params[name] = value

    def log_metric(self, run_id, name, value, step):
        assert run_id == "r1"
        self.metrics.append((name, value, step))

    def set_terminated(self, run_id, status):
        self.ended = status


@pytest.fixture
def packages(monkeypatch):
    summary = types.ModuleType("tensorboard.summary")
    summary.Writer = Writer
    mlflow = types.ModuleType("mlflow")
    mlflow.MlflowClient = Client
    monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "tensorboard.summary", summary)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)


def test_tensorboard_gets_every_column_steps_and_probes(packages, digits, tmp_path):
    trainer = md.Trainer(NET, loss="cross_entropy")
    history = trainer.fit(
        *digits,
        epochs=2,
        validation=0.2,
        probes=["0"],
        probe_every=10,
        callbacks=md.train.TensorBoard(tmp_path, every=10),
    )
    writer = Writer.made[-1]
    assert writer.path == str(tmp_path)
    assert writer.is_closed
    for name in ("loss", "val_loss", "learning_rate"):
        found = [(data, step) for tag, data, step in writer.scalars if tag == name]
        assert found == list(zip(history[name].tolist(), (1, 2), strict=True))
    assert [step for tag, _, step in writer.scalars if tag == "step/loss"] == [10, 20, 30, 40]
    probed = [(data, step) for tag, data, step in writer.scalars if tag == "probe/0/gradient_norm"]
    assert probed == list(zip(history.probes["gradient_norm"].tolist(), history.probes["step"].tolist(), strict=True))


def test_mlflow_gets_the_recipe_and_every_column(packages, digits):
    trainer = md.Trainer(NET, loss="cross_entropy", seed=7)
    history = trainer.fit(*digits, epochs=2, callbacks=md.train.MLflow("mine", tracking_uri="here"))
    client = Client.made[-1]
    assert client.uri == "here"
    assert client.params["seed"] == "7"
    assert "Adam" in client.params["optimizer"]
    found = [(value, step) for name, value, step in client.metrics if name == "loss"]
    assert found == list(zip(history["loss"].tolist(), (1, 2), strict=True))
    assert client.ended == "FINISHED"
    bad = md.Trainer(md.mlp(8, 64), optimizer=md.SGD(1e30))
    with pytest.raises(DivergenceError):
        bad.fit(digits[0], epochs=2, callbacks=md.train.MLflow("mine"))
    assert Client.made[-1].ended == "FAILED"
    with pytest.raises(ZeroDivisionError):
        md.Trainer(md.mlp(8, 64)).fit(
            digits[0], epochs=2, callbacks=[md.train.MLflow("mine"), lambda trainer, row: 1 / 0]
        )
    assert Client.made[-1].ended == "FAILED"


def test_a_package_that_is_not_there_is_named(monkeypatch):
    for name in ("tensorboard", "tensorboard.summary", "mlflow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"md.train.TensorBoard needs the package tensorboard: pip install"):
        md.train.TensorBoard("runs")
    with pytest.raises(MissingPackageError, match=r"md.train.MLflow needs the package mlflow"):
        md.train.MLflow()


def test_tensorboard_itself_reads_what_was_written(digits, tmp_path):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    history = md.Trainer(NET, loss="cross_entropy").fit(*digits, epochs=2, callbacks=md.train.TensorBoard(tmp_path))
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    found = [float(event.tensor_proto.float_val[0]) for event in events.Tensors("loss")]
    np.testing.assert_allclose(found, history["loss"], rtol=1e-6)


def test_mlflow_itself_reads_what_was_written(digits, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow")
    logger = md.train.MLflow("mine", tracking_uri=f"file:{tmp_path}")
    history = md.Trainer(NET, loss="cross_entropy").fit(*digits, epochs=2, callbacks=logger)
    client = mlflow.MlflowClient(f"file:{tmp_path}")
    found = client.get_metric_history(logger.run_id, "loss")
    assert [metric.value for metric in found] == history["loss"].tolist()
    assert client.get_run(logger.run_id).info.status == "FINISHED"
