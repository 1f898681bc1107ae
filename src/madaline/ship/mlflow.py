"""Models in MLflow: saved and logged as madaline's own files, without pickle, and served by MLflow.

``log_model`` and ``save_model`` write a model that MLflow's registry, ``mlflow models serve`` and Spark can use as a
``python_function``; ``load_model`` gives the estimator back.
"""

from __future__ import annotations

import importlib
import math
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madaline import __version__
from madaline.errors import ConfigError, MissingPackageError
from madaline.estimators.tabular.saved_model import SavedModel, load_saved
from madaline.ship.fields import fields_of

__all__ = ["load_model", "log_model", "log_training", "save_model", "signature_of"]

FILE = "model.madaline"
"Name of the model file inside of an MLflow model."
MOST_METRICS, MOST_TEXT = 1000, 500
"Limits of MLflow: metrics in one call, and characters of a parameter."


def save_model(estimator: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a fitted estimator as an MLflow model.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    path : path
        Folder, which must not exist.
    **options
        Arguments of ``mlflow.pyfunc.save_model``, such as ``input_example`` and ``metadata``. By default the signature
        is :func:`signature_of` and the requirement is this version of madaline.
    """
    with tempfile.TemporaryDirectory() as folder:
        _mlflow("pyfunc").save_model(path=os.fspath(path), **_arguments(estimator, folder, options))


def log_model(estimator: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted estimator to the active MLflow run, or to a new one; returns MLflow's description of the model.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    name : str
        Name of the model.
    **options
        Arguments of ``mlflow.pyfunc.log_model``, such as ``registered_model_name`` and ``input_example``.
    """
    with tempfile.TemporaryDirectory() as folder:
        return _mlflow("pyfunc").log_model(name=name, **_arguments(estimator, folder, options))


def log_training(estimator: Any) -> None:
    """Log the parameters of a fitted estimator and the history of its training to the active MLflow run.

    ``mlflow.sklearn.autolog`` does this only for estimators of scikit-learn, such as a pipeline that ends in an
    estimator of madaline. If there is no active run, a new one is started.

    Parameters
    ----------
    estimator : estimator
        Fitted. Estimators without epochs have parameters only.
    """
    entities, fluent = _mlflow("entities"), _mlflow("tracking.fluent")
    run = fluent.active_run() or fluent.start_run()
    params = {name: str(value)[:MOST_TEXT] for name, value in estimator.get_params(deep=False).items()}
    now = int(1000 * time.time())
    course = dict(getattr(estimator, "history_", {}).items())
    steps = course.pop("epoch", [])
    metrics = [
        entities.Metric(name, float(value), now, int(step))
        for name, values in course.items()
        for step, value in zip(steps, values, strict=True)
        if value is not None and math.isfinite(value)
    ]
    client = _mlflow("tracking").MlflowClient()
    client.log_batch(run.info.run_id, params=[entities.Param(name, value) for name, value in params.items()])
    for start in range(0, len(metrics), MOST_METRICS):
        client.log_batch(run.info.run_id, metrics=metrics[start : start + MOST_METRICS])


def load_model(uri: str) -> Any:
    """The estimator of an MLflow model, for example ``models:/prices/3``. No code of the model is run."""
    folder = Path(_mlflow("artifacts").download_artifacts(artifact_uri=uri))
    files = sorted(folder.rglob(FILE))
    if not files:
        raise ConfigError(f"{uri!r} was not logged by madaline.ship.mlflow: it has no {FILE}.")
    return load_saved(files[0]).estimator


def signature_of(estimator: Any) -> Any:
    """The signature of an estimator: its columns, the prediction, and the parameters ``proba`` and ``interval``."""
    types = _mlflow("types")
    saved = SavedModel(estimator, Path(FILE))
    schema = _mlflow("types.schema")
    if saved.has_names:
        # The plan of the table checks values and names those that are wrong. The types of MLflow would refuse whole
        # numbers in a column of doubles.
        rows = schema.Schema([schema.ColSpec(schema.AnyType(), field.name) for field in fields_of(estimator)])
    else:
        rows = schema.Schema([schema.TensorSpec(np.dtype(np.float64), (-1, int(estimator.n_features_in_)))])
    values = np.asarray(saved.classes)
    kind = "double" if not len(values) else {"i": "long", "u": "long", "b": "boolean"}.get(values.dtype.kind, "string")
    kind = "long" if saved.task == "multilabel" else kind
    outputs = schema.Schema([schema.ColSpec(getattr(types.DataType, kind), name) for name in saved.targets])
    params = schema.ParamSchema(
        [
            schema.ParamSpec("proba", types.DataType.boolean, default=False),
            schema.ParamSpec("interval", types.DataType.double, default=0.0),
        ]
    )
    return _mlflow("models").ModelSignature(inputs=rows, outputs=outputs, params=params)


class PyFunc:
    """A model as MLflow calls it."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved = saved

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Predictions as an array, or as a data frame if there are several columns of them.

        Parameters
        ----------
        model_input : data frame or array
        params : dict, optional
            ``proba``: add the probability of each class. ``interval``: add prediction intervals of this coverage.
        """
        import pandas as pd
        import polars as pl

        saved, given = self._saved, dict(params or {})
        proba, interval = bool(given.get("proba")), float(given.get("interval") or 0.0) or None
        if proba:
            saved.need_probabilities()
        if interval is not None:
            saved.check_interval(interval)
        has_plan = getattr(saved.estimator, "table_plan_", None) is not None
        X = model_input
        if not has_plan and hasattr(X, "columns"):
            X = saved.rows(pl.DataFrame({str(name): X[name].to_numpy() for name in X.columns}))
        columns = saved.predictions(X, len(model_input), proba=proba, interval=interval)
        return next(iter(columns.values())) if len(columns) == 1 else pd.DataFrame(columns)


def _load_pyfunc(path: str) -> PyFunc:
    """What MLflow calls to load a model."""
    given = Path(path)
    return PyFunc(load_saved(given / FILE if given.is_dir() else given))


def _arguments(estimator: Any, folder: str, options: Mapping[str, Any]) -> dict[str, Any]:
    file = Path(folder) / FILE
    estimator.save(file)
    given = dict(options)
    if "signature" not in given:
        given["signature"] = signature_of(estimator)
    if not {"pip_requirements", "extra_pip_requirements", "conda_env"} & given.keys():
        given["pip_requirements"] = [f"madaline[tables]=={__version__}"]
    return {"loader_module": __name__, "data_path": str(file), **given}


def _mlflow(module: str) -> Any:
    try:
        return importlib.import_module(f"mlflow.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mlflow":
            raise
        raise MissingPackageError("madaline.ship.mlflow needs MLflow: pip install mlflow.") from None
