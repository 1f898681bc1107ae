"""Callbacks that log to TensorBoard and MLflow."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from typing import Any

from madaline.errors import MissingPackageError
from madaline.train.events import Callback, TrainingView

LONGEST = 500
"Maximum length of a parameter in MLflow."


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
    """Logs an MLflow run: the recipe as parameters, the history as metrics by epoch.

    Parameters
    ----------
    experiment : str, default "madaline"
        Name of the experiment; it is created if it does not exist.
    run_name : str, optional
        Name of the run.
    tracking_uri : str, optional
        Where runs are stored; by default as MLflow is configured.

    Attributes
    ----------
    run_id : str
        Identifier of the last run.
    """

    def __init__(
        self, experiment: str = "madaline", *, run_name: str | None = None, tracking_uri: str | None = None
    ) -> None:
        module = _import("mlflow", "mlflow", "MLflow")
        self.experiment, self.run_name = experiment, run_name
        self.run_id = ""
        self._client: Any = module.MlflowClient(tracking_uri)

    def on_fit_start(self, trainer: TrainingView) -> None:
        found = self._client.get_experiment_by_name(self.experiment)
        number = self._client.create_experiment(self.experiment) if found is None else found.experiment_id
        self.run_id = self._client.create_run(number, run_name=self.run_name).info.run_id
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
        for name, value in logged.items():
            self._client.log_param(self.run_id, name, str(value)[:LONGEST])

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        for name, value in row.items():
            if name != "epoch":
                self._client.log_metric(self.run_id, name, float(value), step=int(row["epoch"]))

    def on_fit_end(self, trainer: TrainingView) -> None:
        if self.run_id:
            ended = {"diverged": "FAILED", "error": "FAILED", "interrupted": "KILLED"}
            self._client.set_terminated(self.run_id, ended.get(trainer.run.stop_reason, "FINISHED"))


def _import(module: str, package: str, who: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingPackageError(f"md.train.{who} needs the package {package}: pip install {package}.") from None
