"""What is written for TensorBoard and MLflow; stand-ins are used where the packages are not installed."""

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


class Run:
    """An MLflow run: its parameters, metrics and status."""

    def __init__(self, run_id, experiment, name=None, params=()):
        self.info = types.SimpleNamespace(run_id=run_id)
        self.data = types.SimpleNamespace(params=dict(params))
        self.experiment, self.name, self.metrics, self.ended = experiment, name, [], None


class Tracker:
    """The part of the mlflow module that md.train.MLflow uses; as in MLflow, a parameter cannot change its value."""

    def __init__(self):
        self.runs, self.active, self.uris = {}, None, []

    def module(self):
        mlflow = types.ModuleType("mlflow")
        mlflow.MlflowClient = self.client
        mlflow.active_run = lambda: self.active
        mlflow.start_run, mlflow.end_run = self.start_run, self.end_run
        return mlflow

    def client(self, tracking_uri=None):
        self.uris.append(tracking_uri)
        return self

    def start_run(self, run_name=None):
        assert self.active is None, "there is an active run already"
        self.active = self.create_run("current", run_name=run_name)
        return self.active

    def end_run(self, status="FINISHED"):
        self.active.ended, self.active = status, None

    def get_run(self, run_id):
        return self.runs[run_id]

    def get_experiment_by_name(self, name):
        return None

    def create_experiment(self, name):
        return f"id of {name}"

    def create_run(self, experiment, run_name=None):
        run = Run(f"r{len(self.runs)}", experiment, run_name)
        self.runs[run.info.run_id] = run
        return run

    def log_param(self, run_id, name, value):
        params = self.runs[run_id].data.params
        if params.setdefault(name, value) != value:
            raise RuntimeError(f"{name} is logged already with another value")

    def log_metric(self, run_id, name, value, step):
        self.runs[run_id].metrics.append((name, value, step))

    def set_terminated(self, run_id, status):
        self.runs[run_id].ended = status


@pytest.fixture
def packages(monkeypatch):
    summary = types.ModuleType("tensorboard.summary")
    summary.Writer = Writer
    tracker = Tracker()
    monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "tensorboard.summary", summary)
    monkeypatch.setitem(sys.modules, "mlflow", tracker.module())
    return tracker


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


def losses(run):
    return [(value, step) for name, value, step in run.metrics if name == "loss"]


def test_mlflow_gets_the_recipe_and_every_column(packages, digits):
    logger = md.train.MLflow("mine", run_name="first", tracking_uri="here")
    history = md.Trainer(NET, loss="cross_entropy", seed=7).fit(*digits, epochs=2, callbacks=logger)
    assert packages.uris == ["here"]
    run = packages.runs[logger.run_id]
    assert (run.experiment, run.name) == ("id of mine", "first")
    assert run.data.params["seed"] == "7"
    assert "Adam" in run.data.params["optimizer"]
    assert losses(run) == list(zip(history["loss"].tolist(), (1, 2), strict=True))
    assert run.ended == "FINISHED"


@pytest.mark.parametrize("arguments", [(), ("mine",)], ids=["current experiment", "own experiment"])
def test_mlflow_marks_a_run_that_failed(packages, digits, arguments):
    logger = md.train.MLflow(*arguments)
    with pytest.raises(DivergenceError):
        md.Trainer(md.mlp(8, 64), optimizer=md.SGD(1e30)).fit(digits[0], epochs=2, callbacks=logger)
    assert packages.runs[logger.run_id].ended == "FAILED"
    with pytest.raises(ZeroDivisionError):
        md.Trainer(md.mlp(8, 64)).fit(digits[0], epochs=2, callbacks=[logger, lambda trainer, row: 1 / 0])
    assert packages.runs[logger.run_id].ended == "FAILED"
    assert packages.active is None
    assert len(packages.runs) == 2


def test_mlflow_logs_to_the_active_run_and_leaves_it_active(packages, digits):
    run = packages.start_run("mine")
    run.data.params["seed"] = "of the user"
    logger = md.train.MLflow()
    for seed in (1, 2):  # a second fit has other parameters, which MLflow does not let replace the first ones
        history = md.Trainer(NET, loss="cross_entropy", seed=seed).fit(*digits, epochs=2, callbacks=logger)
        assert losses(run)[-2:] == list(zip(history["loss"].tolist(), (1, 2), strict=True))
    assert logger.run_id == run.info.run_id
    assert len(packages.runs) == 1
    assert run.data.params["seed"] == "of the user"
    assert "Adam" in run.data.params["optimizer"]
    assert packages.active is run
    assert run.ended is None


def test_mlflow_starts_a_run_of_the_current_experiment_for_each_fit(packages, digits):
    logger = md.train.MLflow()
    for _ in range(2):
        md.Trainer(NET, loss="cross_entropy").fit(*digits, epochs=1, callbacks=logger)
    assert [(run.experiment, run.ended) for run in packages.runs.values()] == [("current", "FINISHED")] * 2
    assert packages.active is None


def test_mlflow_with_a_name_of_its_own_leaves_the_active_run_alone(packages, digits):
    active = packages.start_run()
    logger = md.train.MLflow("mine")
    md.Trainer(NET, loss="cross_entropy").fit(*digits, epochs=1, callbacks=logger)
    assert packages.runs[logger.run_id].ended == "FINISHED"
    assert (active.metrics, active.ended, packages.active) == ([], None, active)


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


def test_mlflow_itself_has_an_active_run_that_is_used(digits, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"file:{tmp_path / 'runs'}")  # MLflow creates its default experiment in a new folder
    try:
        with mlflow.start_run() as run:
            for seed in (1, 2):
                md.Trainer(NET, loss="cross_entropy", seed=seed).fit(*digits, epochs=2, callbacks=md.train.MLflow())
            assert mlflow.active_run().info.run_id == run.info.run_id
        own = md.train.MLflow()
        md.Trainer(NET, loss="cross_entropy").fit(*digits, epochs=1, callbacks=own)
        found = mlflow.MlflowClient().get_metric_history(run.info.run_id, "loss")
        assert [metric.step for metric in found] == [1, 2, 1, 2]
        assert mlflow.get_run(own.run_id).info.status == "FINISHED"
        assert own.run_id != run.info.run_id
        assert mlflow.active_run() is None
    finally:
        mlflow.set_tracking_uri(before)
