"""Callbacks that log training to TensorBoard and MLflow."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from madaline.errors import MissingPackageError
from madaline.train.events import Callback, TrainingView

LONGEST = 500
"Maximum length of a parameter value in MLflow."


class TensorBoard(Callback):
    """Logs to TensorBoard: the history by epoch, the loss by step, probes by layer.

    Parameters
    ----------
    path : path
        Folder for event files; ``tensorboard --logdir path`` shows it.
    every : int, optional
        Number of steps between logs of the loss.
    """

    def __init__(self, path: str | os.PathLike[str], *, every: int | None = None) -> None:
        self.path, self.every = os.fspath(path), every
        self._module = _import("tensorboard.summary", "tensorboard", "TensorBoard")
        self._writer: Any = None
        self._probes = 0

    def on_fit_start(self, trainer: TrainingView) -> None:
        self._writer, self._probes = self._module.Writer(self.path), 0

    def on_steps(self, trainer: TrainingView, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(f"step/{name}", value, step)

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        for name, value in row.items():
            if name != "epoch":
                self._writer.add_scalar(name, value, int(row["epoch"]))
        probes = trainer.history.probes
        for index in range(self._probes, probes.n_rows):
            sample = probes.row(index)
            step, layer = int(sample.pop("step")), sample.pop("layer")
            for name, value in sample.items():
                if not math.isnan(value):
                    self._writer.add_scalar(f"probe/{layer}/{name}", value, step)
        self._probes = probes.n_rows

    def on_fit_end(self, trainer: TrainingView) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class MLflow(Callback):
    """Log to MLflow: the training settings as parameters, every column of the history as a metric by epoch.

    By default metrics go to the active run (``with mlflow.start_run():``), which stays active. If there is none, each
    fit starts a run of the current experiment and ends it. With ``experiment``, ``run_name`` or ``tracking_uri``, each
    fit creates its own run, whatever run is active.

    Parameters
    ----------
    experiment : str, optional
        Name of the experiment; it is created if it does not exist.
    run_name : str, optional
        Name of the run.
    tracking_uri : str, optional
        Address of the tracking server or folder. By default that of ``mlflow.set_tracking_uri``.

    Attributes
    ----------
    run_id : str
        ID of the last run.

    Notes
    -----
    MLflow does not change logged parameters: in a run with several fits, the parameters are those of the first one.

    ``mlflow.sklearn.autolog()`` records only estimators that ``sklearn.utils.all_estimators()`` lists, which are
    scikit-learn's own. It logs a pipeline or a grid search that contains an estimator of madaline, but not a bare one:
    pass ``callbacks=md.train.MLflow()`` to the estimator.
    """

    def __init__(
        self, experiment: str | None = None, *, run_name: str | None = None, tracking_uri: str | None = None
    ) -> None:
        self._mlflow()
        self.experiment, self.run_name, self.tracking_uri = experiment, run_name, tracking_uri
        self.run_id = ""
        self._client: Any = None
        self._ends: Callable[[str], None] | None = None

    @staticmethod
    def _mlflow() -> Any:
        return _import("mlflow", "mlflow", "MLflow")

    def on_fit_start(self, trainer: TrainingView) -> None:
        self._client = self._mlflow().MlflowClient(self.tracking_uri)
        self.run_id, self._ends = self._run()
        session, recipe = trainer.run, trainer.recipe
        logged = {
            "net": trainer.model.net,
            "loss": recipe.loss,
            "optimizer": recipe.optimizer,
            "schedule": recipe.schedule,
            "batch_size": session.batch_size,
            "seed": session.seed,
            "dtype": trainer.model.network.dtype,
        }
        known = self._client.get_run(self.run_id).data.params
        for name, value in logged.items():
            if name not in known:
                self._client.log_param(self.run_id, name, str(value)[:LONGEST])

    def _run(self) -> tuple[str, Callable[[str], None] | None]:
        """The ID of the run to log to, and the function that ends it; none for the active run."""
        mlflow = self._mlflow()
        if self.experiment is None and self.run_name is None and self.tracking_uri is None:
            active = mlflow.active_run()
            run = mlflow.start_run() if active is None else active
            return run.info.run_id, mlflow.end_run if active is None else None
        name = "Default" if self.experiment is None else self.experiment
        found = self._client.get_experiment_by_name(name)
        number = self._client.create_experiment(name) if found is None else found.experiment_id
        run_id = self._client.create_run(number, run_name=self.run_name).info.run_id
        return run_id, partial(self._client.set_terminated, run_id)

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        for name, value in row.items():
            if name != "epoch":
                self._client.log_metric(self.run_id, name, float(value), step=int(row["epoch"]))

    def on_fit_end(self, trainer: TrainingView) -> None:
        if self._ends is not None:
            ended = {"diverged": "FAILED", "error": "FAILED", "interrupted": "KILLED"}
            self._ends(ended.get(trainer.run.stop_reason, "FINISHED"))
        self._client = self._ends = None


def _import(module: str, package: str, logger: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingPackageError(f"md.train.{logger} needs the package {package}: pip install {package}.") from None
